# SPDX-License-Identifier: Apache-2.0
"""Facts about the stated and the stored values of a tensor, which the rules on tensors share."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.ir.columns.tensor_encodings import element_count, encoding_in
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.tensors.reparsed_tensors import TensorOrigin, tensor_of
from onnx_lint.ir.tensors.strings import StringScan
from onnx_lint.ir.tensors.wire_values import count_entries
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION, TYPED_FIELDS, ElementType
from onnx_lint.wording import typed

_UNITS: Final = {"raw_data": ("byte", "bytes"), "string_data": ("string", "strings")}


class SizeMismatch(Record):
    """Values of a tensor whose number does not match its dimensions."""

    field: str
    element: ElementType
    expected_entries: int
    """The number of entries (bytes of raw_data) that the dimensions need."""


class StoredTensor:
    """A tensor with its payloads and the facts that can be derived without reading the values."""

    __slots__ = (
        "_counts",
        "_origin",
        "_strings",
        "allowed_field",
        "elements",
        "field",
        "fields",
        "is_external",
        "segment",
        "source",
        "type",
    )

    def __init__(
        self, tensor: Tensor, source: Source, allowed_field: str | None = None, origin: TensorOrigin | None = None
    ) -> None:
        """`allowed_field`: the only field with values, if the caller knows it and that the element type allows it.

        `origin`: the origin of the tensor, to parse it again at later uses; None to keep the tensor.
        """
        proto = tensor.proto
        self._origin = origin or tensor
        self.source = source
        self.type: ElementType | None = ELEMENT_TYPES.get(proto.data_type)
        """The element type; None if it is missing, UNDEFINED or unknown."""
        self.is_external = bool(proto.data_location == EXTERNAL_LOCATION)
        """True if the values are in another file."""
        self.elements = element_count(proto.dims)
        """The number of elements by the dimensions; None if one is negative or the product exceeds 64 bits."""
        self.segment = (proto.segment.begin, proto.segment.end) if proto.HasField("segment") else None
        """Begin and end of the part of the tensor in the message; None if the message has the whole tensor."""
        self.fields = _fields(tensor) if allowed_field is None else (allowed_field,)
        """The fields that hold values."""
        self.field = self.fields[0] if len(self.fields) == 1 and not self.is_external else None
        """The only field with values; None if none or several have some, or if the values are in another file."""
        self.allowed_field = allowed_field
        """The only field with values, if it is allowed for the element type."""
        if allowed_field is not None:
            self.field = allowed_field
        elif self.field is not None and encoding_in(proto.data_type, self.field) is not None:
            self.allowed_field = self.field
        self._counts: dict[str, int] | None = None
        self._strings: StringScan | None = None

    @property
    def tensor(self) -> Tensor:
        """The tensor, parsed again if there are many of them."""
        return tensor_of(self._origin)

    @property
    def proto(self) -> Proto:
        """The TensorProto."""
        return self.tensor.proto

    def payloads(self, field: str) -> list[Payload]:
        """Return the payloads of a field, which the loader left in the source."""
        return [payload for payload in self.tensor.payloads if payload.field == field]

    def count(self, field: str) -> int:
        """Return the number of entries of a field, bytes for raw_data.

        Varints and unpacked records are counted in the source.
        """
        if not isinstance(self._origin, Tensor):
            return self._counted(field)
        self._counts = self._counts or {}
        if field not in self._counts:
            self._counts[field] = self._counted(field)
        return self._counts[field]

    def _counted(self, field: str) -> int:
        if field == "string_data":
            return self.strings.count
        count = len(getattr(self.proto, field))
        payloads = self.payloads(field)
        if field == "raw_data":
            # The last of several is the value. If it stayed in the source, the message has an empty one.
            return payloads[-1].length if payloads and not count else count
        return count + sum(count_entries(self.source, payload) for payload in payloads)

    @property
    def strings(self) -> StringScan:
        """The facts from one pass over string_data."""
        if self._strings is not None:
            return self._strings
        tensor = self.tensor
        scan = StringScan()
        scan.scan_strings(tensor.proto.string_data)
        for payload in tensor.payloads:
            if payload.field == "string_data":
                scan.scan_run(self.source, payload)
        if isinstance(self._origin, Tensor):
            self._strings = scan
        return scan

    @property
    def expected_entries(self) -> int | None:
        """The number of entries (bytes of raw_data) that the elements need in their field; None if unknown."""
        field, elements = self.allowed_field, self.elements
        encoding = encoding_in(self.proto.data_type, field) if field is not None else None
        return encoding.entries_of(elements) if encoding is not None and elements is not None else None

    @property
    def has_wrong_size(self) -> bool:
        """True if the number of values does not match the dimensions, in any packing.

        False for a tensor without elements or with a segment, which other rules report.
        """
        return self.wrong_size is not None

    @property
    def wrong_size(self) -> SizeMismatch | None:
        """The values whose number does not match the dimensions; None in the cases of `has_wrong_size`."""
        field, element, expected = self.allowed_field, self.type, self.expected_entries
        if field is None or element is None or expected is None or self.segment is not None or not self.elements:
            return None
        if self.count(field) == expected or self.is_packed_otherwise:
            return None
        return SizeMismatch(field, element, expected)

    @property
    def is_packed_otherwise(self) -> bool:
        """True if the number of entries in int32_data fits another packing of 4-bit or 2-bit elements.

        That is one element in each entry, or as many as 32 bits can hold, instead of two or four.
        """
        element, elements = self.type, self.elements
        if element is None or element.elements_per_entry == 1 or not elements or self.segment is not None:
            return False
        if self.allowed_field != element.field or self.count(element.field) == self.expected_entries:
            return False
        return self.count(element.field) in (elements, -(-elements * element.bits // 32))

    # --- for findings

    @property
    def place(self) -> Place:
        """The place of the TensorProto."""
        return self.tensor.place

    def place_of(self, field: str) -> Place:
        """Return the place of the values in `field`."""
        return self.place.at(field)

    def name_of(self, field: str) -> str:
        """Return the words for the place of the values: the field. Subclasses with values elsewhere override it."""
        return field

    def describe(self) -> str:
        """Return the name of the tensor in messages."""
        return self.tensor.describe()

    def describe_count(self, field: str) -> str:
        """Return the number of values of `field` in words, such as `4 bytes`, `1 entry` or `3 strings`."""
        one, many = _UNITS.get(field, ("entry", "entries"))
        count = self.count(field)
        return f"{count:,} {one if count == 1 else many}"

    def describe_type(self) -> str:
        """Return element type and shape, such as `float[2, 3]`."""
        name = self.type.name if self.type else f"element type {self.proto.data_type}"
        return typed(name, self.proto.dims)

    @property
    def offset(self) -> int | None:
        """The offset of the values, for a tensor that the loader left in the source as a run of records.

        There may be millions, and a search for the place of one among them would need a walk that keeps them all in
        memory.
        """
        runs = [payload.offset for payload in self.tensor.payloads if not payload.packed]
        return min(runs) if runs else None


def _fields(tensor: Tensor) -> tuple[str, ...]:
    """Return the fields that hold values.

    An empty raw_data counts if another field has values: the schema requires readers to use raw_data if it is set.
    """
    proto = tensor.proto
    filled = {payload.field for payload in tensor.payloads}
    found = tuple([name for name in TYPED_FIELDS if name in filled or getattr(proto, name)])
    if "raw_data" in filled or (proto.HasField("raw_data") and (found or proto.raw_data)):
        return ("raw_data", *found)
    return found
