# SPDX-License-Identifier: Apache-2.0
"""Types and shapes in the words of messages: `float[2,N,?]`, `seq(map(int64, float[]))`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.wording import quote

_MAX_SHOWN_DIMENSIONS: Final = 8
"""Of more dimensions the first are shown: a hostile tensor has a million, in each of many findings."""


def element_type_name(code: int) -> str:
    """The name of a number of the enum TensorProto.DataType, the number where it has none."""
    if 0 < code <= len(ELEMENT_TYPE_NAMES):
        return ELEMENT_TYPE_NAMES[code - 1]
    return f"element type {code}" if code else "undefined"


def describe_type(proto: Proto) -> str:
    """A TypeProto for messages: `float[2,N,?]`, `seq(map(int64, float[]))`."""
    kind = proto.WhichOneof("value")
    match kind:
        case None:
            return "no type"
        case "sequence_type":
            return f"seq({describe_type(proto.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({describe_type(proto.optional_type.elem_type)})"
        case "map_type":
            return f"map({element_type_name(proto.map_type.key_type)}, {describe_type(proto.map_type.value_type)})"
        case "opaque_type":
            return f"opaque({proto.opaque_type.domain},{proto.opaque_type.name})"
        case _:
            prefix = "sparse " if kind == "sparse_tensor_type" else ""
            tensor = getattr(proto, kind)
            name = f"{prefix}{element_type_name(tensor.elem_type)}"
            if not tensor.HasField("shape"):
                return name
            dims = tensor.shape.dim
            return f"{name}{_brackets(map(_dimension, dims), len(dims))}"


def describe_tensor_type(element_type: int, dims: Sequence[int]) -> str:
    """The type of a tensor with these dimensions: `float[2,3]`."""
    return f"{element_type_name(element_type)}{_brackets(map(str, dims), len(dims))}"


def describe_shape(dims: Sequence[int]) -> str:
    """The dimensions of a tensor: `[2,3]`."""
    shown = [str(dim) for dim in dims[:_MAX_SHOWN_DIMENSIONS]]
    return f"[{','.join(shown)}{',...' if len(dims) > len(shown) else ''}]"


def _brackets(dimensions: Iterable[str], count: int) -> str:
    """The first of `count` dimensions in brackets, and how many there are where that is more."""
    shown = list(islice(dimensions, _MAX_SHOWN_DIMENSIONS))
    if count > len(shown):
        shown.append(f"... {count} dimensions")
    return f"[{','.join(shown)}]"


def _dimension(proto: Proto) -> str:
    match proto.WhichOneof("value"):
        case "dim_value":
            return str(proto.dim_value)
        case "dim_param":
            return quote(proto.dim_param)[1:-1]
        case _:
            return "?"
