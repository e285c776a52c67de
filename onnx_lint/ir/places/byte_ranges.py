# SPDX-License-Identifier: Apache-2.0
"""The byte range of a place in the file, found by walking the file along the place's path."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, MutableSequence, Sequence
from operator import itemgetter
from typing import Final

from onnx_lint.input.source import Source
from onnx_lint.ir.places.place import Place, Step
from onnx_lint.schema import wire

_LONG_ROW: Final = 32
"""After that many consecutive records of one repeated message the next ones are indexed in one loop."""

_STEP_BYTES: Final = 1 << 18
"""The bytes of a long row that are indexed before more are needed."""


_PIECE_BYTES: Final = 1 << 14
"""The bytes of a packed list that are read at once."""


class ByteRanges:
    """The byte positions of a serialized message. Only the necessary part of the message is walked."""

    __slots__ = ("_root", "_size", "_way")

    def __init__(self, source: Source, message: str = "ModelProto") -> None:
        self._size = source.size
        self._way: list[tuple[Step, _FieldPositions | None]] = []
        """The way to the last place: the steps, and the message to which each leads."""
        self._root = _FieldPositions(source, message, [(0, source.size)])

    def byte_range(self, place: Place) -> tuple[int, int] | None:
        """Return the first byte of the field at `place` and the byte after it, tag included; None if it is absent.

        An element of a packed field has only its own bytes.
        """
        if place.parent is None:
            return 0, self._size
        try:
            message, step = self._message_around(place)
            element = None if message is None else message.packed_element(step)
            spans = [] if message is None or element is not None else message.spans(step)
        except wire.WireError:
            return None  # the file has become shorter
        return element or ((spans[0][0], spans[-1][2]) if spans else None)

    def spans(self, place: Place) -> list[wire.Span]:
        """Return each occurrence of the field at `place` that a parser reads, in file order; empty if it is absent.

        The root has one without a tag. Raises WireError if the file has become shorter.
        """
        if place.parent is None:
            return [(0, 0, self._size)]
        message, step = self._message_around(place)
        return [] if message is None else message.spans(step)

    def occurrences(self, place: Place) -> list[wire.Span]:
        """Return the same as `spans`, and those occurrences of a singular value that a later one replaces."""
        message, step = self._message_around(place)
        return [] if message is None else message.spans(step, every=True)

    def _message_around(self, place: Place) -> tuple[_FieldPositions | None, Step]:
        """Return the message with the place, and the last step. Deep places share the way with the one before."""
        *steps, last = place.key
        same = 0
        for (known, _), step in zip(self._way, steps, strict=False):
            if known != step:
                break
            same += 1
        del self._way[same:]
        message = self._way[-1][1] if self._way else self._root
        for step in steps[same:]:
            message = message.inner(step) if message is not None else None
            self._way.append((step, message))
        return message, last


_SMALL_BYTES: Final = 512
"""A smaller message is walked again each time: keeping it would take more memory than it has bytes."""


class _FieldPositions:
    """A message in the file: the positions of the fields that were walked, and its opened messages.

    Only the first byte of a field is kept, in eight bytes, since a graph may have a hundred thousand of them; the end
    of the few that are needed is read again.
    """

    __slots__ = ("_inner", "_message", "_packed", "_pieces", "_source", "_starts", "_walk")

    def __init__(self, source: Source, message: str, pieces: list[tuple[int, int]]) -> None:
        self._source = source
        self._message = message
        self._pieces = pieces
        self._starts: dict[str, MutableSequence[int]] = {}
        self._walk = _walking(source, message, pieces, self._starts)
        self._inner: dict[Step, _FieldPositions] = {}
        self._packed: dict[str, list[tuple[int, int, int]]] = {}

    def spans(self, step: Step, *, every: bool = False) -> list[wire.Span]:
        """Return each occurrence of a field that a parser reads, or every one."""
        return [wire.span_at(self._source, start) for start in self._occurrences(step, every=every)]

    def packed_element(self, step: Step) -> tuple[int, int] | None:
        """Return the bytes of an element of a packed list of numbers; None if it has a record of its own."""
        name, index = step
        field = wire.fields_by_name(self._message).get(name)
        if field is None or not field.packable or index is None:
            return None
        if name not in self._packed:
            self._packed[name] = list(self._packed_records(field))
        number = bisect_right(self._packed[name], index, key=itemgetter(0)) - 1
        if number < 0:
            return None
        before, value, end = self._packed[name][number]
        width = wire.FIXED_BYTES.get(field.wire_type)
        if width is None:
            first, missing = _skipped(self._source, value, end, index - before)
            return None if missing or first == end else (first, _skipped(self._source, first, end, 1)[0])
        first = value + (index - before) * width
        return (first, first + width) if first + width <= end else None

    def _packed_records(self, field: wire.Field) -> Iterator[tuple[int, int, int]]:
        """Yield for each packed record of a list the number of elements before it, and where its numbers are."""
        count = 0
        width = wire.FIXED_BYTES.get(field.wire_type)
        for start, value, end in self.spans((field.name, None), every=True):
            if wire.decode_varint(self._source.read_at(start, value - start), 0)[0] & 7 != wire.WireType.LEN:
                count += 1
                continue
            yield count, value, end
            count += (
                (end - value) // width if width else sys.maxsize - _skipped(self._source, value, end, sys.maxsize)[1]
            )

    def inner(self, step: Step) -> _FieldPositions | None:
        """Return the message in a field; None if there is none."""
        found = self._inner.get(step)
        if found is None:
            found = self._open(step)
            if found is not None and found.size >= _SMALL_BYTES:
                self._inner[step] = found
        return found

    @property
    def size(self) -> int:
        """The number of bytes of the message."""
        return sum(end - start for start, end in self._pieces)

    def _open(self, step: Step) -> _FieldPositions | None:
        field = wire.fields_by_name(self._message).get(step[0])
        if field is None or field.message is None:
            return None
        pieces = [(value, end) for _, value, end in self.spans(step)]
        return _FieldPositions(self._source, field.message, pieces) if pieces else None

    def _occurrences(self, step: Step, *, every: bool = False) -> Sequence[int]:
        """Return the positions of all occurrences of the field that count.

        All occurrences of a singular message count, because the parser merges them; of a singular value only the last
        one counts, except with `every`.
        """
        name, index = step
        field = wire.fields_by_name(self._message).get(name)
        if field is None:
            return ()
        starts = self._starts.setdefault(name, array("Q"))
        while (index is None or index >= len(starts)) and next(self._walk, False):
            pass
        if index is None:
            return starts if every or field.message else starts[-1:]
        found = starts[index : index + 1]
        return starts[-1:] if field.packable and not found else found


def _skipped(source: Source, position: int, end: int, numbers: int) -> tuple[int, int]:
    """Return the position after `numbers` varints, and how many varints are missing."""
    while numbers and position < end:
        piece = source.read_at(position, min(end - position, _PIECE_BYTES))
        count = len(piece.translate(None, wire.CONTINUED_BYTES))
        if count < numbers:
            numbers, position = numbers - count, position + len(piece)
            continue
        for byte in piece:
            position += 1
            numbers -= byte < 0x80
            if not numbers:
                break
    return position, numbers


def _walking(
    source: Source, message: str, pieces: list[tuple[int, int]], starts_of: dict[str, MutableSequence[int]]
) -> Iterator[bool]:
    """Index the fields of a message, and stop after each part. No method, as no message would be freed that has it."""
    broken = wire.WireError  # the walk may be closed when the program ends and its modules are empty
    for position, end in pieces:
        try:
            while position < end:
                position = wire.advanced(position, _index_part(source, message, position, end, starts_of))
                yield True
        except broken:
            continue  # another rule reports a broken tail; the fields before it have their ranges


def _index_part(
    source: Source, message: str, position: int, end: int, starts_of: dict[str, MutableSequence[int]]
) -> int:
    """Index the fields from `position` to `end`, or to a part of a long row; return the end of the indexed part."""
    fields = wire.fields(message)
    for number, wire_type, start, _, following in wire.records(source, position, end, inside_groups=False):
        field = fields.get(number)
        # The parser does not count fields with another wire type.
        if field is None or not field.accepts(wire_type):
            continue
        starts = starts_of.setdefault(field.name, array("Q"))
        starts.append(start)
        if field.repeated and field.message and len(starts) % _LONG_ROW == 0:
            tag = number << 3 | wire.WireType.LEN
            stop = min(end, following + _STEP_BYTES)
            return wire.skip_short(source, following, stop, tag, wire.MAX_SHORT_BYTES, starts)[0]
    return end
