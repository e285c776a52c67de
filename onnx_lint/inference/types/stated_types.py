# SPDX-License-Identifier: Apache-2.0
"""Attributes that state or imply the type of an input, by the operators' descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.types.argument import Argument, Arguments
from onnx_lint.inference.types.problem import Contradicted
from onnx_lint.inference.types.type_string import TENSORS, ValueType, tensor_of
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema
from onnx_lint.spec.operators.schema import LATEST

_INT: Final = ATTRIBUTE_TYPE_CODES["INT"]
_ML: Final = "ai.onnx.ml"

_FLOATING: Final = frozenset({"tensor(float)", "tensor(double)", "tensor(float16)", "tensor(bfloat16)"})
_INTEGER: Final = frozenset({"tensor(int32)", "tensor(int64)"})
_STRINGS: Final = frozenset({"tensor(string)"})


class Statement(Record):
    """The statement of an attribute about an input's type."""

    attribute: str
    index: int
    """The index of the input."""
    allowed: Callable[[Argument | None], frozenset[ValueType] | None]
    """The types that the attribute allows for the input; None if it allows all."""
    other: int | None = None
    """A number of the attribute that exporters forget."""
    last: int = LATEST
    """The last version of the operator with this statement."""


def _number(argument: Argument | None) -> frozenset[ValueType] | None:
    """Return the tensor type whose element type an INT attribute states; None for 0, which means unspecified."""
    kind = tensor_of(argument.integer) if argument is not None and argument.integer else None
    return frozenset({kind}) if kind else None


def _with_elements(allowed: frozenset[ValueType]) -> Callable[[Argument | None], frozenset[ValueType] | None]:
    """Return the types that a list with elements implies."""
    return lambda argument: allowed if argument is not None and argument.value is True else None


def _tensor(argument: Argument | None) -> frozenset[ValueType] | None:
    kind = None if argument is None else argument.type
    return frozenset({kind}) if kind else None


def _unless_one(argument: Argument | None) -> frozenset[ValueType] | None:
    """Mod: the types that are allowed if `fmod` is not 1."""
    is_unknown = argument is not None and argument.integer is None
    return None if is_unknown or (argument is not None and argument.integer == 1) else _NOT_FLOATING


def _of_width(argument: Argument | None) -> frozenset[ValueType] | None:
    """BitCast: the types with the same number of bits for an element as the requested type."""
    element = ELEMENT_TYPES.get(argument.integer or 0) if argument is not None else None
    if element is None or not element.bits:
        return None
    return frozenset(f"tensor({other.name})" for other in ELEMENT_TYPES.values() if other.bits == element.bits)


_NOT_FLOATING: Final = frozenset(kind for kind in TENSORS if kind is not None) - _FLOATING

_VALUES: Final = ("int64", "float", "double", "string")


def _keys(key: str) -> frozenset[ValueType]:
    """Return the maps with such keys that DictVectorizer accepts, and others."""
    return frozenset(f"map({key}, {value})" for value in _VALUES)


_STATEMENTS: Final[Mapping[tuple[str, str], tuple[Statement, ...]]] = {
    # From version 28 on `fmod` 0 is also defined for floats.
    ("", "Mod"): (Statement("fmod", 0, _unless_one, other=1, last=13),),
    ("", "BitCast"): (Statement("to", 0, _of_width),),
    ("", "QuantizeLinear"): (Statement("output_dtype", 2, _number),),
    # For pool_int64s the text says that inputs "should" be integers; the signature allows integers and strings.
    ("", "TfIdfVectorizer"): (
        Statement("pool_strings", 0, _with_elements(_STRINGS)),
        Statement("pool_int64s", 0, _with_elements(_INTEGER)),
    ),
    (_ML, "DictVectorizer"): (
        Statement("string_vocabulary", 0, _with_elements(_keys("string"))),
        Statement("int64_vocabulary", 0, _with_elements(_keys("int64"))),
    ),
    (_ML, "Imputer"): (
        Statement("imputed_value_floats", 0, _with_elements(_FLOATING)),
        Statement("imputed_value_int64s", 0, _with_elements(_INTEGER)),
    ),
    (_ML, "LabelEncoder"): (
        Statement("keys_strings", 0, _with_elements(_STRINGS)),
        Statement("keys_int64s", 0, _with_elements(frozenset({"tensor(int64)"}))),
        Statement("keys_floats", 0, _with_elements(frozenset({"tensor(float)"}))),
        Statement("keys_tensor", 0, _tensor),
    ),
    (_ML, "TreeEnsemble"): (
        Statement("nodes_splits", 0, _tensor),
        Statement("leaf_weights", 0, _tensor),
    ),
}

_TOGETHER: Final = frozenset({(_ML, "TreeEnsemble")})
"""The operators all of whose statements hold together. Those of others exclude each other."""


def stating_attributes(domain: str, name: str) -> frozenset[str]:
    """Return the attributes of an operator that state or imply an input's type."""
    return frozenset(statement.attribute for statement in _STATEMENTS.get((domain, name), ()))


def contradicted_statements(
    schema: OperatorSchema, inputs: tuple[ValueType | None, ...], arguments: Arguments
) -> list[Contradicted]:
    """Return the inputs whose type contradicts an attribute; attributes that exclude each other are ignored."""
    given = dict(arguments)
    found: list[Contradicted] = []
    stating = 0
    for statement in _STATEMENTS.get((schema.domain, schema.name), ()):
        if schema.since_version > statement.last:
            continue
        kind = inputs[statement.index] if statement.index < len(inputs) else None
        allowed = statement.allowed(given.get(statement.attribute))
        stating += allowed is not None
        if kind and allowed is not None and kind not in allowed:
            other = statement.other
            with_other = None if other is None else statement.allowed(Argument(_INT, other))
            fitting = other if with_other is None or kind in with_other else None
            found.append(Contradicted(statement.index, statement.attribute, allowed, fitting))
    return found[:1] if stating == 1 or (schema.domain, schema.name) in _TOGETHER else []
