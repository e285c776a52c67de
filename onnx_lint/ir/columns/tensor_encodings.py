# SPDX-License-Identifier: Apache-2.0
"""How the values of a tensor are stored, as far as that proves their number, or the values themselves, right.

Most tensors are proved right by the fields that are set and their lengths, and no rule has to look at them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from onnx_lint import schema
from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.ir.columns.gather import dimensions
from onnx_lint.ir.payload import Payload
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL, MAX_INT64, TYPED_FIELDS, UNDEFINED

_FIELDS: Final = schema.message("TensorProto").DESCRIPTOR.fields_by_name
_DIMS, _DATA_TYPE, _SEGMENT, _RAW_DATA, _DATA_LOCATION = (
    _FIELDS[name] for name in ("dims", "data_type", "segment", "raw_data", "data_location")
)
_ANNOTATIONS: Final = frozenset(
    {_DATA_LOCATION, *(_FIELDS[name] for name in ("doc_string", "external_data", "metadata_props"))}
)
_VALUE_FIELDS: Final = frozenset({_RAW_DATA, *(_FIELDS[name] for name in TYPED_FIELDS)})


class Encoding(Record):
    """How values of one element type stand in one field."""

    entries: int
    elements: int
    """So many entries (bytes of raw_data) go with so many elements."""
    accepts_any: bool
    """Whether every entry is right, and no bit is left over."""
    field: str
    entry_range: tuple[int, int] | None = None
    """The least and the greatest entry, where nothing else makes one right."""

    def entries_of(self, elements: int) -> int:
        """How many entries so many elements take up."""
        return -(-elements * self.entries // self.elements)


_EXTERNAL: Final = Encoding(0, 0, accepts_any=True, field="")


def _encodings() -> dict[tuple[int, FieldDescriptor], Encoding]:
    found: dict[tuple[int, FieldDescriptor], Encoding] = {}
    for element in ELEMENT_TYPES.values():
        if element.bits:
            plain = element.bits >= 8 and element.name != "bool"
            byte_range = element.entry_range if element.name == "bool" else None
            found[element.number, _RAW_DATA] = Encoding(element.bits, 8, plain, "raw_data", byte_range)
        per_entry = element.elements_per_entry
        plain = element.entry_range is None and element.name != "string"
        found[element.number, _FIELDS[element.field]] = Encoding(
            element.entries_of(per_entry),
            per_entry,
            plain,
            element.field,
            element.entry_range if element.bits >= 8 else None,
        )
    return found


_ENCODINGS: Final = _encodings()


def encoding_in(element_type: int, field: str) -> Encoding | None:
    """How elements of a type stand in a field; None in one that is not for them."""
    return _ENCODINGS.get((element_type, _FIELDS[field]))


_FEW_VALUES: Final = 256
"""Of more the rules on them see to."""

SetFields = dict[FieldDescriptor, Any]
"""The fields of a tensor that are set, with their values."""


def set_fields(tensor: Proto) -> SetFields:
    """The fields of a TensorProto that are set, all asked for at once."""
    return dict(tensor.ListFields())


def is_annotated(fields: SetFields) -> bool:
    """Whether the tensor says more than name, type, shape and values: documentation, metadata, or where they are."""
    return not _ANNOTATIONS.isdisjoint(fields)


def is_evident(tensor: Proto) -> bool:
    """Whether a tensor that has all its values in the message evidently holds what it should, and is not annotated."""
    fields = set_fields(tensor)
    encoding = encoding_of(fields, ())
    return encoding is not None and are_values_evident(fields, encoding) and not is_annotated(fields)


def are_values_evident(fields: SetFields, encoding: Encoding) -> bool:
    """Whether the values, which are stored like this and are all in the message, are evidently right."""
    if encoding.accepts_any or encoding.entry_range is None:
        return encoding.accepts_any
    values = fields[_FIELDS[encoding.field]]
    least, greatest = encoding.entry_range
    return 0 < len(values) <= _FEW_VALUES and least <= min(values) and max(values) <= greatest


InitializerKind = tuple[int, bytes, str, int, int]
"""Element type, shape, field of the values, entries and greatest value, as the columns of a graph state them."""

_evident: Final[Memory[InitializerKind, bool]] = Memory(1_000)
_MOST_SHAPE_BYTES: Final = 64
"""Kinds of longer shapes are not remembered: a shape may have a million dimensions."""


def is_evident_kind(kind: InitializerKind) -> bool:
    """Whether an initializer of this kind evidently holds what it should.

    A thousand models have a few hundred kinds between them (docs/performance.md: evident-kinds).
    """
    found = _evident.get(kind)
    if found is None:
        found = _is_evident_kind(*kind)
        if len(kind[1]) <= _MOST_SHAPE_BYTES:
            _evident.keep(kind, found)
    return found


def _is_evident_kind(element_type: int, shape: bytes, field: str, entries: int, greatest: int) -> bool:
    encoding = encoding_in(element_type, field) if field else None
    if encoding is None:
        return False
    if not encoding.accepts_any:
        least, most = encoding.entry_range or (0, -1)
        if not least <= 0 <= greatest <= most:
            return False
    elements = _positive_elements(dimensions(shape))
    return elements is not None and entries == encoding.entries_of(elements)


def encoding_of(values: SetFields, payloads: tuple[Payload, ...]) -> Encoding | None:
    """How the values are stored, where there are evidently as many as there should be, in one field; else None."""
    data_type = values.get(_DATA_TYPE, UNDEFINED)
    elements = _positive_elements(values.get(_DIMS, ()))
    if elements is None:
        return None
    if values.get(_DATA_LOCATION) == EXTERNAL:
        return _EXTERNAL if data_type in ELEMENT_TYPES else None
    fields = _VALUE_FIELDS.intersection(values)
    if len(fields) != 1 or _SEGMENT in values:
        return None
    (field,) = fields
    encoding = _ENCODINGS.get((data_type, field))
    if encoding is None:
        return None
    count = len(values[field])
    if payloads:
        if count or len(payloads) > 1 or payloads[0].field != "raw_data":
            return None  # what has to be read to be counted is counted when a rule asks
        count = payloads[0].length
    return encoding if count == encoding.entries_of(elements) else None


def _positive_elements(dims: Iterable[int]) -> int | None:
    """The product of the dimensions; None unless all are positive and it fits 64 bits."""
    elements = 1
    for dim in dims:
        elements *= dim
        if not 0 < dim <= elements <= MAX_INT64:
            return None
    return elements


def element_count(dims: Proto) -> int | None:
    """The product of the dimensions; None where one is negative or the product is beyond 64 bits.

    Stops early: a hostile tensor may have a million dimensions.
    """
    if dims and min(dims) <= 0:
        return 0 if min(dims) == 0 else None
    count = 1
    for dim in dims:
        count *= dim
        if count > MAX_INT64:
            return None
    return count
