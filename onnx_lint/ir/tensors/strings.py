# SPDX-License-Identifier: Apache-2.0
"""The strings of a tensor, judged one by one in the message and in bulk where the loader left them in the source."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.tensors.wire_values import PIECE_BYTES, byte_pieces
from onnx_lint.schema import wire
from onnx_lint.wording import MAX_LISTED_ELEMENTS

BYTE_ORDER_MARK: Final = codecs.BOM_UTF8

_TAG: Final = wire.fields_by_name("TensorProto")["string_data"].number << 3 | wire.WireType.LEN
_TAG_BYTE: Final = bytes([_TAG])
_MAX_SHORT: Final = 0x7F
"""The longest string with a length of one byte."""
_LONGEST_HEAD: Final = 6
"""The most bytes of a tag and a length that parsers accept here."""


class WrongString(Record):
    """A string with a fault."""

    index: int
    """Which string of the tensor."""
    byte: int
    """The index of the byte in the string."""
    span: tuple[int, int] | None
    """The record in the source, where the loader left the string there."""

    @property
    def offset(self) -> int | None:
        """Where the record begins in the source; None if the message has the string."""
        return self.span[0] if self.span is not None else None

    @property
    def length(self) -> int | None:
        """The bytes of the record; None if the message has the string."""
        return self.span[1] - self.span[0] if self.span is not None else None


class Occurrences:
    """The number of strings with one kind of fault, and the first ones, at most MAX_LISTED_ELEMENTS."""

    __slots__ = ("count", "listed")

    def __init__(self) -> None:
        self.count = 0
        self.listed: list[WrongString] = []

    @property
    def first(self) -> WrongString:
        """The first string. There must be one."""
        return self.listed[0]

    def add(self, index: int, byte: int, span: tuple[int, int] | None) -> None:
        """Count one more."""
        if self.count < MAX_LISTED_ELEMENTS:
            self.listed.append(WrongString(index, byte, span))
        self.count += 1


class StringScan:
    """The facts from one pass over the strings of a tensor."""

    __slots__ = ("count", "empty", "invalid", "marked", "terminated")

    def __init__(self) -> None:
        self.count = 0
        self.invalid = Occurrences()
        """Strings that are not UTF-8."""
        self.marked = Occurrences()
        """Strings that begin with a byte order mark."""
        self.terminated = Occurrences()
        """Strings that end in NUL."""
        self.empty = Occurrences()

    def scan_strings(self, strings: Iterable[bytes]) -> None:
        """Judge strings that are in memory."""
        for string in strings:
            self._add(string, None)

    def scan_run(self, source: Source, payload: Payload) -> None:
        """Judge a run of records of string_data, in bounded memory however long a string is."""
        position, end = payload.offset, payload.offset + payload.length
        while position < end:
            window = source.read_at(position, min(PIECE_BYTES, end - position))
            if not window:
                return
            taken = self._window(window, position)
            following = position + taken if taken else self._long_record(source, position, end)
            position = wire.advanced(position, following)

    def _window(self, window: bytes, offset: int) -> int:
        """Judge the records that are whole in `window`, which begins at `offset`; return how many bytes they have."""
        position = 0
        most = len(window) - 1
        while position < most:
            if window[position + 1] <= _MAX_SHORT and window[position] == _TAG:
                following = self._short_records(window, position, offset)
            else:
                following = self._record(window, position, offset)
            if following == position:
                break
            position = wire.advanced(position, following)
        return position

    def _short_records(self, window: bytes, start: int, offset: int) -> int:
        """Judge records from `start` on, the first of them short; return the position of the next record.

        Tag and length of a short record are ASCII. So if the bytes of the records are ASCII or UTF-8, the strings are
        too, and one search finds all other faults.
        """
        count, end = whole_records(window, start)
        records = window[start:end]
        if (records.isascii() or _is_clean_utf8(records)) and not _may_end_in_nul(records):
            self.count += count
            return end
        while start < end:
            start = wire.advanced(start, self._record(window, start, offset))
        return end

    def _record(self, window: bytes, start: int, offset: int) -> int:
        """Judge the record at `start`, of any length; return the start of the next one, or `start` if it is cut."""
        try:
            _, position = wire.decode_varint(window, start)
            length, position = wire.decode_varint(window, position)
        except IndexError:
            return start
        following = position + length
        if following > len(window):
            return start
        self._add(window[position:following], (offset + start, offset + following))
        return following

    def _long_record(self, source: Source, position: int, end: int) -> int:
        """Judge a record that is longer than a window, in pieces; return where the next one begins."""
        for _, _, start, value, following in wire.records(source, position, end):
            if value == following:
                self.empty.add(self.count, 0, (start, following))
            else:
                self._judge_pieces(source, value, following, (start, following))
            self.count += 1
            return following
        return end

    def _add(self, string: bytes, span: tuple[int, int] | None) -> None:
        """Count a string, and judge it unless it is evidently right."""
        if not string or string[-1] == 0 or not string.isascii():
            self._judge(string, span)
        self.count += 1

    def _judge(self, string: bytes, span: tuple[int, int] | None) -> None:
        if not string:
            self.empty.add(self.count, 0, span)
            return
        try:
            string.decode("utf-8")
        except UnicodeDecodeError as error:
            self.invalid.add(self.count, error.start, span)
        self._judge_ends(string, string, len(string), span)

    def _judge_pieces(self, source: Source, start: int, end: int, span: tuple[int, int]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")()
        position = start
        pending = 0
        last = b""
        for piece in byte_pieces(source, start, end - start, PIECE_BYTES):
            last = piece
            try:
                decoder.decode(piece, final=position + len(piece) == end)
            except UnicodeDecodeError as error:
                self.invalid.add(self.count, position - start - pending + error.start, span)
                break
            position += len(piece)
            pending = len(decoder.getstate()[0])
        tail = source.read_at(end - 1, 1) or last
        self._judge_ends(source.read_at(start, len(BYTE_ORDER_MARK)), tail, end - start, span)

    def _judge_ends(self, head: bytes, tail: bytes, length: int, span: tuple[int, int] | None) -> None:
        if head.startswith(BYTE_ORDER_MARK):
            self.marked.add(self.count, 0, span)
        if tail.endswith(b"\0"):
            self.terminated.add(self.count, length - 1, span)


def whole_records(window: bytes, position: int, tag: int = _TAG) -> tuple[int, int]:
    """Return the number of whole records of a field from `position` on, and their end."""
    count, size = 0, len(window)
    while position + 1 < size and window[position] == tag:
        length = window[position + 1]
        start = position + 2
        if length > _MAX_SHORT:
            try:
                length, start = wire.decode_varint(window, position + 1)
            except (IndexError, OverflowError):
                break
        if start + length > size or start - position > _LONGEST_HEAD:
            break
        position = start + length
        count += 1
    return count, position


def _is_clean_utf8(records: bytes) -> bool:
    """Return true if all is UTF-8 and nothing looks like a byte order mark."""
    try:
        records.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return BYTE_ORDER_MARK not in records


def _may_end_in_nul(records: bytes) -> bool:
    """Return true if a string may end in NUL, or be empty: NUL before a tag, or as the length before one."""
    return records.endswith(b"\0") or b"\0" + _TAG_BYTE in records
