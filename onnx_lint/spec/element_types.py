# SPDX-License-Identifier: Apache-2.0
"""The element types of tensors: how wide each one is, and which field of a TensorProto holds its values.

Source: the comments of TensorProto in the schema (TEN-6, TEN-11 to TEN-16).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.record import Record

UNDEFINED: Final = 0
"""TensorProto.DataType.UNDEFINED, which is no type for a tensor."""


class ElementType(Record):
    """One member of TensorProto.DataType."""

    number: int
    name: str
    """The name of the member in lower case."""
    bits: int
    """The width of an element in raw_data; 0 for strings, which have none."""
    field: str
    """The typed field for the values."""
    entry_range: tuple[int, int] | None = None
    """The least and the greatest entry of the typed field; None where every entry that the field can hold is right."""

    @property
    def is_complex(self) -> bool:
        """Whether an element takes up two entries of the typed field."""
        return self.name in {"complex64", "complex128"}

    @property
    def elements_per_entry(self) -> int:
        """How many elements share an entry of the typed field: several for types of 2 and 4 bits."""
        return 8 // self.bits if self.bits in {2, 4} else 1

    @property
    def has_zero(self) -> bool:
        """Whether a value of the type is zero (or the empty string); it then has no bit set."""
        return self.name != "float8e8m0"

    def bytes_of(self, elements: int) -> int:
        """How many bytes of raw_data so many elements take up."""
        return -(-elements * self.bits // 8)

    def entries_of(self, elements: int) -> int:
        """How many entries of the typed field so many elements take up."""
        return 2 * elements if self.is_complex else -(-elements // self.elements_per_entry)


_BYTE = (0, 0xFF)
_TWO_BYTES = (0, 0xFFFF)
_PACKED_BYTE = (-128, 0xFF)
"""Of an entry with packed elements the low eight bits count. onnx 1.16 wrote those of INT4 with their sign extended."""


def _table(*types: ElementType) -> Mapping[int, ElementType]:
    return {element.number: element for element in types}


ELEMENT_TYPES: Final = _table(
    ElementType(1, "float", 32, "float_data"),
    ElementType(2, "uint8", 8, "int32_data", _BYTE),
    ElementType(3, "int8", 8, "int32_data", (-128, 127)),
    ElementType(4, "uint16", 16, "int32_data", _TWO_BYTES),
    ElementType(5, "int16", 16, "int32_data", (-32768, 32767)),
    ElementType(6, "int32", 32, "int32_data"),
    ElementType(7, "int64", 64, "int64_data"),
    ElementType(8, "string", 0, "string_data"),
    ElementType(9, "bool", 8, "int32_data", (0, 1)),
    ElementType(10, "float16", 16, "int32_data", _TWO_BYTES),
    ElementType(11, "double", 64, "double_data"),
    ElementType(12, "uint32", 32, "uint64_data", (0, 0xFFFF_FFFF)),
    ElementType(13, "uint64", 64, "uint64_data"),
    ElementType(14, "complex64", 64, "float_data"),
    ElementType(15, "complex128", 128, "double_data"),
    ElementType(16, "bfloat16", 16, "int32_data", _TWO_BYTES),
    ElementType(17, "float8e4m3fn", 8, "int32_data", _BYTE),
    ElementType(18, "float8e4m3fnuz", 8, "int32_data", _BYTE),
    ElementType(19, "float8e5m2", 8, "int32_data", _BYTE),
    ElementType(20, "float8e5m2fnuz", 8, "int32_data", _BYTE),
    ElementType(21, "uint4", 4, "int32_data", _PACKED_BYTE),
    ElementType(22, "int4", 4, "int32_data", _PACKED_BYTE),
    ElementType(23, "float4e2m1", 4, "int32_data", _PACKED_BYTE),
    ElementType(24, "float8e8m0", 8, "int32_data", _BYTE),
    ElementType(25, "uint2", 2, "int32_data", _PACKED_BYTE),
    ElementType(26, "int2", 2, "int32_data", _PACKED_BYTE),
    ElementType(27, "float6e2m3", 6, "int32_data", (0, 0x3F)),
    ElementType(28, "float6e3m2", 6, "int32_data", (0, 0x3F)),
)
"""Every element type that a tensor can have, by its number."""
