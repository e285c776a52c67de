# SPDX-License-Identifier: Apache-2.0
"""The facts that the initializers of a graph state, in columns.

A large graph has tens of thousands. Their names, types, shapes and numbers of bytes are gathered by the parser of
Protocol Buffers (docs/performance.md: gathered-fields), and judged once for each kind.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.ir.columns.gather import CHUNK, dimensions
from onnx_lint.schema.wire import CONTINUED_BYTES, decode_varint

_PLAIN_FIELDS: Final = frozenset({"dims", "data_type", "name", "raw_data"})

_NO_DIMENSION: Final = -(1 << 62) - 20_170_907
"""Separates two tensors in `dims`. If there are as many shapes as tensors, none of them contains it."""


_TYPE, _NAME = 0x10, 0x42
"""The tags of data_type and name in a TensorProto."""

_VALUES: Final = {
    0x22: ("float_data", 4),
    0x2A: ("int32_data", 0),
    0x3A: ("int64_data", 0),
    0x4A: ("raw_data", 1),
    0x52: ("double_data", 8),
    0x5A: ("uint64_data", 0),
}
"""By their tags the fields for values but strings, and how many bytes an entry has; 0 for varints."""


class Initializers(Record):
    """The dense initializers of one graph."""

    names: list[str]
    element_types: list[int]
    """The numbers of the element types; 0 if a tensor states none."""
    shapes: list[bytes]
    """The dimensions in serialized form; equal dimensions have equal bytes. See
    `onnx_lint.ir.columns.gather.dimensions`.
    """
    fields: list[str]
    """The fields that hold values; empty unless it is evident that all other fields are name, type and shape."""
    entries: list[int]
    """The number of entries in that field, bytes for raw_data."""
    greatest: list[int]
    """The greatest of integers as entries, where all are from 0 to 127; else -1, of raw_data always."""


def _empty() -> Initializers:
    return Initializers([], [], [], [], [], [])


NO_INITIALIZERS: Final = _empty()


def initializers_of(tensors: Sequence[bytes]) -> Initializers:
    """Return the columns of these serialized TensorProtos."""
    if not tensors:
        return NO_INITIALIZERS
    found = _empty()
    shared: dict[bytes, bytes] = {}
    for start in range(0, len(tensors), CHUNK):
        _add(found, tensors[start : start + CHUNK], shared)
    return found


def _add(found: Initializers, pieces: Sequence[bytes], shared: dict[bytes, bytes]) -> None:
    tensor = schema.columns("TensorProto")
    between = _between()
    merged = tensor.FromString(between.join(pieces))
    names, element_types, raw_bytes = merged.name[:], merged.data_type[:], list(map(len, merged.raw_data))
    fields = {field.name for field, _ in merged.ListFields()}
    for field in fields - {"dims"}:
        merged.ClearField(field)
    # The second byte of the separator is above 127, so that it is found only where it is a field.
    shapes = merged.SerializePartialToString().split(between)
    count = len(pieces)
    if len(shapes) != count:
        shapes = [_shape(piece) for piece in pieces]
    if len(names) != count or len(element_types) != count:
        tensors = list(map(schema.message("TensorProto").FromString, pieces))
        names = [each.name for each in tensors]
        element_types = [each.data_type for each in tensors]
        fields.clear()
    found.names.extend(names)
    found.element_types.extend(element_types)
    found.shapes.extend(map(shared.setdefault, shapes, shapes))
    if len(raw_bytes) == count and fields and fields <= _PLAIN_FIELDS:
        found.fields.extend(["raw_data"] * count)
        found.entries.extend(raw_bytes)
        found.greatest.extend([-1] * count)
        return
    for piece, shape in zip(pieces, shapes, strict=True):
        field, entries, greatest = _values(piece, len(shape))
        found.fields.append(field)
        found.entries.append(entries)
        found.greatest.append(greatest)


@functools.cache
def _between() -> bytes:
    """Return the separator of two tensors."""
    made: bytes = schema.columns("TensorProto")(dims=[_NO_DIMENSION]).SerializePartialToString()
    return made


def _shape(piece: bytes) -> bytes:
    tensor = schema.columns("TensorProto")
    shape: bytes = tensor(dims=tensor.FromString(piece).dims).SerializePartialToString()
    return shape


_NOT_EVIDENT: Final = ("", 0, -1)


def _values(piece: bytes, position: int) -> tuple[str, int, int]:
    """Return the field with the values of a serialized tensor whose shape ends at `position`, its entries and the
    greatest.
    """
    if piece[position : position + 1] != bytes((_TYPE,)) or piece[position + 1] >= 0x80:
        return _NOT_EVIDENT  # no type, or a number above those of all element types
    position += 2
    found = _NOT_EVIDENT
    while position < len(piece):
        tag = piece[position]
        length, start = piece[position + 1], position + 2
        if length >= 0x80:
            length, start = decode_varint(piece, position + 1)
        position = start + length
        if tag in _VALUES and found is _NOT_EVIDENT:
            found = _counted(*_VALUES[tag], piece[start:position])
        elif tag != _NAME:
            return _NOT_EVIDENT
    return found


def _counted(field: str, entry_bytes: int, content: bytes) -> tuple[str, int, int]:
    if entry_bytes:
        return field, len(content) // entry_bytes, -1
    if content.isascii():
        return field, len(content), max(content, default=-1)
    return field, len(content.translate(None, CONTINUED_BYTES)), -1


@remembered(1_000)
def serialized_type(of: tuple[int, bytes]) -> bytes:
    """Return the TypeProto of initializers of an element type and a shape, as writers serialize
    it; both as in columns.
    """
    made = schema.message("TypeProto")()
    made.tensor_type.elem_type = of[0]
    made.tensor_type.shape.SetInParent()
    for size in dimensions(of[1]):
        made.tensor_type.shape.dim.add().dim_value = size
    serialized: bytes = made.SerializeToString()
    return serialized
