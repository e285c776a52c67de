# SPDX-License-Identifier: Apache-2.0
"""Type strings as operator specifications print them: "tensor(float)", "map(int64, float)"."""

from __future__ import annotations

from typing import Final

ELEMENT_TYPES: Final = (
    "float",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "string",
    "bool",
    "float16",
    "double",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bfloat16",
    "float8e4m3fn",
    "float8e4m3fnuz",
    "float8e5m2",
    "float8e5m2fnuz",
    "uint4",
    "int4",
    "float4e2m1",
    "float8e8m0",
    "uint2",
    "int2",
    "float6e2m3",
    "float6e3m2",
)
"""Element types in the order of TensorProto.DataType, the first of which has the number 1."""

MAP_KEY_TYPES: Final = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string"})
"""Element types that a map's keys may have (IR.md: integral types and string)."""

_ELEMENTS: Final = frozenset(ELEMENT_TYPES)


def is_type_string(text: str) -> bool:
    """Whether a text is a type as specifications print it, with one space after a map's comma.

    A map's value is an element type, which stands for a tensor of it, or any type.
    """
    constructor, parenthesis, rest = text.partition("(")
    if not parenthesis or not rest.endswith(")"):
        return False
    argument = rest[:-1]
    match constructor:
        case "tensor" | "sparse_tensor":
            return argument in _ELEMENTS
        case "seq" | "optional":
            return is_type_string(argument)
        case "map":
            key, comma, value = argument.partition(", ")
            return bool(comma) and key in MAP_KEY_TYPES and (value in _ELEMENTS or is_type_string(value))
        case _:
            return False
