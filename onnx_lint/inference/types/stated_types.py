# SPDX-License-Identifier: Apache-2.0
"""Attributes that state the type of an input, or suppose one, in the words of the operators' descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.types.argument import Argument, Arguments
from onnx_lint.inference.types.problem import Contradicted
from onnx_lint.inference.types.type_string import TENSORS, ValueType, tensor_of
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.attribute_values import ANY

_ML: Final = "ai.onnx.ml"

_FLOATING: Final = frozenset({"tensor(float)", "tensor(double)", "tensor(float16)", "tensor(bfloat16)"})
_INTEGER: Final = frozenset({"tensor(int32)", "tensor(int64)"})
_STRINGS: Final = frozenset({"tensor(string)"})


class Statement(Record):
    """What an attribute says of an input's type."""

    attribute: str
    index: int
    """The index of the input."""
    allowed: Callable[[Argument | None], frozenset[ValueType] | None]
    """The types that the input may have by the attribute; None where that says nothing."""
    last: int = ANY
    """The last version of the operator that says so."""


def _number(argument: Argument | None) -> frozenset[ValueType] | None:
    """The tensor whose element type an INT attribute states; 0 leaves it open."""
    kind = tensor_of(argument.integer) if argument is not None and argument.integer else None
    return frozenset({kind}) if kind else None


def _with_elements(allowed: frozenset[ValueType]) -> Callable[[Argument | None], frozenset[ValueType] | None]:
    """The types that a list supposes; one that is empty supposes none."""
    return lambda argument: allowed if argument is not None and argument.value is True else None


def _tensor(argument: Argument | None) -> frozenset[ValueType] | None:
    kind = None if argument is None else argument.type
    return frozenset({kind}) if kind else None


def _unless_one(argument: Argument | None) -> frozenset[ValueType] | None:
    """Mod: what may be divided where `fmod` is not 1."""
    is_unknown = argument is not None and argument.integer is None
    return None if is_unknown or (argument is not None and argument.integer == 1) else _NOT_FLOATING


def _of_width(argument: Argument | None) -> frozenset[ValueType] | None:
    """BitCast: what has as many bits in each element as the type that is asked for."""
    element = ELEMENT_TYPES.get(argument.integer or 0) if argument is not None else None
    if element is None or not element.bits:
        return None
    return frozenset(f"tensor({other.name})" for other in ELEMENT_TYPES.values() if other.bits == element.bits)


_NOT_FLOATING: Final = frozenset(kind for kind in TENSORS if kind is not None) - _FLOATING

_VALUES: Final = ("int64", "float", "double", "string")


def _keys(key: str) -> frozenset[ValueType]:
    """The maps with such keys that DictVectorizer takes, and more."""
    return frozenset(f"map({key}, {value})" for value in _VALUES)


_STATEMENTS: Final[Mapping[tuple[str, str], tuple[Statement, ...]]] = {
    # From version 28 on `fmod` 0 is defined for floats too.
    ("", "Mod"): (Statement("fmod", 0, _unless_one, last=13),),
    ("", "BitCast"): (Statement("to", 0, _of_width),),
    ("", "QuantizeLinear"): (Statement("output_dtype", 2, _number),),
    # Of pool_int64s the text says that integers "should" be there; the signature allows integers and strings.
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
}


def stating_attributes(domain: str, name: str) -> frozenset[str]:
    """The attributes of an operator that say something of an input's type."""
    return frozenset(statement.attribute for statement in _STATEMENTS.get((domain, name), ()))


def contradicted_statements(
    schema: OperatorSchema, inputs: tuple[ValueType | None, ...], arguments: Arguments
) -> list[Contradicted]:
    """The inputs that are of another type than an attribute says; two that exclude each other say nothing."""
    given = dict(arguments)
    found: list[Contradicted] = []
    said = 0
    for statement in _STATEMENTS.get((schema.domain, schema.name), ()):
        if schema.since_version > statement.last:
            continue
        kind = inputs[statement.index] if statement.index < len(inputs) else None
        allowed = statement.allowed(given.get(statement.attribute))
        said += allowed is not None
        if kind and allowed is not None and kind not in allowed:
            found.append(Contradicted(statement.index, statement.attribute, allowed))
    return found if said == 1 else []
