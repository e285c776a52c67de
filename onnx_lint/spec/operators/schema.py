# SPDX-License-Identifier: Apache-2.0
"""Operator signatures as data: the allowed forms of a node, in the terms of the operator specification."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record

if TYPE_CHECKING:
    from pathlib import Path

UNLIMITED: Final = 2**31 - 1
"""The upper bound of a count without a bound: the last parameter is variadic."""

LATEST: Final = 2**31
"""In place of the last version of an operator for what still applies."""

ATTRIBUTE_TYPE_CODES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "FLOAT": 1,
        "INT": 2,
        "STRING": 3,
        "TENSOR": 4,
        "GRAPH": 5,
        "FLOATS": 6,
        "INTS": 7,
        "STRINGS": 8,
        "TENSORS": 9,
        "GRAPHS": 10,
        "SPARSE_TENSOR": 11,
        "SPARSE_TENSORS": 12,
        "TYPE_PROTO": 13,
        "TYPE_PROTOS": 14,
    }
)
"""Names and numbers of the enum AttributeProto.AttributeType."""

ATTRIBUTE_TYPE_NAMES: Final[Mapping[int, str]] = MappingProxyType(
    {code: name for name, code in ATTRIBUTE_TYPE_CODES.items()}
)
"""The name of each number of the enum except UNDEFINED."""

DefaultValue = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]
"""A default value of an attribute; the specification has none for tensors, graphs and types."""

IMPLEMENTATION_PREFIX: Final = "__"
"""Consumers and onnx.checker leave attributes whose names begin with this prefix to implementations."""


class ParameterOption(Enum):
    """The number of times that a parameter occurs in the list of inputs or outputs."""

    SINGLE = "single"
    OPTIONAL = "optional"
    VARIADIC = "variadic"


class Parameter(Record):
    """An input or output of an operator.

    `type` is a type variable ("T") or a type ("tensor(int64)"), as the specification prints it. `types` are the types
    that it allows, and `variable` is the type variable or None. The arguments of a variadic parameter have one type if
    it is `homogeneous`; there are at least `min_arity` of them.
    """

    name: str
    type: str
    types: frozenset[str]
    variable: str | None = None
    option: ParameterOption = ParameterOption.SINGLE
    homogeneous: bool = True
    min_arity: int = 1

    @property
    def is_variadic(self) -> bool:
        """True if a node may have any number of arguments for it."""
        return self.option is ParameterOption.VARIADIC


class AttributeSchema(Record):
    """An attribute of an operator. `type` is a name of the enum AttributeProto.AttributeType.

    A `default` of type FLOAT is the shortest decimal for the single precision number.
    """

    name: str
    type: str
    required: bool = False
    default: DefaultValue | None = None

    @property
    def type_code(self) -> int:
        """The number of the attribute's type in the enum AttributeProto.AttributeType."""
        return ATTRIBUTE_TYPE_CODES[self.type]


class OperatorSchema(Record):
    """The signature of an operator as of one operator set version.

    The number of inputs is from `min_input` to `max_input`; if the operator allows only some of these numbers,
    `input_counts` has them. The same holds for outputs. Trailing optional arguments may be left out, so `min_input` is
    not the number of required ones. `has_default_values` is False if the source has no defaults: None as a default then
    means nothing.
    """

    domain: str
    name: str
    since_version: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, AttributeSchema]
    type_constraints: Mapping[str, frozenset[str]]
    min_input: int
    max_input: int
    min_output: int
    max_output: int
    input_counts: frozenset[int] | None = None
    output_counts: frozenset[int] | None = None
    deprecated: bool = False
    experimental: bool = False
    has_function_body: bool = False
    has_default_values: bool = True

    @property
    def has_subgraphs(self) -> bool:
        """Whether an attribute has a graph: then the operands of the nodes inside are operands as well."""
        return any(each.type in ("GRAPH", "GRAPHS") for each in self.attributes.values())

    def lacks_attribute(self, name: str) -> bool:
        """Return whether the signature has no attribute of that name, and the name is not left to implementations."""
        return (
            name not in self.attributes
            and not name.startswith(IMPLEMENTATION_PREFIX)
            and not (self.domain == "com.microsoft" and _takes_any_attribute(self.name))
        )

    def input_at(self, index: int) -> Parameter | None:
        """Return the parameter for the input at an index, None beyond the last."""
        return _parameter_at(self.inputs, index)

    def output_at(self, index: int) -> Parameter | None:
        """Return the parameter for the output at an index, None beyond the last."""
        return _parameter_at(self.outputs, index)

    def allows_input_count(self, count: int) -> bool:
        """Return whether a node of the operator may have that many inputs."""
        if self.input_counts is not None:
            return count in self.input_counts
        return self.min_input <= count <= self.max_input

    def allows_output_count(self, count: int) -> bool:
        """Return whether a node of the operator may have that many outputs."""
        if self.output_counts is not None:
            return count in self.output_counts
        return self.min_output <= count <= self.max_output


def _takes_any_attribute(operator: str) -> bool:
    """Return whether ONNX Runtime registers an operator of its own with any further attributes."""
    from onnx_lint.spec.operators.records import record_of

    record = record_of(operator)
    return record is not None and record.takes_any_attribute


def count_range(parameters: tuple[Parameter, ...]) -> tuple[int, int]:
    """Return the least and the greatest number of arguments for a list of parameters.

    The last required parameter determines the least number. A final variadic parameter removes the upper bound. It
    counts as required even if it may have no argument, so the parameters before it cannot be left out (Loop has at
    least two inputs).
    """
    least = 0
    for index, parameter in enumerate(parameters):
        if parameter.option is ParameterOption.SINGLE:
            least = index + 1
        elif parameter.option is ParameterOption.VARIADIC:
            least = max(least, index + parameter.min_arity)
    unlimited = bool(parameters) and parameters[-1].option is ParameterOption.VARIADIC
    return least, UNLIMITED if unlimited else len(parameters)


def _parameter_at(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if 0 <= index < len(parameters):
        return parameters[index]
    if index >= 0 and parameters and parameters[-1].option is ParameterOption.VARIADIC:
        return parameters[-1]
    return None


class SchemaFileError(ValueError):
    """A schema file has a fault; `place` is its JSON path, "" for the whole file."""

    def __init__(self, path: str | Path, place: str, reason: str) -> None:
        self.path = str(path)
        self.place = place
        self.reason = reason
        super().__init__(": ".join(part for part in (self.path, place, reason) if part))
