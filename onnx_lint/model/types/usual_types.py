# SPDX-License-Identifier: Apache-2.0
"""Types about which no rule has anything to say, known by their serialized form.

Nearly all types of nearly all models are such, and a thousand models have a few hundred of them between them: what is
known of one is kept for the next model.
"""

from __future__ import annotations

from typing import Final

from onnx_lint import schema
from onnx_lint.cached import remembered
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.ir_versions import FROM_THE_START

_OLD_ELEMENT_TYPES: Final = frozenset(
    [number for number, element in ELEMENT_TYPES.items() if element.since == FROM_THE_START]
)
"""The numbers of those that are as old as the format."""

_MAX_KEPT_BYTES: Final = 128
"""A longer type is hardly ever met again."""


def is_usual(serialized: bytes) -> bool:
    """Whether a TypeProto, or an absent one, is usual.

    That is one of a tensor with an element type that is as old as the format, sizes from 0 on, variables with a name
    that stands for one dimension, and no denotation.
    """
    return _kept(serialized) if len(serialized) <= _MAX_KEPT_BYTES else _is_usual(serialized)


def _is_usual(serialized: bytes) -> bool:
    proto = schema.opened("TypeProto", serialized)
    if proto.denotation or proto.WhichOneof("value") != "tensor_type":
        return not serialized
    tensor = proto.tensor_type
    return tensor.elem_type in _OLD_ELEMENT_TYPES and not any(
        dimension.dim_value < 0
        or dimension.denotation
        or (dimension.HasField("dim_param") and dimension.dim_param in ("", "*"))
        for dimension in tensor.shape.dim
    )


_kept = remembered(4_096)(_is_usual)
