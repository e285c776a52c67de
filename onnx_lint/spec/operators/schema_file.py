# SPDX-License-Identifier: Apache-2.0
"""Schema files, in which users describe the operators of their own domains.

docs/opset-schema.schema.json defines the format, with an example beside it. One file describes one domain. In a type,
an asterisk means every element type: "tensor(*)".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.input.regular_file import read_regular
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES, ELEMENT_TYPES, MAP_KEYS
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.operators.json_value import JsonValue, parse
from onnx_lint.spec.operators.schema import (
    ATTRIBUTE_TYPE_CODES,
    AttributeSchema,
    DefaultValue,
    OperatorSchema,
    Parameter,
    ParameterOption,
    count_range,
)
from onnx_lint.spec.releases import is_onnx_domain

FORMAT: Final = 1
MAX_BYTES: Final = 1 << 24
"""The largest file that is read. The file may come with an untrusted model."""

_FILE_KEYS: Final = ("$schema", "format", "domain", "description", "operators")
_OPERATOR_KEYS: Final = (
    "name",
    "since_version",
    "description",
    "inputs",
    "outputs",
    "attributes",
    "type_constraints",
    "input_counts",
    "output_counts",
    "deprecated",
    "experimental",
    "has_function_body",
)
_PARAMETER_KEYS: Final = ("name", "type", "description", "option", "homogeneous", "min_arity")
_ATTRIBUTE_KEYS: Final = ("name", "type", "description", "required", "default")
_OPTIONS: Final = tuple(option.value for option in ParameterOption)
# Finite numbers of single precision end here.
_GREATEST_FLOAT: Final = (2 - 2**-23) * 2.0**127

_Named = TypeVar("_Named", Parameter, AttributeSchema)


class SchemaFile(Record):
    """The operators of one domain in a schema file, the versions of each in ascending order."""

    path: str
    domain: str
    operators: Mapping[str, tuple[OperatorSchema, ...]]


def operator_schemas(paths: Iterable[str]) -> OperatorSchemas:
    """Return the built-in operators and those in the schema files; a file that has changed is read again.

    Raises the errors of `load_schema_file`, and SchemaFileError if two files describe one operator.
    """
    status = [(path, os.stat(path)) for path in paths]
    return _loaded(tuple([(path, found.st_mtime_ns, found.st_size) for path, found in status])) if status else BUILT_IN


@remembered(8)
def _loaded(stamped: tuple[tuple[str, int, int], ...]) -> OperatorSchemas:
    return OperatorSchemas([load_schema_file(path) for path, _, _ in stamped])


def load_schema_file(path: str | Path) -> SchemaFile:
    """Read a schema file.

    Raises OSError if the file cannot be read, is not a regular file or has more than MAX_BYTES; ValueError for a path
    that no system allows; and SchemaFileError if the file is not JSON or not of the documented form, or describes a
    domain of ONNX itself.
    """
    root = JsonValue(parse(path, read_regular(path, MAX_BYTES)), "", path)
    root.expect_keys(_FILE_KEYS, required=("format", "domain", "operators"))
    if root.get("format", int) != FORMAT:
        root.at("format").fail(f"format {root.data['format']} is not known, only {FORMAT}")
    domain = root.get("domain", str)
    if is_onnx_domain(domain):
        root.at("domain").fail(f"domain '{domain}' belongs to ONNX itself and cannot be redefined")
    operators: dict[str, dict[int, OperatorSchema]] = {}
    for item in root.items("operators"):
        schema = _operator(domain, item)
        versions = operators.setdefault(schema.name, {})
        if schema.since_version in versions:
            item.fail(f"operator '{schema.name}' is described twice for version {schema.since_version}")
        versions[schema.since_version] = schema
    return SchemaFile(
        str(path),
        domain,
        MappingProxyType({name: tuple(found[v] for v in sorted(found)) for name, found in operators.items()}),
    )


def _operator(domain: str, value: JsonValue) -> OperatorSchema:
    value.expect_keys(_OPERATOR_KEYS, required=("name", "since_version"))
    constraints = _type_constraints(value)
    inputs = _parameters(value, "inputs", constraints)
    outputs = _parameters(value, "outputs", constraints)
    unused = constraints.keys() - {parameter.variable for parameter in inputs + outputs}
    if unused:
        value.at("type_constraints").at(min(unused)).fail("no input or output has this type variable")
    min_input, max_input = count_range(inputs)
    min_output, max_output = count_range(outputs)
    attributes = _named(value, "attributes", _attribute)
    return OperatorSchema(
        domain=domain,
        name=value.name(),
        since_version=_at_least(1, value, "since_version"),
        inputs=inputs,
        outputs=outputs,
        attributes=MappingProxyType({attribute.name: attribute for attribute in attributes}),
        type_constraints=MappingProxyType(constraints),
        min_input=min_input,
        max_input=max_input,
        min_output=min_output,
        max_output=max_output,
        input_counts=_counts(value, "input_counts", min_input, max_input),
        output_counts=_counts(value, "output_counts", min_output, max_output),
        deprecated=value.get("deprecated", bool, False),
        experimental=value.get("experimental", bool, False),
        has_function_body=value.get("has_function_body", bool, False),
    )


def _type_constraints(value: JsonValue) -> dict[str, frozenset[str]]:
    if "type_constraints" not in value.data:
        return {}
    constraints = value.at("type_constraints")
    constraints.expect(dict)
    found = {}
    for variable in constraints.data:
        if not variable.isidentifier():
            constraints.fail(f"type variable '{variable}' is not an identifier")
        types = [_types(item, item.expect(str)) for item in constraints.items(variable)]
        if not types:
            constraints.at(variable).fail("the type variable allows no type")
        found[variable] = frozenset[str]().union(*types)
    return found


def _types(value: JsonValue, text: str) -> frozenset[str]:
    """Return the types that a type string means; an asterisk means each element type."""
    types = frozenset(text.replace("*", element) for element in ELEMENT_TYPE_NAMES)
    if not all(map(is_type_string, types)):
        value.fail(f"'{text}' is not a type such as tensor(float), seq(tensor(*)) or map(int64, float)")
    return types


def _parameters(value: JsonValue, key: str, constraints: Mapping[str, frozenset[str]]) -> tuple[Parameter, ...]:
    found = _named(value, key, lambda item: _parameter(item, constraints))
    for item, parameter in zip(value.items(key)[:-1], found, strict=False):
        if parameter.option is ParameterOption.VARIADIC:
            item.fail(f"variadic '{parameter.name}' is not the last of the {key}")
    return tuple(found)


def _parameter(value: JsonValue, constraints: Mapping[str, frozenset[str]]) -> Parameter:
    value.expect_keys(_PARAMETER_KEYS, required=("name", "type"))
    kind = value.get("type", str)
    option = ParameterOption(value.choice("option", _OPTIONS, "single"))
    for key in ("homogeneous", "min_arity"):
        if key in value.data and option is not ParameterOption.VARIADIC:
            value.at(key).fail(f"only a variadic parameter has '{key}', this one is {option.value}")
    if kind not in constraints and kind.isidentifier():
        value.at("type").fail(f"type variable '{kind}' has no entry in 'type_constraints'")
    return Parameter(
        name=value.name(),
        type=kind,
        types=constraints[kind] if kind in constraints else _types(value.at("type"), kind),
        variable=kind if kind in constraints else None,
        option=option,
        homogeneous=value.get("homogeneous", bool, True),
        min_arity=_at_least(0, value, "min_arity"),
    )


def _attribute(value: JsonValue) -> AttributeSchema:
    value.expect_keys(_ATTRIBUTE_KEYS, required=("name", "type"))
    kind = value.choice("type", ATTRIBUTE_TYPE_CODES)
    required = value.get("required", bool, False)
    if required and "default" in value.data:
        value.at("default").fail("a required attribute has no default value")
    default = _default(value.at("default"), kind) if "default" in value.data else None
    return AttributeSchema(value.name(), kind, required, default)


def _int_default(value: JsonValue) -> int:
    number: int = value.expect(int)
    if not -(2**63) <= number < 2**63:
        value.fail(f"{number} does not fit into 64 bits")
    return number


def _float_default(value: JsonValue) -> float:
    number: int | float = value.expect(int, float)
    if not abs(number) <= _GREATEST_FLOAT:
        value.fail("the number does not fit into single precision")
    return float(number)


_DEFAULTS: Final[Mapping[str, Callable[[JsonValue], Any]]] = {
    "FLOAT": _float_default,
    "INT": _int_default,
    "STRING": lambda value: value.expect(str),
}
"""The types of attributes whose values, and lists of them, can be defaults."""


def _default(value: JsonValue, kind: str) -> DefaultValue:
    read = _DEFAULTS.get(kind.removesuffix("S"))
    if read is None:
        value.fail(f"an attribute of type {kind} cannot have a default value")
    default: DefaultValue = tuple(map(read, value.elements())) if kind.endswith("S") else read(value)
    return default


def _counts(value: JsonValue, key: str, least: int, greatest: int) -> frozenset[int] | None:
    if key not in value.data:
        return None
    for item in value.items(key):
        if not least <= item.expect(int) <= greatest:
            item.fail(f"{item.data} is not between {least} and {greatest}, which the parameters allow")
    if not value.data[key]:
        value.at(key).fail("no count is allowed")
    return frozenset(value.data[key])


def _named(value: JsonValue, key: str, build: Callable[[JsonValue], _Named]) -> list[_Named]:
    found: dict[str, _Named] = {}
    for item in value.items(key):
        built = build(item)
        if built.name in found:
            item.fail(f"'{built.name}' occurs twice among the {key}")
        found[built.name] = built
    return list(found.values())


def _at_least(least: int, value: JsonValue, key: str) -> int:
    """Return the number under a key, 1 without it, which must not be less than `least`."""
    number: int = value.get(key, int, 1)
    if number < least:
        value.at(key).fail(f"{number} is less than {least}")
    return number


# --- type strings

_MAP_KEY_TYPES: Final = frozenset([ELEMENT_TYPES[number].name for number in MAP_KEYS])
"""The element types that the keys of a map may have."""

_ELEMENTS: Final = frozenset(ELEMENT_TYPE_NAMES)


def is_type_string(text: str) -> bool:
    """Return whether a text is a type as specifications print it, with one space after a map's comma.

    A map's value is any type, or an element type, which means a tensor of it.
    """
    constructor, parenthesis, rest = text.partition("(")
    if not parenthesis or not rest.endswith(")"):
        return False
    argument = rest[:-1]
    match constructor:
        case "tensor" | "sparse_tensor":
            return argument in _ELEMENTS
        case "seq" | "optional":
            return is_type_string(argument)
        case "map":
            key, comma, value = argument.partition(", ")
            return bool(comma) and key in _MAP_KEY_TYPES and (value in _ELEMENTS or is_type_string(value))
        case _:
            return False
