# SPDX-License-Identifier: Apache-2.0
"""Finds the numbers of a serialized message that take more bytes than they need: tags, lengths and values."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

from onnx_lint.common.record import Record
from onnx_lint.input.source import WINDOW_BYTES, Source
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.schema import wire
from onnx_lint.spec.element_types import TYPED_FIELDS

_LONG: Final = re.compile(rb"[\x80-\xff]{1,9}\x00")
"""A varint whose last byte adds nothing, among other varints."""

_LONG_END: Final = re.compile(rb"[\x80-\xff]\x00")
"""The end of such a varint, among any bytes. In a string, or after one, a match may mean nothing."""

_MAX_NESTED: Final = 100
"""Protocol Buffers parses no message that is deeper."""


_PartOfRecord = Literal["tag", "length", "value"]


class LongNumber(Record):
    """A number that takes more bytes than it needs."""

    place: Place
    """The field that has the number; for a list of numbers the whole list."""
    start: int
    end: int
    enclosing: tuple[wire.Span, ...]
    """The fields around it, outermost first. The length of a field is around its content."""
    part: _PartOfRecord
    shorter: bytes
    """The same number in as few bytes as possible."""


def long_numbers(source: Source, message: str) -> Iterator[LongNumber]:
    """Yield the long numbers of a serialized message, in file order.

    Packed elements of tensors are not read. Unknown fields are passed over, since nothing says what their bytes mean.
    If the bytes end inside a field, the walk ends there.
    """
    if source.size > WINDOW_BYTES or _LONG_END.search(source.read_at(0, source.size)):
        try:
            yield from _in_message(source, message, ROOT, 0, source.size, ())
        except wire.WireError:
            return


def _in_message(
    source: Source, message: str, around: Place, start: int, end: int, enclosing: tuple[wire.Span, ...]
) -> Iterator[LongNumber]:
    fields = wire.fields(message)
    seen: Counter[int] = Counter()
    position = start
    while position < end:
        for number, wire_type, tag, value, following in wire.records(source, position, end, inside_groups=False):
            position = following
            field = fields.get(number)
            if field is None or not field.accepts(wire_type):
                continue
            index = seen[number] if field.repeated and not field.packable else None
            seen[number] += 1
            place = functools.partial(around.at, field.name, index)
            inner = (*enclosing, (tag, value, following))
            for part, first, last in _long_parts(source, wire_type, tag, value, following):
                yield _long(source, place(), first, last, inner if part == "length" else enclosing, part)
            if wire_type == wire.WireType.LEN and _may_have_long(source, message, field, value, following):
                yield from _in_content(source, field, place(), inner)
            if field.packable and wire_type == field.wire_type:
                skipped = _end_of_short(source, field, following, end)
                if skipped > following:
                    position = skipped
                    break
        else:  # the last field may be a group, which ends far after its tag
            return


def _in_content(
    source: Source, field: wire.Field, place: Place, enclosing: tuple[wire.Span, ...]
) -> Iterator[LongNumber]:
    """Yield the long numbers in the content of a field: a packed list, or a message. It is the last of `enclosing`."""
    _, start, end = enclosing[-1]
    if field.message is None:
        for first, last in _long_elements(source, start, end):
            yield _long(source, place, first, last, enclosing, "value")
    elif len(enclosing) <= _MAX_NESTED:
        yield from _in_message(source, field.message, place, start, end, enclosing)


def _long_parts(
    source: Source, wire_type: int, tag: int, value: int, following: int
) -> Iterator[tuple[_PartOfRecord, int, int]]:
    """Yield the parts of a record that are long numbers, each with its first byte and the byte after it."""
    head = source.read_at(tag, value - tag)
    _, size = wire.decode_varint(head, 0)
    if head[size - 1] == 0:
        yield "tag", tag, tag + size
    if len(head) > size + 1 and head[-1] == 0:
        yield "length", tag + size, value
    if wire_type == wire.WireType.VARINT and following - value > 1 and source.read_at(following - 1, 1) == b"\0":
        yield "value", value, following


def _long_elements(source: Source, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the first byte of each long number in a packed list, and the byte after it. The list is read in pieces."""
    position = start
    while position < end:
        piece = source.read_at(position, min(WINDOW_BYTES, end - position))
        if position + len(piece) < end:
            # The last number may continue in the next piece.
            piece = piece.rstrip(wire.CONTINUED_BYTES)
        if not piece:
            return  # no number is so long
        for found in _LONG.finditer(piece):
            yield position + found.start(), position + found.end()
        position += len(piece)


def _long(
    source: Source, place: Place, start: int, end: int, enclosing: tuple[wire.Span, ...], part: _PartOfRecord
) -> LongNumber:
    number, _ = wire.decode_varint(source.read_at(start, end - start), 0)
    return LongNumber(place, start, end, enclosing, part, wire.encode_varint(number))


def _may_have_long(source: Source, message: str, field: wire.Field, start: int, end: int) -> bool:
    """Return false if a look at the bytes of a field is enough to know that it contains no long numbers."""
    if field.message is None and not (field.packable and field.wire_type is wire.WireType.VARINT):
        return False
    if message == "TensorProto" and field.name in TYPED_FIELDS:
        return False
    return end - start > WINDOW_BYTES or _LONG_END.search(source.read_at(start, end - start)) is not None


def _end_of_short(source: Source, field: wire.Field, start: int, end: int) -> int:
    """Return the end of the records from `start` on that are further elements of a list without long numbers."""
    window = source.read_at(start, min(WINDOW_BYTES, end - start))
    found = _elements(field.number << 3 | field.wire_type, field.wire_type).match(window)
    assert found is not None
    return start + found.end()


def _elements(tag: int, wire_type: wire.WireType) -> re.Pattern[bytes]:
    """Return the pattern of consecutive records with this tag whose numbers are not long."""
    size = wire.FIXED_BYTES.get(wire_type)
    value = rb"(?:[\x00-\x7f]|[\x80-\xff]{1,9}[\x01-\x7f])" if size is None else rb".{%d}" % size
    return re.compile(rb"(?:%s%s)*+" % (re.escape(wire.encode_varint(tag)), value), re.DOTALL)
