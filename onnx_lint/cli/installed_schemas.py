# SPDX-License-Identifier: Apache-2.0
"""The command `schema`: writes a schema file from the operators that an installed package defines."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.streams import standard_output
from onnx_lint.reporters.escape import visible
from onnx_lint.spec.operators import SchemaFileError
from onnx_lint.spec.operators.schema_file import parsed_schema_file
from onnx_lint.spec.releases import is_onnx_domain

_RUNTIME: Final = "onnxruntime"
_WITH_DEFAULT: Final = frozenset({"INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"})


@click.command("schema", short_help="Write a schema file from an installed package.")
@click.option("--from", "package", required=True, metavar="MODULE", help="onnxruntime, or a module to import.")
@click.option("--domain", default=None, metavar="DOMAIN", help="The domain, if the package has several.")
def schema_command(package: str, domain: str | None) -> None:
    """Print a schema file (for --opset-schema) with the operators of a domain that an installed package defines.

    MODULE is onnxruntime, or a module that registers operators in onnx.defs or has objects with an op_schema. The
    module is imported, which runs its code.
    """
    try:
        found = [schema for schema in _schemas(package) if not is_onnx_domain(schema.domain)]
    except ImportError as error:
        raise RunError(visible(f"{package} cannot be imported: {error}")) from error
    domains = sorted({schema.domain for schema in found})
    if domain is None and len(domains) == 1:
        [domain] = domains
    if domain not in domains:
        known = f"the domains are {', '.join(domains)}; choose one by --domain" if domains else "it defines none"
        raise RequestError(visible(f"{package} has no operators to write: {known}"))
    # A module may both register an operator and define it by onnxscript.
    own = {(schema.name, schema.since_version): schema for schema in found if schema.domain == domain}
    operators = [_operator(own[key]) for key in sorted(own)]
    text = json.dumps({"format": 1, "domain": domain, "operators": operators}, indent=1) + "\n"
    try:
        parsed_schema_file(package, text.encode())
    except SchemaFileError as error:
        raise RunError(visible(f"a schema file cannot describe {error}")) from error
    with standard_output() as stream:
        stream.write(text)


def _schemas(package: str) -> Iterable[Any]:
    """Return the schemas of ONNX Runtime, or those of `onnx.defs` and onnxscript after the import of a module."""
    module = importlib.import_module(package)
    if package == _RUNTIME:
        state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        return list(state.get_all_operator_schema())
    registered = importlib.import_module("onnx.defs").get_all_schemas_with_history()
    scripted = [getattr(value, "op_schema", None) for value in vars(module).values() if not isinstance(value, type)]
    return [*registered, *(schema for schema in scripted if hasattr(schema, "since_version"))]


def _operator(schema: Any) -> dict[str, Any]:
    inputs = [*_parameters(schema.inputs, schema.min_input)]
    outputs = [*_parameters(schema.outputs, schema.min_output)]
    used = {parameter["type"] for parameter in inputs + outputs}
    constraints = {each.type_param_str: sorted(each.allowed_type_strs) for each in schema.type_constraints}
    return {
        "name": schema.name,
        "since_version": schema.since_version,
        "inputs": inputs,
        "outputs": outputs,
        "attributes": [_attribute(schema.attributes[name]) for name in sorted(schema.attributes)],
        "type_constraints": {name: types for name, types in constraints.items() if name in used},
        "deprecated": schema.deprecated,
    }


def _parameters(parameters: Iterable[Any], least: int) -> Iterator[dict[str, Any]]:
    for index, each in enumerate(parameters):
        # ONNX Runtime spells the members of its own class differently, and lacks the least number of arguments.
        kind = each.type_str if hasattr(each, "type_str") else each.typeStr
        found = {"name": each.name, "type": kind, "option": each.option.name.lower()}
        if found["option"] == "variadic":
            homogeneous = each.is_homogeneous if hasattr(each, "is_homogeneous") else each.isHomogeneous
            found["homogeneous"] = homogeneous
            found["min_arity"] = each.min_arity if hasattr(each, "min_arity") else max(0, least - index)
        yield found


def _attribute(attribute: Any) -> dict[str, Any]:
    kind = attribute.type.name
    found: dict[str, Any] = {"name": attribute.name, "type": kind, "required": attribute.required}
    default: Any = getattr(attribute, "default_value", None)
    if default is not None and default.name and kind in _WITH_DEFAULT and not attribute.required:
        value = importlib.import_module("onnx.helper").get_attribute_value(default)
        found["default"] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, (int, float, str)) else [_plain(each) for each in value]
