# SPDX-License-Identifier: Apache-2.0
"""The facts that the initializers of a graph state, in columns: no message of a tensor is kept."""

from __future__ import annotations

from collections.abc import Sequence
from marshal import dumps
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.common.salted import WITHOUT_REFERENCES, salted_key
from onnx_lint.ir.columns.tensor_encodings import RAW_DATA, evident_size, is_evident, may_hold_nan
from onnx_lint.spec.element_types import FLOATING_TYPES


class Initializers(Record):
    """The dense initializers of one graph."""

    names: list[str]
    element_types: list[int]
    """The numbers of the element types; 0 if a tensor states none."""
    shapes: list[tuple[int, ...]]
    """The dimensions; for initializers of one element type, equal ones are one object."""
    doubtful: list[int]
    """The indices of those that are not evidently right, or have annotations."""
    may_be_nan: set[int]
    """The indices of those with floating-point numbers in the message that may be NaN."""


NO_INITIALIZERS: Final = Initializers([], [], [], [], set())


def initializers_of(tensors: Sequence[bytes]) -> Initializers:
    """Return the columns of these serialized TensorProtos."""
    if not tensors:
        return NO_INITIALIZERS
    found = Initializers([], [], [], [], set())
    names, element_types, shapes = found.names, found.element_types, found.shapes
    parsed = schema.message("TensorProto").FromString
    kinds: dict[bytes, tuple[tuple[int, ...], int]] = {}
    for index, piece in enumerate(tensors):
        proto = parsed(piece)
        name, element_type, shape = proto.name, proto.data_type, tuple(proto.dims)
        names.append(name)
        element_types.append(element_type)
        key = dumps((element_type, shape), WITHOUT_REFERENCES)  # `salted_key` without a call for each initializer
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = shape, evident_size(element_type, shape)
        shape, size = kind
        shapes.append(shape)
        fields = proto.ListFields()
        # These are as many as name, type, shape and raw_data, which is the last of them.
        has_raw = name and len(fields) == 3 + bool(shape) and fields[-1][0] is RAW_DATA
        raw = fields[-1][1] if has_raw else b""
        is_plain = len(raw) == size
        if not is_plain and not is_evident(proto):
            found.doubtful.append(index)
        if element_type in FLOATING_TYPES and may_hold_nan(element_type, raw if is_plain else piece, is_raw=is_plain):
            found.may_be_nan.add(index)
    return found


_types: Final[Memory[bytes, bytes]] = Memory(1_000)


def serialized_type(element_type: int, shape: tuple[int, ...]) -> bytes:
    """Return the TypeProto of initializers of an element type and a shape, as writers serialize it."""
    key = salted_key((element_type, shape))
    return _types.get(key) or _types.keep(key, _serialized_type(element_type, shape))


def _serialized_type(element_type: int, shape: tuple[int, ...]) -> bytes:
    made = schema.message("TypeProto")()
    made.tensor_type.elem_type = element_type
    made.tensor_type.shape.SetInParent()
    for size in shape:
        made.tensor_type.shape.dim.add().dim_value = size
    serialized: bytes = made.SerializeToString()
    return serialized
