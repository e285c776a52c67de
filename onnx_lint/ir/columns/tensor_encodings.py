# SPDX-License-Identifier: Apache-2.0
"""The storage of a tensor's values, to prove that their number, or the values themselves, are right.

Most tensors are proved right by the fields that are set and their lengths, and no rule needs to read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import isnan
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.payload import Payload
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import (
    ELEMENT_TYPES,
    EXTERNAL_LOCATION,
    FLOATING_TYPES,
    MAX_INT64,
    TYPED_FIELDS,
    DataType,
    ElementType,
)

_FIELDS: Final = schema.message("TensorProto").DESCRIPTOR.fields_by_name
_DIMS, _DATA_TYPE, _SEGMENT, RAW_DATA, _DATA_LOCATION = (
    _FIELDS[name] for name in ("dims", "data_type", "segment", "raw_data", "data_location")
)
_ANNOTATIONS: Final = frozenset(
    {_DATA_LOCATION, *(_FIELDS[name] for name in ("doc_string", "external_data", "metadata_props"))}
)
_VALUE_FIELDS: Final = frozenset({RAW_DATA, *(_FIELDS[name] for name in TYPED_FIELDS)})


class Encoding(Record):
    """The storage of values of one element type in one field."""

    entries: int
    elements: int
    """The number of elements in `entries` entries (bytes of raw_data)."""
    accepts_any: bool
    """True if every entry is right, and no bit is left over."""
    field: str
    entry_range: tuple[int, int] | None = None
    """The least and the greatest entry, where nothing else makes one right."""

    def entries_of(self, elements: int) -> int:
        """Return the number of entries for that many elements."""
        return -(-elements * self.entries // self.elements)


_EXTERNAL: Final = Encoding(0, 0, accepts_any=True, field="")


def encoding_in(element_type: int, field: str) -> Encoding | None:
    """Return the storage of elements of a type in a field; None if the field is not for them."""
    return _encoding(element_type, _FIELDS[field])


def _encoding(element_type: int, field: FieldDescriptor) -> Encoding | None:
    """Return the same for a field of TensorProto, computed when it is first asked for: few types occur in a run."""
    return _encoding_of_known(element_type, field) if element_type in ELEMENT_TYPES else None


@cache
def _encoding_of_known(element_type: int, field: FieldDescriptor) -> Encoding | None:
    element = ELEMENT_TYPES[element_type]
    if field == RAW_DATA:
        return _raw_encoding(element) if element.bits else None
    if field != _FIELDS[element.field]:
        return None
    per_entry = element.elements_per_entry
    return Encoding(
        entries=element.entries_of(per_entry),
        elements=per_entry,
        accepts_any=element.entry_range is None and element.name != "string",
        field=element.field,
        entry_range=element.entry_range if element.bits >= 8 else None,
    )


def _raw_encoding(element: ElementType) -> Encoding:
    is_bool = element.name == "bool"
    return Encoding(
        entries=element.bits,
        elements=8,
        accepts_any=element.bits >= 8 and not is_bool,
        field="raw_data",
        entry_range=element.entry_range if is_bool else None,
    )


_FEW_VALUES: Final = 256
"""The limit on values that are checked here; the rules on values check longer lists."""

SetFields = dict[FieldDescriptor, Any]
"""The fields of a tensor that are set, with their values."""


def set_fields(tensor: Proto) -> SetFields:
    """Return the fields of a TensorProto that are set, all read at once."""
    return dict(tensor.ListFields())


_NAN_BYTES: Final = dict.fromkeys(FLOATING_TYPES, b"\x7f\xff") | {10: b"\x7c\x7d\x7e\x7f" + bytes(range(0xF8, 0x100))}
"""For each type, the bytes that show a NaN: the last byte of one in raw_data, or a byte of its varint, is one of these.
"""


_WIDTHS: Final = {1: 4, 11: 8}
"""The bytes of an element of FLOAT and DOUBLE; the other types with NaN have two, or one."""


def may_hold_nan(element_type: int, data: bytes, *, is_raw: bool = False) -> bool:
    """Return false if the bytes of a TensorProto, or of its numbers one after the other, evidently hold no NaN."""
    if is_raw:
        width = _WIDTHS.get(element_type, 2)
        data = data[width - 1 :: width]
    return any(map(data.__contains__, _NAN_BYTES.get(element_type, ())))


_INFINITY_IN_16_BITS: Final = {10: 0x7C00, 16: 0x7F80}
"""The bits of infinity as FLOAT16 and BFLOAT16. Those of NaN are greater, but for the sign."""


def may_be_nan(tensor: Proto, raw: bytes) -> bool:
    """Return false if a tensor with this `raw_data` evidently holds no NaN."""
    element_type = tensor.data_type
    if raw:
        return may_hold_nan(element_type, raw, is_raw=True)
    if element_type in _INFINITY_IN_16_BITS and tensor.int32_data:
        infinity = _INFINITY_IN_16_BITS[element_type]
        return any(bits & 0x7FFF > infinity for bits in tensor.int32_data)
    numbers = [*tensor.float_data, *tensor.double_data]
    return element_type in FLOATING_TYPES and (not numbers or any(map(isnan, numbers)))


def is_annotated(fields: SetFields) -> bool:
    """Return true if the tensor has documentation, metadata or a data location besides name, type, shape and values."""
    return not _ANNOTATIONS.isdisjoint(fields)


def is_evident(fields: SetFields) -> bool:
    """Return true if a tensor with all values in the message is evidently right, and is not annotated."""
    encoding = encoding_of(fields, ())
    return encoding is not None and are_values_evident(fields, encoding) and not is_annotated(fields)


def are_values_evident(fields: SetFields, encoding: Encoding) -> bool:
    """Return true if the values, which are all in the message with this encoding, are evidently right."""
    if encoding.accepts_any or encoding.entry_range is None:
        return encoding.accepts_any
    values = fields[_FIELDS[encoding.field]]
    least, greatest = encoding.entry_range
    return 0 < len(values) <= _FEW_VALUES and least <= min(values) and max(values) <= greatest


def encoding_of(values: SetFields, payloads: tuple[Payload, ...]) -> Encoding | None:
    """Return the encoding of the values, if one field evidently has as many as required; else None."""
    data_type = values.get(_DATA_TYPE, DataType.UNDEFINED)
    elements = _positive_elements(values.get(_DIMS, ()))
    if elements is None:
        return None
    if values.get(_DATA_LOCATION) == EXTERNAL_LOCATION:
        return _EXTERNAL if data_type in ELEMENT_TYPES else None
    fields = _VALUE_FIELDS.intersection(values)
    if len(fields) != 1 or _SEGMENT in values:
        return None
    (field,) = fields
    encoding = _encoding(data_type, field)
    if encoding is None:
        return None
    count = len(values[field])
    if payloads:
        if count or len(payloads) > 1 or payloads[0].field != "raw_data":
            return None  # entries that must be read to be counted are counted when a rule needs it
        count = payloads[0].length
    return encoding if count == encoding.entries_of(elements) else None


def evident_size(element_type: int, dims: Iterable[int]) -> int:
    """Return how many bytes of raw_data are right for a type and a shape, whatever the bytes are; -1 if none are."""
    elements, encoding = _positive_elements(dims), encoding_in(element_type, "raw_data")
    return -1 if elements is None or encoding is None or not encoding.accepts_any else encoding.entries_of(elements)


def _positive_elements(dims: Iterable[int]) -> int | None:
    """Return the product of the dimensions; None unless all are positive and it fits 64 bits."""
    elements = 1
    for dim in dims:
        elements *= dim
        if not 0 < dim <= elements <= MAX_INT64:
            return None
    return elements


def element_count(dims: Proto) -> int | None:
    """Return the product of the dimensions; None if one is negative or the product exceeds 64 bits.

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
