# SPDX-License-Identifier: Apache-2.0
"""Values that the loader left in the source: their number and the values themselves, read in bounded pieces.

A payload is the content of raw_data, the content of one packed field, or a run of whole records of one field. numpy is
imported only when a payload is read: a model without payloads never needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.input.source import Source
from onnx_lint.ir.payload import Payload
from onnx_lint.schema import wire

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Array = NDArray[Any]

PIECE_BYTES = 1 << 22
"""The number of bytes of a payload in memory at once."""

VARINT_PIECE_BYTES = 1 << 15
"""The same for varints. Each of their bytes becomes a number of eight bytes: a piece fits its cache."""

_FIXED_TYPES: Final = {"float_data": "<f4", "double_data": "<f8", "floats": "<f4"}
_FIXED_BYTES: Final = {"float_data": 4, "double_data": 8, "floats": 4}
_VARINT_TYPES: Final = {"int32_data": "int32", "int64_data": "int64", "uint64_data": "uint64", "ints": "int64"}
"""The fields of tensors, and the lists of attributes."""


class Reading:
    """The number of bytes of payloads that this process has read, for whoever shows progress."""

    bytes_read = 0


def byte_pieces(source: Source, offset: int, length: int, most: int) -> Iterator[bytes]:
    """Yield the bytes from `offset` on in pieces of `most`, the last one shorter; fewer if the file has shrunk."""
    end = offset + length
    while offset < end:
        piece = _read(source, offset, min(most, end - offset))
        if not piece:
            return
        yield piece
        offset += len(piece)


def _read(source: Source, offset: int, length: int) -> bytes:
    """Return the bytes at a position, and count them for whoever shows progress."""
    data = source.read_at(offset, length)
    Reading.bytes_read += len(data)
    return data


# --- how many


def count_entries(source: Source, payload: Payload) -> int:
    """Return the number of entries in a payload of any field except string_data.

    Entries of raw_data are bytes. Only varints and unpacked records must be read for that.
    """
    if payload.field == "raw_data":
        return payload.length
    if payload.field in _VARINT_TYPES:
        varints = _count_varints(source, payload)
        # In a run each value follows its tag, which is a varint as well.
        return varints if payload.packed else varints // 2
    size = _FIXED_BYTES[payload.field]
    if payload.packed:
        return payload.length // size
    return sum(len(piece) for piece in _fixed_run(source, payload, size)) // size


def _count_varints(source: Source, payload: Payload) -> int:
    import numpy as np

    count = 0
    for piece in byte_pieces(source, payload.offset, payload.length, PIECE_BYTES):
        count += int(np.count_nonzero(np.frombuffer(piece, np.int8) >= 0))
    return count


# --- values


def entry_pieces(source: Source, payload: Payload) -> Iterator[Array]:
    """Yield the entries of a payload of a numeric typed field, as arrays of the type of the field."""
    import numpy as np

    if payload.field in _VARINT_TYPES:
        yield from _varints(source, payload)
        return
    size = _FIXED_BYTES[payload.field]
    if payload.packed:
        pieces = byte_pieces(source, payload.offset, payload.length - payload.length % size, PIECE_BYTES)
    else:
        pieces = _fixed_run(source, payload, size)
    for piece in pieces:
        yield np.frombuffer(piece[: len(piece) - len(piece) % size], _FIXED_TYPES[payload.field])


def array_of(listed: Sequence[Any], field: str) -> Array:
    """Return parsed entries of a numeric typed field as an array of the type of the field."""
    import numpy as np

    return np.fromiter(listed, _FIXED_TYPES.get(field) or _VARINT_TYPES[field], len(listed))


def _fixed_run(source: Source, payload: Payload, size: int) -> Iterator[bytes]:
    """Yield the values of a run of unpacked records without their tags."""
    import numpy as np

    message = "AttributeProto" if payload.field == "floats" else "TensorProto"
    field = wire.fields_by_name(message)[payload.field]
    tag = field.number << 3 | field.wire_type
    step = 1 + size
    most = PIECE_BYTES - PIECE_BYTES % step
    position, end = payload.offset, payload.offset + payload.length
    while position < end:
        piece = _read(source, position, min(most, end - position))
        rows = np.frombuffer(piece[: len(piece) - len(piece) % step], np.uint8).reshape(-1, step)
        if not len(rows) or (rows[:, 0] != tag).any():
            break  # a tag in more bytes than necessary
        yield rows[:, 1:].tobytes()
        position = wire.advanced(position, position + rows.size)
    for _, _, _, value, following in wire.records(source, position, end):
        yield _read(source, value, following - value)


def _varints(source: Source, payload: Payload) -> Iterator[Array]:
    import numpy as np

    carried = b""
    for piece in byte_pieces(source, payload.offset, payload.length, VARINT_PIECE_BYTES):
        data = np.frombuffer(carried + piece, np.uint8)
        ends = np.flatnonzero(data < 0x80)
        if not payload.packed:
            ends = ends[: len(ends) // 2 * 2]
        whole = int(ends[-1]) + 1 if len(ends) else 0
        carried = data[whole:].tobytes()
        if len(carried) >= 2 * wire.MAX_VARINT_BYTES:
            return  # no varints; without a limit the rest would be read again and again
        values = _packed_varints(data[:whole], ends) if payload.packed else _tagged_varints(data[:whole], ends)
        yield values.astype(_VARINT_TYPES[payload.field])  # keeps the low bits, as parsers do


def _packed_varints(data: Array, ends: Array) -> NDArray[numpy.uint64]:
    """Return the varints that end at these positions."""
    import numpy as np

    if len(ends) == len(data):  # each has one byte
        return data.astype(np.uint64)
    return _decoded(data, _starts(ends), ends)


def _tagged_varints(data: Array, ends: Array) -> NDArray[numpy.uint64]:
    """Return the second of each two varints: the first is the tag."""
    return _decoded(data, _starts(ends)[1::2], ends[1::2])


def _starts(ends: Array) -> Array:
    """Return where varints begin that end at these positions, one after the other."""
    import numpy as np

    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    return starts


def _decoded(data: Array, starts: Array, ends: Array) -> NDArray[numpy.uint64]:
    """Return the varints with these first and last bytes."""
    import numpy as np

    values = data[starts].astype(np.uint64) & np.uint64(0x7F)
    longest = int((ends - starts).max(initial=0))
    for place in range(1, min(longest, wire.MAX_VARINT_BYTES - 1) + 1):
        more = np.flatnonzero(ends - starts >= place)
        bits = data[starts[more] + place].astype(np.uint64) & np.uint64(0x7F)
        values[more] |= bits << np.uint64(7 * place)
    return values


def last_varint(source: Source, payload: Payload) -> int:
    """Return the last value of a payload of varints, unsigned."""
    tail = min(payload.length, wire.MAX_VARINT_BYTES)
    data = _read(source, payload.offset + payload.length - tail, tail)
    start = len(data) - 1
    while start > 0 and data[start - 1] >= 0x80:
        start -= 1
    return wire.decode_varint(data, start)[0]
