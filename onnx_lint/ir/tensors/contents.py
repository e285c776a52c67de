# SPDX-License-Identifier: Apache-2.0
"""The values of a tensor, searched in bounded pieces with numpy.

A message has at most some megabytes of values, since the loader leaves the others in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import Record
from onnx_lint.ir.tensors.stored_tensor import StoredTensor
from onnx_lint.ir.tensors.wire_values import (
    PIECE_BYTES,
    array_of,
    byte_pieces,
    entry_pieces,
    last_varint,
)
from onnx_lint.spec.element_types import ElementType
from onnx_lint.wording import MAX_LISTED_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_NOT_BOOLEAN: Final = rb"[^\x00\x01]"

_RAW_PIECE_BYTES: Final = PIECE_BYTES - PIECE_BYTES % 48
"""Whole elements of every width fill a piece."""


Outlier = tuple[int, int]
"""The index and the value of an entry with a fault."""


class Outliers(Record):
    """The number of entries with a fault, and the first of them."""

    count: int
    index: int
    value: int

    @property
    def first(self) -> Outlier:
        """The first of them."""
        return self.index, self.value


def raw_pieces(tensor: StoredTensor) -> Iterator[bytes]:
    """Yield the bytes of raw_data in pieces of whole elements."""
    raw: bytes = tensor.proto.raw_data
    payloads = tensor.payloads("raw_data")
    if raw or not payloads:
        yield raw
        return
    yield from byte_pieces(tensor.source, payloads[-1].offset, payloads[-1].length, _RAW_PIECE_BYTES)


def entries(tensor: StoredTensor, field: str) -> Iterator[Array]:
    """Yield the entries of a numeric typed field: those in the message, then those in the source."""
    listed = getattr(tensor.proto, field)
    if listed:
        yield array_of(listed, field)
    for payload in tensor.payloads(field):
        yield from entry_pieces(tensor.source, payload)


# --- ranges


def outside(tensor: StoredTensor, field: str, least: int, greatest: int) -> Outliers | None:
    """Return the entries of a typed field below `least` or above `greatest`; None if there are none."""
    listed = getattr(tensor.proto, field)
    if listed and least <= min(listed) <= max(listed) <= greatest and not tensor.payloads(field):
        return None  # without numpy, as for models of 16-bit numbers
    found: Outliers | None = None
    for start, piece, places in _places_outside(tensor, field, least, greatest):
        first = int(places[0])
        found = _joined(found, Outliers(len(places), first, int(piece[first])), start)
    return found


def all_outside(tensor: StoredTensor, field: str, least: int, greatest: int) -> Sequence[Outlier]:
    """Return the first of these entries."""
    return _most(
        (start + int(place), int(piece[place]))
        for start, piece, places in _places_outside(tensor, field, least, greatest)
        for place in places
    )


def _most(found: Iterable[Outlier]) -> Sequence[Outlier]:
    return list(islice(found, MAX_LISTED_ELEMENTS))


def _places_outside(tensor: StoredTensor, field: str, least: int, greatest: int) -> Iterator[tuple[int, Array, Array]]:
    """Yield the pieces with such entries: the index of the first entry, all entries, and the places of these."""
    start = 0
    for piece in entries(tensor, field):
        # A bound below 0 does not fit an array of unsigned numbers, and excludes none of them.
        wrong = ((piece < max(least, 0)) if piece.dtype.kind == "u" else (piece < least)) | (piece > greatest)
        places = wrong.nonzero()[0]
        if places.size:
            yield start, piece, places
        start += len(piece)


def _joined(found: Outliers | None, more: Outliers, start: int) -> Outliers:
    if found is None:
        return Outliers(more.count, start + more.index, more.value)
    return Outliers(found.count + more.count, found.index, found.value)


def non_boolean_bytes(tensor: StoredTensor) -> Outliers | None:
    """Return the bytes of raw_data other than 0 and 1; None if there are none."""
    found: Outliers | None = None
    start = 0
    for piece in raw_pieces(tensor):
        wrong = len(piece.translate(None, b"\0\1"))
        if wrong:
            match = re.search(_NOT_BOOLEAN, piece)
            assert match is not None
            found = _joined(found, Outliers(wrong, match.start(), piece[match.start()]), start)
        start += len(piece)
    return found


def all_non_boolean_bytes(tensor: StoredTensor) -> Sequence[Outlier]:
    """Return the first of these bytes."""
    return _most(_non_boolean(tensor))


def _non_boolean(tensor: StoredTensor) -> Iterator[Outlier]:
    start = 0
    for piece in raw_pieces(tensor):
        yield from ((start + match.start(), piece[match.start()]) for match in re.finditer(_NOT_BOOLEAN, piece))
        start += len(piece)


# --- the end


def last_byte(tensor: StoredTensor) -> int | None:
    """Return the last byte of raw_data; None if it is empty."""
    payloads = tensor.payloads("raw_data")
    raw = tensor.proto.raw_data
    if not raw and payloads:
        raw = tensor.source.read_at(payloads[-1].offset + payloads[-1].length - 1, 1)
    return raw[-1] if raw else None


def last_entry(tensor: StoredTensor) -> int | None:
    """Return the last entry of int32_data; None if it is empty."""
    payloads = tensor.payloads("int32_data")
    if payloads:
        low = last_varint(tensor.source, payloads[-1]) & 0xFFFF_FFFF
        return low - (1 << 32) if low >> 31 else low
    listed = tensor.proto.int32_data
    return int(listed[-1]) if listed else None


# --- default values


def default_values(tensor: StoredTensor, field: str, element: ElementType) -> Outliers | None:
    """Return the elements that are zero or the empty string; None if there are none. -0.0 does not count as zero."""
    if field == "string_data":
        empty = tensor.strings.empty
        return Outliers(empty.count, empty.first.index, 0) if empty.count else None
    found: Outliers | None = None
    for start, flags in _default_flags(tensor, field, element):
        found = _joined(found, Outliers(int(flags.sum()), int(flags.argmax()), 0), start)
    return found


def all_default_values(tensor: StoredTensor, field: str, element: ElementType) -> Sequence[Outlier]:
    """Return the first of these elements."""
    if field == "string_data":
        return [(each.index, 0) for each in tensor.strings.empty.listed]
    return _most(
        (start + int(place), 0)
        for start, flags in _default_flags(tensor, field, element)
        for place in flags.nonzero()[0]
    )


def _default_flags(tensor: StoredTensor, field: str, element: ElementType) -> Iterator[tuple[int, Array]]:
    """Yield the pieces with zeros: the index of the first element, and for each whether it is 0."""
    start = 0
    for all_flags in _zero_flags(tensor, field, element):
        flags = all_flags[: max((tensor.elements or 0) - start, 0)]  # after the elements are padding bits or a surplus
        if flags.any():
            yield start, flags
        start += len(flags)


def _zero_flags(tensor: StoredTensor, field: str, element: ElementType) -> Iterator[Array]:
    """For each element whether no bit of it is set."""
    if field == "raw_data":
        for raw in raw_pieces(tensor):
            yield _zero_elements(raw, element.bits)
        return
    for piece in entries(tensor, field):
        flags = piece.view(f"u{piece.itemsize}") == 0
        if element.elements_per_entry > 1:
            yield _zero_elements(piece.astype("u1").tobytes(), element.bits)
        elif element.is_complex:
            pairs = flags[: len(flags) // 2 * 2]
            yield pairs[::2] & pairs[1::2]
        else:
            yield flags


def _zero_elements(data: bytes, bits: int) -> Any:
    import numpy as np

    if bits >= 8:
        size = bits // 8
        rows = np.frombuffer(data[: len(data) - len(data) % size], np.uint8).reshape(-1, size)
    else:
        stream = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        rows = stream[: len(stream) - len(stream) % bits].reshape(-1, bits)
    return np.logical_not(rows.any(axis=1))


# --- indices


def int64_pieces(tensor: StoredTensor) -> Iterator[Array]:
    """Yield the elements of an int64 tensor."""
    import numpy as np

    if tensor.allowed_field == "int64_data":
        yield from entries(tensor, "int64_data")
    elif tensor.allowed_field == "raw_data":
        for raw in raw_pieces(tensor):
            yield np.frombuffer(raw[: len(raw) // 8 * 8], "<i8")


def rows_of(pieces: Iterable[Array], width: int) -> Iterator[Array]:
    """Yield the numbers regrouped into whole rows of `width`."""
    import numpy as np

    carried = np.zeros(0, np.int64)
    for piece in pieces:
        numbers = np.concatenate([carried, piece])
        whole = len(numbers) // width * width
        carried = numbers[whole:]
        yield numbers[:whole].reshape(-1, width)


def with_row_before(previous: Array | None, rows: Array) -> Array:
    """Return the rows after the last row of the previous piece, if there is one."""
    import numpy as np

    return rows if previous is None else np.concatenate([previous, rows])


def at_columns(rows: Array, columns: Array) -> Array:
    """Return the number of each row in the column that is given for it."""
    import numpy as np

    taken: Array = np.take_along_axis(rows, columns, axis=1)[:, 0]
    return taken


def describe_index(row: Array) -> str:
    """Return an index as messages show it: a number, or coordinates in brackets."""
    numbers = [str(int(number)) for number in row]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
