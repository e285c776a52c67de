# SPDX-License-Identifier: Apache-2.0
"""What the initializers of a graph state, in columns.

A large graph has tens of thousands. To ask each message for its name, type, shape and number of bytes and to judge them
took 9 us a tensor; gathered by the parser of Protocol Buffers, and judged once for each kind, they take 1 us.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onnx_lint.record import Record
from onnx_lint.schema.columns import CHUNK, columns

Proto = Any

_PLAIN_FIELDS: Final = frozenset({"dims", "data_type", "name", "raw_data"})

_NO_DIMENSION: Final = -(1 << 62) - 20_170_907
"""Stands in `dims` between two tensors. That there are as many shapes as tensors proves that none of them has it."""


class Initializers(Record):
    """The dense initializers of one graph."""

    names: list[str]
    element_types: list[int]
    """The numbers of the element types; 0 where none is stated."""
    shapes: list[bytes]
    """The dimensions in serialized form, equal where they are; see `dimensions`."""
    raw_bytes: list[int]
    """The sizes of raw_data; 0 where it is not evident that there is no field but it, the name, the type, the shape."""


NO_INITIALIZERS: Final = Initializers([], [], [], [])


def initializers_of(protos: Sequence[Proto]) -> Initializers:
    """The columns of these TensorProtos."""
    if not protos:
        return NO_INITIALIZERS
    all_of_them = Initializers([], [], [], [])
    for start in range(0, len(protos), CHUNK):
        chunk = _chunk(protos[start : start + CHUNK])
        all_of_them.names.extend(chunk.names)
        all_of_them.element_types.extend(chunk.element_types)
        all_of_them.shapes.extend(chunk.shapes)
        all_of_them.raw_bytes.extend(chunk.raw_bytes)
    return all_of_them


def dimensions(shape: bytes) -> tuple[int, ...]:
    """The dimensions in one of the shapes."""
    return tuple(columns("TensorProto").FromString(shape).dims)


def _chunk(protos: Sequence[Proto]) -> Initializers:
    pieces = [proto.SerializePartialToString() for proto in protos]
    tensor = columns("TensorProto")
    between = tensor(dims=[_NO_DIMENSION]).SerializePartialToString()
    merged = tensor.FromString(between.join(pieces))
    names, element_types, raw_bytes = merged.name[:], merged.data_type[:], list(map(len, merged.raw_data))
    fields = {field.name for field, _ in merged.ListFields()}
    for field in fields - {"dims"}:
        merged.ClearField(field)
    # The second byte of what stands between them is above 127, so that it is found where it is a field, and only there.
    shapes = merged.SerializePartialToString().split(between)
    if len(shapes) != len(pieces):
        shapes = [_shape(piece) for piece in pieces]
    if len(names) == len(element_types) == len(raw_bytes) == len(pieces) and fields <= _PLAIN_FIELDS:
        return Initializers(names, element_types, shapes, raw_bytes)
    names = [proto.name for proto in protos]
    element_types = [proto.data_type for proto in protos]
    raw_bytes = [_lone_raw_bytes(*each) for each in zip(protos, pieces, shapes, strict=True)]
    return Initializers(names, element_types, shapes, raw_bytes)


def _shape(piece: bytes) -> bytes:
    tensor = columns("TensorProto")
    shape: bytes = tensor(dims=tensor.FromString(piece).dims).SerializePartialToString()
    return shape


def _lone_raw_bytes(proto: Proto, piece: bytes, shape: bytes) -> int:
    """The size of raw_data where the message is as long as it, name, type and shape make it, else 0."""
    count = len(proto.raw_data)
    if not count or not proto.name or not 0 < proto.data_type < 0x80:
        return 0  # a field that is not set might hide another one of the same length
    size = len(shape) + 2 + _record_bytes(len(proto.name.encode())) + _record_bytes(count)
    return count if len(piece) == size else 0


def _record_bytes(length: int) -> int:
    """How many bytes a field of so many takes up, with its tag and its length."""
    return 1 + -(-length.bit_length() // 7) + length
