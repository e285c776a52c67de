# SPDX-License-Identifier: Apache-2.0
"""The types of serialized values, as far as the values show them: what an empty sequence would hold, nobody sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.in_words import element_type_name
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

KINDS: Final = ("tensor", "sparse_tensor", "sequence", "map", "optional")
"""What a sequence or optional may hold, in the order of the numbers in `elem_type`, which begin with 1."""


def kind_name(number: int) -> str:
    """The kind for messages: `SPARSE_TENSOR (2)`, or the number where there is none."""
    return f"{KINDS[number - 1].upper()} ({number})" if 1 <= number <= len(KINDS) else str(number)


class ValueType(Record):
    """A type; None and 0 stand for what a value does not show."""

    kind: str
    element: ValueType | None = None
    """What a sequence, map or optional holds."""
    code: int = 0
    """The element type of a tensor, the type of the keys of a map."""

    def __str__(self) -> str:
        """The type for messages: `seq(map(int64, float))`."""
        element = "?" if self.element is None else str(self.element)
        code = element_type_name(self.code) if self.code else "?"
        match self.kind:
            case "tensor":
                return code
            case "sparse_tensor":
                return f"sparse {code}"
            case "map":
                return f"map({code}, {element})"
            case "sequence":
                return f"seq({element})"
            case _:
                return f"{self.kind}({element})"


class Mixture(Record):
    """An element of a sequence that is of another type than those before it."""

    sequence: Place
    field: str
    index: int
    found: ValueType
    wanted: ValueType
    is_of_map: bool
    """Whether the sequence holds the values of a map."""

    @property
    def is_of_tensors(self) -> bool:
        """Whether the elements are tensors, dense or sparse."""
        return self.found.kind in {"tensor", "sparse_tensor"}


def type_of_value(value: Proto, place: Place) -> ValueType:
    """The type of a tensor, sequence, map or optional."""
    return _type_of(value, place, [])


def mixtures(document: Proto, place: Place) -> Iterator[Mixture]:
    """For each sequence in a value the first element that does not go with the others, the innermost sequences first.

    An element is looked at where the kind of the sequence says that it stands.
    """
    found: list[Mixture] = []
    _type_of(document, place, found)
    yield from found


def _type_of(value: Proto, place: Place, found: list[Mixture]) -> ValueType:
    # Protocol Buffers parses 100 messages inside one another at most, so the stack lasts.
    match value.DESCRIPTOR.name:
        case "TensorProto":
            return ValueType("tensor", code=_known(value.data_type))
        case "SparseTensorProto":
            return ValueType("sparse_tensor", code=_known(value.values.data_type))
        case "MapProto":
            element = _element_type(value.values, place.at("values"), found, is_of_map=True)
            return ValueType("map", element, _known(value.key_type))
        case "SequenceProto":
            return ValueType("sequence", _element_type(value, place, found))
        case _:
            return ValueType("optional", _held_type(value, place, found))


def _known(code: int) -> int:
    """The element type; 0 for one that does not exist, which has a finding of its own."""
    return code if code in ELEMENT_TYPES else 0


def _held_type(optional: Proto, place: Place, found: list[Mixture]) -> ValueType | None:
    if not 1 <= optional.elem_type <= len(KINDS):
        return None
    kind = KINDS[optional.elem_type - 1]
    field = f"{kind}_value"
    return _type_of(getattr(optional, field), place.at(field), found) if optional.HasField(field) else ValueType(kind)


def _element_type(sequence: Proto, place: Place, found: list[Mixture], *, is_of_map: bool = False) -> ValueType | None:
    """The type of the elements; of those that do not go together, the type of the first ones."""
    if not 1 <= sequence.elem_type <= len(KINDS):
        return None
    kind = KINDS[sequence.elem_type - 1]
    field = f"{kind}_values"
    common = ValueType(kind)
    is_mixed = False
    if kind in {"tensor", "sparse_tensor"}:
        codes = {element.data_type for element in _tensors(sequence)}
        if len(codes) <= 1:
            return ValueType(kind, code=_known(codes.pop())) if codes else common
    for index, element in enumerate(getattr(sequence, field)):
        own = _type_of(element, place.at(field, index), found)
        joined = _joined(common, own)
        if joined is not None:
            common = joined
        elif not is_mixed:
            is_mixed = True
            found.append(Mixture(place, field, index, own, common, is_of_map))
    return common


def _tensors(sequence: Proto) -> Iterator[Proto]:
    """The tensors of a sequence, of sparse ones their values."""
    yield from sequence.tensor_values
    yield from (sparse.values for sparse in sequence.sparse_tensor_values)


def _joined(one: ValueType, other: ValueType) -> ValueType | None:
    """The type that both values can have; None where there is none."""
    if one == other:
        return one
    if one.kind != other.kind or (one.code and other.code and one.code != other.code):
        return None
    element = one.element or other.element
    if one.element is not None and other.element is not None:
        element = _joined(one.element, other.element)
        if element is None:
            return None
    return ValueType(one.kind, element, one.code or other.code)
