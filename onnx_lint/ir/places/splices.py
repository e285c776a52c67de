# SPDX-License-Identifier: Apache-2.0
"""Turns edits into splices: byte ranges of the file and their new contents. All other bytes stay unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.input.patched_source import Patch, Stretch, size_of
from onnx_lint.input.source import Source
from onnx_lint.ir.places.byte_ranges import ByteRanges
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move, Shorten
from onnx_lint.ir.places.long_numbers import long_numbers
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import wire

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import NewValue


class EditError(Exception):
    """An edit that cannot be made in this file; the text says why."""


class Splice(Record):
    """The bytes from `start` to `end`, which the pieces replace."""

    start: int
    end: int
    pieces: tuple[Stretch, ...]
    enclosing: tuple[wire.Span, ...] = ()
    """The messages that contain these bytes, outermost first. Their lengths change.

    A splice that replaces nothing by nothing rewrites the length of the innermost message in the shortest form.
    """

    @property
    def growth(self) -> int:
        """The number of bytes that the file grows by, negative if it shrinks."""
        return sum(map(size_of, self.pieces)) - (self.end - self.start)

    @property
    def is_empty(self) -> bool:
        """True if it neither removes nor inserts bytes."""
        return self.start == self.end and not self.pieces

    @property
    def patch(self) -> Patch:
        """The splice as a patch of the file."""
        return self.start, self.end, self.pieces


class Splicer:
    """Makes splices of the edits of one serialized message."""

    def __init__(self, source: Source, message: str) -> None:
        self._source = source
        self._message = message
        self._ranges = ByteRanges(source, message)

    def splices_of(self, edits: Iterable[Edit]) -> list[Splice]:
        """Return the splices of edits, without the lengths of enclosing messages, in file order.

        Raises EditError for an edit that cannot be made.
        """
        found: list[Splice] = []
        for edit in edits:
            try:
                # Shorten has no place: it concerns all numbers of the file.
                found += self._shorter_numbers() if isinstance(edit, Shorten) else self._splices_of_edit(edit)
            except wire.WireError as error:
                raise EditError(str(error)) from error
        found.sort(key=_sort_key)
        for one, other in pairwise(found):
            if other.start < one.end:
                raise EditError("two edits of the same bytes")
        return found

    def with_lengths(self, splices: Iterable[Splice]) -> list[Splice]:
        """Return the splices in file order, with those of the lengths of the messages around them."""
        whole = list(splices)
        messages: dict[int, _Enclosing] = {}
        for splice in whole:
            innermost: _Enclosing | None = None
            for span in splice.enclosing:
                innermost = messages.setdefault(span[0], _Enclosing(span, innermost))
            if innermost is not None:
                innermost.growth += splice.growth
                innermost.is_written = innermost.is_written or splice.is_empty
        # A message begins before those in it, so that the last one is an innermost one.
        for _, message in sorted(messages.items(), reverse=True):
            if message.growth or message.is_written:
                length = self._length(message)
                whole.append(length)
                if message.around is not None:
                    message.around.growth += message.growth + length.growth
        whole.sort(key=_sort_key)
        return whole

    def _length(self, message: _Enclosing) -> Splice:
        """Return the splice that writes the length of a message anew."""
        start, value, end = message.span
        _, after_tag = wire.decode_varint(self._source.read_at(start, value - start), 0)
        return Splice(start + after_tag, value, (wire.encode_varint(end - value + message.growth),))

    def _splices_of_edit(self, edit: Assign | Delete | Insert | Move) -> Iterator[Splice]:
        place = edit.place
        if not place.key:
            raise EditError("the document itself cannot be edited")
        field = self._field(place)
        if field.packable and not (isinstance(edit, Delete) and place.index is None):
            raise EditError(f"{place} may be packed with other numbers")
        match edit:
            case Delete():
                spans = self._spans(place, every=True)
                for start, _, end in spans[:-1] if edit.keeps_last else spans:
                    yield self._splice(place, start, end)
            case Insert():
                yield self._insertion(place, record_of(field, edit.value), field)
            case Assign():
                spans = self._ranges.occurrences(place)
                data = record_of(field, edit.value)
                for start, _, end in spans[:-1]:
                    yield self._splice(place, start, end)
                if spans:
                    yield self._splice(place, spans[-1][0], spans[-1][2], data)
                else:
                    yield self._insertion(place, data, field)
            case Move():
                assert place.parent is not None
                start, _, end = self._spans(place)[0]
                yield self._splice(place, start, end)
                yield self._insertion(place.parent.at(place.field, edit.before), (start, end), field)

    def _shorter_numbers(self) -> Iterator[Splice]:
        for number in long_numbers(self._source, self._message):
            if number.part == "length":
                yield Splice(number.end, number.end, (), number.enclosing)
            else:
                yield Splice(number.start, number.end, (number.shorter,), number.enclosing)

    def _spans(self, place: Place, *, every: bool = False) -> list[wire.Span]:
        """Return the occurrences of a field that must exist; with `every` also those that a parser ignores."""
        spans = self._ranges.occurrences(place) if every else self._ranges.spans(place)
        if not spans:
            raise EditError(f"there is no {place}")
        return spans

    def _insertion(self, place: Place, piece: Stretch, field: wire.Field) -> Splice:
        """Return the splice that inserts the piece at `place`."""
        position = self._insertion_offset(place, field)
        return self._splice(place, position, position, piece)

    def _insertion_offset(self, place: Place, field: wire.Field) -> int:
        """Return the offset at which a field is inserted."""
        assert place.parent is not None
        spans = self._ranges.spans(place)
        if spans:
            return spans[0][0]
        if place.index:
            before = self._ranges.spans(place.parent.at(place.field, place.index - 1))
            if not before:
                raise EditError(f"there is nothing before {place}")
            return before[-1][2]
        # Fields come in the order of their numbers, as Protocol Buffers writes them.
        _, value, end = self._spans(place.parent)[-1]
        for number, _, start, _, _ in wire.records(self._source, value, end, inside_groups=False):
            if number > field.number:
                return start
        return end

    def _splice(self, place: Place, start: int, end: int, *pieces: Stretch) -> Splice:
        enclosing: list[wire.Span] = []
        around = place.parent
        while around is not None and around.parent is not None:
            fitting = (span for span in self._ranges.spans(around) if span[1] <= start and end <= span[2])
            enclosing += islice(fitting, 1)
            around = around.parent
        return Splice(start, end, pieces, tuple(reversed(enclosing)))

    def _field(self, place: Place) -> wire.Field:
        """Return the field at a place."""
        kind = self._message
        *around, last = [name for name, _ in place.key]
        for name in around:
            inner = wire.fields_by_name(kind)[name].message
            assert inner is not None, f"{name} holds no message"
            kind = inner
        return wire.fields_by_name(kind)[last]


class _Enclosing:
    """A message around splices."""

    def __init__(self, span: wire.Span, around: _Enclosing | None) -> None:
        self.span = span
        self.around = around
        self.growth = 0
        self.is_written = False
        """True if its length is written anew in any case."""


def _sort_key(splice: Splice) -> tuple[int, int]:
    """Return the sort key of a splice: insertions come before deletions at the same byte."""
    return splice.start, splice.end


_64_BITS: Final = (1 << 64) - 1


def record_of(field: wire.Field, value: NewValue) -> bytes:
    """Return a field with a value as Protocol Buffers writes it."""
    tag = wire.encode_varint(field.number << 3 | field.wire_type)
    if isinstance(value, int):
        assert field.wire_type is wire.WireType.VARINT
        return tag + wire.encode_varint(value & _64_BITS)
    assert field.wire_type is wire.WireType.LEN
    data = value.encode() if isinstance(value, str) else schema.serialized(value)
    return tag + wire.encode_varint(len(data)) + data
