# SPDX-License-Identifier: Apache-2.0
"""Types of values, written as in operator specifications: "tensor(float)", "seq(map(int64, float))".

A type is a string, so that comparing types and looking them up is cheap. A value whose type is unknown, in full or in
part, has the type None; an omitted input has the type ABSENT. A type does not include a shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from onnx_lint.common.cached import remembered
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES

ValueType = str

ABSENT: Final[ValueType] = ""
"""Placeholder type of an omitted optional input."""

TENSORS: Final[tuple[ValueType | None, ...]] = (None, *(f"tensor({element})" for element in ELEMENT_TYPE_NAMES))
"""The tensor type of each number of the enum TensorProto.DataType; None for 0."""

BOOL: Final[ValueType] = "tensor(bool)"
INT32: Final[ValueType] = "tensor(int32)"
INT64: Final[ValueType] = "tensor(int64)"
FLOAT: Final[ValueType] = "tensor(float)"
DOUBLE: Final[ValueType] = "tensor(double)"
STRING: Final[ValueType] = "tensor(string)"
UINT8: Final[ValueType] = "tensor(uint8)"
BFLOAT16: Final[ValueType] = "tensor(bfloat16)"
FLOAT16: Final[ValueType] = "tensor(float16)"
UINT32: Final[ValueType] = "tensor(uint32)"

FLOATS: Final[frozenset[ValueType]] = frozenset({BFLOAT16, DOUBLE, FLOAT, FLOAT16})
"""The floating-point types in which models compute: those that may be converted to each other."""


def tensor_of(code: int) -> ValueType | None:
    """Return the type of a dense tensor by the number of its element type; None for 0 and unknown numbers."""
    return TENSORS[code] if 0 < code < len(TENSORS) else None


def sequence_of(element: ValueType | None) -> ValueType | None:
    """Return the type of a sequence with this element type."""
    return f"seq({element})" if element else None


def optional_of(element: ValueType | None) -> ValueType | None:
    """Return the optional type with this content."""
    return f"optional({element})" if element else None


def sequence_element(kind: ValueType | None) -> ValueType | None:
    """Return the element type of a sequence type; None for any other type."""
    return _argument(kind, "seq(")


def optional_element(kind: ValueType | None) -> ValueType | None:
    """Return the content of an optional type; None for any other type."""
    return _argument(kind, "optional(")


def constructor_of(kind: ValueType | None) -> str:
    """Return the constructor of a type, for example "seq"; empty for an unknown type."""
    return "" if kind is None else kind.partition("(")[0]


def is_optional(kind: ValueType) -> bool:
    """Return whether the type is an optional type."""
    return kind.startswith("optional(")


def fits_after_optional(pattern: str, allowed: Iterable[ValueType]) -> bool:
    """Return whether one of the allowed types remains if a type is wrapped into an optional type, or unwrapped.

    `pattern`: the type; a `?` in it stands for any rest.
    """
    inner = pattern[len("optional(") : -1] if is_optional(pattern) else f"optional({pattern})"
    beginning = inner.partition("?")[0]
    return any(kind.startswith(beginning) for kind in allowed)


def tensor_element(kind: ValueType | None) -> str | None:
    """Return the element type of a dense tensor type; None for any other type."""
    return _argument(kind, "tensor(")


def map_value(kind: ValueType | None) -> ValueType | None:
    """Return the type of a map's values, as a tensor for an element type; None for any other type."""
    inner = _argument(kind, "map(")
    if inner is None:
        return None
    _, _, value = inner.partition(", ")
    return value if "(" in value else f"tensor({value})"


def map_of(key: str, value: ValueType) -> ValueType:
    """Return the type of a map. A value that is a dense tensor is written as its element type, as specifications do."""
    return f"map({key}, {_argument(value, 'tensor(') or value})"


def from_proto(proto: Any) -> ValueType | None:
    """Return the type in a TypeProto; None if it has none, or lacks or misstates a part of it."""
    # The default of an absent type is 0, so another number means that this case is set; most types are tensors.
    code = proto.tensor_type.elem_type
    if code:
        return tensor_of(code)
    case = proto.WhichOneof("value")
    match case:
        case "sequence_type":
            return sequence_of(from_proto(proto.sequence_type.elem_type))
        case "optional_type":
            return optional_of(from_proto(proto.optional_type.elem_type))
        case "sparse_tensor_type":
            dense = tensor_of(proto.sparse_tensor_type.elem_type)
            return f"sparse_{dense}" if dense else None
        case "map_type":
            key = tensor_element(tensor_of(proto.map_type.key_type))
            value = from_proto(proto.map_type.value_type)
            return map_of(key, value) if key and value else None
        case "opaque_type":
            return f"opaque({proto.opaque_type.domain},{proto.opaque_type.name})"
        case _:
            return None


@remembered(1_000)
def canonical(types: frozenset[str]) -> frozenset[ValueType]:
    """Return the types of a signature as this module writes them: map values that are tensors as their element type."""
    return frozenset(_canonical(kind) if "map(" in kind else kind for kind in types)


def _canonical(kind: str) -> ValueType:
    constructor, _, rest = kind.partition("(")
    argument = rest[:-1]
    match constructor:
        case "map":
            key, _, value = argument.partition(",")
            return map_of(key.strip(), _canonical(value.strip()))
        case "seq" | "optional":
            return f"{constructor}({_canonical(argument)})"
        case _:
            return kind


def _argument(kind: ValueType | None, constructor: str) -> ValueType | None:
    return kind[len(constructor) : -1] if kind is not None and kind.startswith(constructor) else None


def describe_types(types: Iterable[ValueType]) -> str:
    """Return a set of types for a finding, with element types grouped by their constructor."""
    grouped: dict[str, list[str]] = {}
    for kind in sorted(types):
        constructor, _, element = ("", "", kind) if "map(" in kind else kind.rpartition("(")
        grouped.setdefault(constructor, []).append(element.rstrip(")") if constructor else element)
    return ", ".join(_group(constructor, elements) for constructor, elements in grouped.items())


def _group(constructor: str, elements: list[str]) -> str:
    if not constructor:
        return ", ".join(elements)
    return f"{constructor}({', '.join(elements)}{')' * (constructor.count('(') + 1)}"
