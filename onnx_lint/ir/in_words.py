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
"""The limit on dimensions in messages: a hostile tensor has a million, in each of many findings."""


def describe_element_type(code: int) -> str:
    """Return the name of a number of the enum TensorProto.DataType; the number if it has none."""
    if 0 < code <= len(ELEMENT_TYPE_NAMES):
        return ELEMENT_TYPE_NAMES[code - 1]
    return f"element type {code}" if code else "undefined"


def describe_type(proto: Proto) -> str:
    """Return a TypeProto for messages: `float[2,N,?]`, `seq(map(int64, float[]))`."""
    kind = proto.WhichOneof("value")
    match kind:
        case None:
            return "no type"
        case "sequence_type":
            return f"seq({describe_type(proto.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({describe_type(proto.optional_type.elem_type)})"
        case "map_type":
            return f"map({describe_element_type(proto.map_type.key_type)}, {describe_type(proto.map_type.value_type)})"
        case "opaque_type":
            return f"opaque({proto.opaque_type.domain},{proto.opaque_type.name})"
        case _:
            prefix = "sparse " if kind == "sparse_tensor_type" else ""
            tensor = getattr(proto, kind)
            name = f"{prefix}{describe_element_type(tensor.elem_type)}"
            if not tensor.HasField("shape"):
                return name
            dims = tensor.shape.dim
            return f"{name}{_brackets(map(_dimension, dims), len(dims))}"


def describe_tensor_type(element_type: int, dims: Sequence[int]) -> str:
    """Return the type of a tensor with these dimensions: `float[2,3]`."""
    return f"{describe_element_type(element_type)}{_brackets(map(str, dims), len(dims))}"


def describe_shape(dims: Sequence[int | str]) -> str:
    """Return the dimensions of a tensor: `[2,3]`."""
    shown = [str(dim) for dim in dims[:_MAX_SHOWN_DIMENSIONS]]
    return f"[{','.join(shown)}{',...' if len(dims) > len(shown) else ''}]"


def _brackets(dimensions: Iterable[str], count: int) -> str:
    """Return the first of `count` dimensions in brackets, and their number if there are more."""
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
