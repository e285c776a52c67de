# SPDX-License-Identifier: Apache-2.0
"""The element types of tensors: number, name, width, field of a TensorProto for the values, and first IR version.

Source: the comments of TensorProto in the schema (TEN-6, TEN-11 to TEN-16), and of the enumeration of IR versions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.spec.ir_versions import FROM_THE_START, Since


class DataType:
    """The numbers of TensorProto.DataType that code names. `ELEMENT_TYPES` has them all."""

    UNDEFINED: Final = 0
    FLOAT: Final = 1
    UINT8: Final = 2
    INT8: Final = 3
    UINT16: Final = 4
    INT16: Final = 5
    INT32: Final = 6
    INT64: Final = 7
    STRING: Final = 8
    BOOL: Final = 9
    FLOAT16: Final = 10
    DOUBLE: Final = 11
    UINT32: Final = 12
    UINT64: Final = 13
    BFLOAT16: Final = 16


INTEGER_KEYS: Final = frozenset(
    {DataType.UINT8, DataType.INT8, DataType.UINT16, DataType.INT16, DataType.INT32, DataType.INT64, DataType.UINT32}
    | {DataType.UINT64}
)
"""The integer types that the keys of a map may have."""

INDEX_TYPES: Final = frozenset({DataType.INT32, DataType.INT64, DataType.BOOL})
"""The types of indices, sizes and conditions: their elements decide shapes."""

FLOATING_TYPES: Final = frozenset({DataType.FLOAT, DataType.FLOAT16, DataType.DOUBLE, DataType.BFLOAT16})
"""The types to compute with; types of 8 bits and fewer are storage of quantized weights."""

MAP_KEYS: Final = INTEGER_KEYS | {DataType.STRING}
"""The numbers of the types that the keys of a map may have (IR.md: integral types and string)."""

TYPED_FIELDS: Final = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
"""The fields of a TensorProto for values of one kind each."""

VALUE_FIELDS: Final = ("raw_data", *TYPED_FIELDS)
"""The fields of a TensorProto that hold values."""

DEFAULT_LOCATION, EXTERNAL_LOCATION = 0, 1
"""The members of TensorProto.DataLocation."""

MAX_INT64: Final = (1 << 63) - 1
"""The greatest number of elements of a tensor, since its dimensions are int64."""


class ElementType(Record):
    """One member of TensorProto.DataType."""

    number: int
    name: str
    """The name of the member in lower case."""
    bits: int
    """The width of an element in raw_data; 0 for strings, which cannot be in raw_data."""
    field: str
    """The typed field for the values."""
    entry_range: tuple[int, int] | None = None
    """The least and the greatest valid entry of the typed field; None if all entries are valid."""
    since: Since = FROM_THE_START
    """The IR version that introduced the type."""

    @property
    def is_complex(self) -> bool:
        """True if an element needs two entries of the typed field."""
        return self.name in {"complex64", "complex128"}

    @property
    def elements_per_entry(self) -> int:
        """The number of elements in one entry of the typed field: several for types of 2 and 4 bits."""
        return 8 // self.bits if self.bits in {2, 4} else 1

    @property
    def has_zero(self) -> bool:
        """True if the type has a value zero (or the empty string), in which no bit is set."""
        return self.name != "float8e8m0"

    def bytes_of(self, elements: int) -> int:
        """Return how many bytes of raw_data this number of elements needs."""
        return -(-elements * self.bits // 8)

    def entries_of(self, elements: int) -> int:
        """Return how many entries of the typed field this number of elements needs."""
        return 2 * elements if self.is_complex else -(-elements // self.elements_per_entry)


_BYTE = (0, 0xFF)
_TWO_BYTES = (0, 0xFFFF)
_PACKED_BYTE = (-128, 0xFF)
"""For packed elements only the low eight bits count. onnx 1.16 wrote entries of INT4 with their sign extended."""


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
    ElementType(16, "bfloat16", 16, "int32_data", _TWO_BYTES, Since(4, "TYP-D-bfloat16")),
    ElementType(17, "float8e4m3fn", 8, "int32_data", _BYTE, Since(9, "TYP-D-float8e4m3fn")),
    ElementType(18, "float8e4m3fnuz", 8, "int32_data", _BYTE, Since(9, "TYP-D-float8e4m3fn")),
    ElementType(19, "float8e5m2", 8, "int32_data", _BYTE, Since(9, "TYP-D-float8e4m3fn")),
    ElementType(20, "float8e5m2fnuz", 8, "int32_data", _BYTE, Since(9, "TYP-D-float8e4m3fn")),
    ElementType(21, "uint4", 4, "int32_data", _PACKED_BYTE, Since(10, "TYP-D-uint4")),
    ElementType(22, "int4", 4, "int32_data", _PACKED_BYTE, Since(10, "TYP-D-uint4")),
    ElementType(23, "float4e2m1", 4, "int32_data", _PACKED_BYTE, Since(11, "TYP-D-float4e2m1")),
    ElementType(24, "float8e8m0", 8, "int32_data", _BYTE, Since(12, "TYP-D-float8e8m0")),
    ElementType(25, "uint2", 2, "int32_data", _PACKED_BYTE, Since(13, "TYP-D-uint2")),
    ElementType(26, "int2", 2, "int32_data", _PACKED_BYTE, Since(13, "TYP-D-uint2")),
    ElementType(27, "float6e2m3", 6, "int32_data", (0, 0x3F), Since(14, "TYP-D-float6e2m3")),
    ElementType(28, "float6e3m2", 6, "int32_data", (0, 0x3F), Since(14, "TYP-D-float6e2m3")),
)
"""Every element type that a tensor can have, by its number."""

ELEMENT_TYPE_NAMES: Final = tuple([element.name for element in ELEMENT_TYPES.values()])
"""The names of the element types in the order of their numbers, beginning with 1."""


@functools.cache
def later_element_types(known: int) -> Mapping[int, ElementType]:
    """Return the element types that were introduced after the IR version `known`, by their numbers."""
    return {number: element for number, element in ELEMENT_TYPES.items() if element.since.ir_version > known}
