# SPDX-License-Identifier: Apache-2.0
"""The types of serialized values, if the values show them: an empty sequence does not show its element type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.ir.in_words import describe_element_type
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

KINDS: Final = ("tensor", "sparse_tensor", "sequence", "map", "optional")
"""The kinds of elements of a sequence or optional, in the order of the numbers in `elem_type`, which begin with 1."""


def kind_name(number: int) -> str:
    """Return the kind for messages: `SPARSE_TENSOR (2)`, or the number if it is not that of a kind."""
    return f"{KINDS[number - 1].upper()} ({number})" if 1 <= number <= len(KINDS) else str(number)


def kind_names() -> str:
    """Return all kinds for messages: `TENSOR (1), SPARSE_TENSOR (2), ... or OPTIONAL (5)`."""
    *others, last = (kind_name(number) for number in range(1, len(KINDS) + 1))
    return f"{', '.join(others)} or {last}"


class ShownType(Record):
    """A type; None and 0 are for parts that the value does not show."""

    kind: str
    element: ShownType | None = None
    """The type of the elements of a sequence, map or optional."""
    code: int = 0
    """The element type of a tensor, the type of the keys of a map."""

    def __str__(self) -> str:
        """Return the type for messages: `seq(map(int64, float))`."""
        element = "?" if self.element is None else str(self.element)
        code = describe_element_type(self.code) if self.code else "?"
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
    found: ShownType
    wanted: ShownType
    is_of_map: bool
    """True if the sequence holds the values of a map."""
    others: tuple[Mixture, ...] = ()
    """The further elements of another type."""

    @property
    def is_of_tensors(self) -> bool:
        """True if the elements are tensors, dense or sparse."""
        return self.found.kind in {"tensor", "sparse_tensor"}


def mixtures(document: Proto, place: Place) -> Iterator[Mixture]:
    """Yield for each sequence in a value the first element that does not match the others, innermost sequences first.

    Only elements in the field for the kind of the sequence are examined.
    """
    found: list[Mixture] = []
    _type_of(document, place, found)
    yield from found


def _type_of(value: Proto, place: Place, found: list[Mixture]) -> ShownType:
    # The recursion is safe: Protocol Buffers parses at most 100 nested messages.
    match value.DESCRIPTOR.name:
        case "TensorProto":
            return ShownType("tensor", code=_known(value.data_type))
        case "SparseTensorProto":
            return ShownType("sparse_tensor", code=_known(value.values.data_type))
        case "MapProto":
            element = _element_type(value.values, place.at("values"), found, is_of_map=True)
            return ShownType("map", element, _known(value.key_type))
        case "SequenceProto":
            return ShownType("sequence", _element_type(value, place, found))
        case _:
            return ShownType("optional", _type_of_optional(value, place, found))


def _known(code: int) -> int:
    """Return the element type; 0 for one that does not exist, which another rule reports."""
    return code if code in ELEMENT_TYPES else 0


def _type_of_optional(optional: Proto, place: Place, found: list[Mixture]) -> ShownType | None:
    if not 1 <= optional.elem_type <= len(KINDS):
        return None
    kind = KINDS[optional.elem_type - 1]
    field = f"{kind}_value"
    return _type_of(getattr(optional, field), place.at(field), found) if optional.HasField(field) else ShownType(kind)


def _element_type(sequence: Proto, place: Place, found: list[Mixture], *, is_of_map: bool = False) -> ShownType | None:
    """Return the type of the elements; if they do not match, the type of the first ones."""
    if not 1 <= sequence.elem_type <= len(KINDS):
        return None
    kind = KINDS[sequence.elem_type - 1]
    field = f"{kind}_values"
    common = ShownType(kind)
    wrong: list[Mixture] = []
    if kind in {"tensor", "sparse_tensor"}:
        codes = {element.data_type for element in _tensors(sequence)}
        if len(codes) <= 1:
            return ShownType(kind, code=_known(codes.pop())) if codes else common
    for index, element in enumerate(getattr(sequence, field)):
        own = _type_of(element, place.at(field, index), found)
        joined = _joined(common, own)
        if joined is not None:
            common = joined
        else:
            wrong.append(Mixture(place, field, index, own, common, is_of_map))
    if wrong:
        found.append(replace(wrong[0], others=tuple(wrong[1:])))
    return common


def _tensors(sequence: Proto) -> Iterator[Proto]:
    """Yield the tensors of a sequence; for sparse ones their values."""
    yield from sequence.tensor_values
    yield from (sparse.values for sparse in sequence.sparse_tensor_values)


def _joined(one: ShownType, other: ShownType) -> ShownType | None:
    """Return the type that both values can have; None if there is none."""
    if one == other:
        return one
    if one.kind != other.kind or (one.code and other.code and one.code != other.code):
        return None
    element = one.element or other.element
    if one.element is not None and other.element is not None:
        element = _joined(one.element, other.element)
        if element is None:
            return None
    return ShownType(one.kind, element, one.code or other.code)
