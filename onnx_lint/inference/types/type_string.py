# SPDX-License-Identifier: Apache-2.0
"""Types of values, written as operator specifications write them: "tensor(float)", "seq(map(int64, float))".

A type is a string, so that comparing two and looking one up among those that an operator allows cost next to nothing.
A value whose type is not known, or known in part only, has the type None; an omitted input has the type ABSENT.
Shapes are no part of a type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from onnx_lint.common.cached import remembered
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES

ValueType = str

ABSENT: Final[ValueType] = ""
"""What stands for the type of an input that the node leaves out."""

TENSORS: Final[tuple[ValueType | None, ...]] = (None, *(f"tensor({element})" for element in ELEMENT_TYPE_NAMES))
"""The tensor type of each number of the enum TensorProto.DataType; 0 stands for no type."""

BOOL: Final[ValueType] = "tensor(bool)"
INT32: Final[ValueType] = "tensor(int32)"
INT64: Final[ValueType] = "tensor(int64)"
FLOAT: Final[ValueType] = "tensor(float)"
DOUBLE: Final[ValueType] = "tensor(double)"
STRING: Final[ValueType] = "tensor(string)"
UINT8: Final[ValueType] = "tensor(uint8)"
UINT32: Final[ValueType] = "tensor(uint32)"


def tensor_of(code: int) -> ValueType | None:
    """The type of a dense tensor by the number of its element type; None for 0 and numbers without a meaning."""
    return TENSORS[code] if 0 < code < len(TENSORS) else None


def sequence_of(element: ValueType | None) -> ValueType | None:
    """The type of a sequence of such elements."""
    return f"seq({element})" if element else None


def optional_of(element: ValueType | None) -> ValueType | None:
    """The optional type of such an element."""
    return f"optional({element})" if element else None


def sequence_element(kind: ValueType | None) -> ValueType | None:
    """The type of a sequence's elements; None for what is no sequence."""
    return _argument(kind, "seq(")


def optional_element(kind: ValueType | None) -> ValueType | None:
    """The type in an optional type; None for what is none."""
    return _argument(kind, "optional(")


def is_optional(kind: ValueType) -> bool:
    """Whether the type is an optional type."""
    return kind.startswith("optional(")


def map_value(kind: ValueType | None) -> ValueType | None:
    """The type of a map's values, a tensor where they are of an element type; None for what is no map."""
    inner = _argument(kind, "map(")
    if inner is None:
        return None
    value = inner.partition(", ")[2]
    return value if "(" in value else f"tensor({value})"


def map_of(key: str, value: ValueType) -> ValueType:
    """The type of a map: a value that is a dense tensor is written as its element type, as specifications do."""
    return f"map({key}, {_argument(value, 'tensor(') or value})"


def from_proto(proto: Any) -> ValueType | None:
    """The type that a TypeProto states; None where it states none, or leaves out or mistakes a part of it."""
    # The default of an absent type is 0, so a number means that this case of the type is set; most types are tensors.
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
            key = tensor_of(proto.map_type.key_type)
            value = from_proto(proto.map_type.value_type)
            return map_of(key[len("tensor(") : -1], value) if key and value else None
        case "opaque_type":
            return f"opaque({proto.opaque_type.domain},{proto.opaque_type.name})"
        case _:
            return None


@remembered(1_000)
def canonical(types: frozenset[str]) -> frozenset[ValueType]:
    """Types of a signature as this module writes them: a map's value that is spelt as a tensor loses that."""
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
    """A set of types for a finding: element types gathered behind their constructor."""
    grouped: dict[str, list[str]] = {}
    for kind in sorted(types):
        constructor, _, element = ("", "", kind) if "map(" in kind else kind.rpartition("(")
        grouped.setdefault(constructor, []).append(element.rstrip(")") if constructor else element)
    return ", ".join(_group(constructor, elements) for constructor, elements in grouped.items())


def _group(constructor: str, elements: list[str]) -> str:
    if not constructor:
        return ", ".join(elements)
    return f"{constructor}({', '.join(elements)}{')' * (constructor.count('(') + 1)}"
