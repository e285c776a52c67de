# SPDX-License-Identifier: Apache-2.0
"""Finds the faults of packed lists of numbers, which may have a hundred million elements."""

from __future__ import annotations

from typing import Final

from onnx_lint.input.source import Source
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

_PIECE_BYTES: Final = 1 << 20
"""The number of bytes of a list in memory at once."""

_CONTINUED: Final = bytes(0x80) + b"\1" * 0x80
"""For each byte whether the varint continues after it."""

_OVERLONG: Final = b"\1" * wire.MAX_VARINT_BYTES
"""With that many continuation bytes, a varint has more than MAX_VARINT_BYTES."""


def check_packed(source: Source, field: wire.Field, start: int, end: int) -> None:
    """Check the content of a packed list of `field` from `start` to `end`.

    Raises WireError if it ends inside a number, or has a varint that is too long.
    """
    size = wire.FIXED_BYTES.get(field.wire_type)
    if size is not None:
        surplus = (end - start) % size
        if surplus:
            raise WireError("number", end - surplus, f"the packed list {field.name} ends inside a number")
    elif field.wire_type == WireType.VARINT:
        _check_varints(source, field, start, end)


def _check_varints(source: Source, field: wire.Field, start: int, end: int) -> None:
    position = start
    carried = b""
    while position < end:
        piece = source.read_at(position, min(_PIECE_BYTES, end - position))
        if not piece:
            raise WireError("truncated", position, "the file became shorter while it was read")
        if not (piece.isascii() and not carried):
            data = carried + piece.translate(_CONTINUED)
            first = data.find(_OVERLONG)
            if first >= 0:
                offset = position - len(carried) + first
                raise WireError("number", offset, f"a number of the packed list {field.name} has more than ten bytes")
            carried = data[data.rfind(b"\0", -wire.MAX_VARINT_BYTES) + 1 :][-wire.MAX_VARINT_BYTES :]
        position = wire.advanced(position, position + len(piece))
    if carried:
        raise WireError("number", end - len(carried), f"the packed list {field.name} ends inside a number")
