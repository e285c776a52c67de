# SPDX-License-Identifier: Apache-2.0
"""Type strings as operator specifications print them: "tensor(float)", "map(int64, float)"."""

from __future__ import annotations

from typing import Final

from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES, ELEMENT_TYPES, MAP_KEYS

MAP_KEY_TYPES: Final = frozenset([ELEMENT_TYPES[number].name for number in MAP_KEYS])
"""The element types that the keys of a map may have."""

_ELEMENTS: Final = frozenset(ELEMENT_TYPE_NAMES)


def is_type_string(text: str) -> bool:
    """Return whether a text is a type as specifications print it, with one space after a map's comma.

    A map's value is any type, or an element type, which means a tensor of it.
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
