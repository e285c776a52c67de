# SPDX-License-Identifier: Apache-2.0
"""Types in the words of messages: `float[2, N, ?]`, `seq(map(int64, float (a scalar)))`."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.wording import MAX_DIMENSIONS, typed, unquoted


def describe_element_type(code: int) -> str:
    """Return the name of a number of the enum TensorProto.DataType; the number if it has none."""
    if 0 < code <= len(ELEMENT_TYPE_NAMES):
        return ELEMENT_TYPE_NAMES[code - 1]
    return f"element type {code}" if code else "undefined"


def describe_type(proto: Proto) -> str:
    """Return a TypeProto for messages: `float[2, N, ?]`, `seq(map(int64, float (a scalar)))`."""
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
            shown = map(_dimension, tensor.shape.dim[:MAX_DIMENSIONS])
            dims = list(shown) if tensor.HasField("shape") else None
            return typed(f"{prefix}{describe_element_type(tensor.elem_type)}", dims, len(tensor.shape.dim))


def describe_tensor_type(element_type: int, dims: Sequence[int]) -> str:
    """Return the type of a tensor with these dimensions: `float[2, 3]`."""
    return typed(describe_element_type(element_type), dims)


def _dimension(proto: Proto) -> int | str | None:
    """Return a dimension as a size, a variable, or None for an unknown one."""
    match proto.WhichOneof("value"):
        case "dim_value":
            return proto.dim_value  # type: ignore[no-any-return]
        case "dim_param":
            return unquoted(proto.dim_param)
        case _:
            return None
