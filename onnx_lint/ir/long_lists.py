# SPDX-License-Identifier: Apache-2.0
"""Long lists of numbers and strings in attributes, which the loader leaves in the file like payloads of tensors.

A tree ensemble has ten lists of millions. The `ints`, `floats` or `strings` of an attribute with such a list are a
`LongList` instead of the parsed field. It is read in bounded pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from onnx_lint import schema
from onnx_lint.input.source import Source
from onnx_lint.ir.columns.attribute_kinds import utf8_fault
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.tensors.strings import whole_records
from onnx_lint.ir.tensors.wire_values import count_entries, entry_pieces
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError
from onnx_lint.wording import MAX_LISTED_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRINGS: Final = "strings"
_STRINGS_TAG: Final = wire.fields_by_name("AttributeProto")[_STRINGS].number << 3 | wire.WireType.LEN

_STRING_PIECE_BYTES: Final = 1 << 18
"""The bytes of strings that are parsed at a time; they take about ten times as many in memory."""

_LEAST_NUMBER: Final = -(1 << 31)
_GREATEST_NUMBER: Final = (1 << 31) - 1

_Part = TypeVar("_Part")


class LongList(Sequence[Any]):
    """A list of an attribute in the file. Its numbers or strings are those that the parser would return."""

    __slots__ = ("_cuts", "_last", "_length", "_parts", "_source", "field")

    def __init__(self, source: Source, parts: tuple[Payload, ...]) -> None:
        self.field = parts[0].field
        """`ints`, `floats` or `strings`."""
        self._source = source
        self._parts = parts
        self._length: int | None = None
        self._cuts: list[tuple[int, int]] | None = None
        """The positions and sizes of the pieces of strings. Kept, because about six rules read a list."""
        self._last: tuple[int, Sequence[Any]] = 0, ()
        """The piece with the element that was read last, and the index of its first element."""

    def __len__(self) -> int:
        if self._length is None:
            if self.field == _STRINGS:
                self._length = sum(map(len, self.pieces()))
            else:
                self._length = sum(count_entries(self._source, part) for part in self._parts)
        return self._length

    def __iter__(self) -> Iterator[Any]:
        for piece in self.pieces():
            yield from piece if self.field == _STRINGS else piece.tolist()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        wanted = index if index >= 0 else len(self) + index
        if wanted < 0:
            raise IndexError(index)
        start, piece = self._last
        if not start <= wanted < start + len(piece):
            start = 0
            for piece in self.pieces():
                if wanted < start + len(piece):
                    break
                start += len(piece)
            else:
                raise IndexError(index)
            self._last = start, piece
        value = piece[wanted - start]
        return value if self.field == _STRINGS else value.item()

    def pieces(self) -> Iterator[Any]:
        """Yield the list in pieces: arrays of numbers, lists of bytes."""
        if self.field == _STRINGS:
            yield from map(_strings_of, self._records())
            return
        for part in self._parts:
            yield from entry_pieces(self._source, part)

    def numbers(self) -> NDArray[Any]:
        """Return all numbers in one array; integers have 32 bits if all of them fit."""
        import numpy as np

        found = np.empty(len(self), np.float32 if self.field == "floats" else np.int32)
        start = 0
        for piece in self.pieces():
            may_not_fit = piece.dtype.kind == "i" and piece.size and found.dtype != np.int64
            if may_not_fit and not _LEAST_NUMBER <= piece.min() <= piece.max() <= _GREATEST_NUMBER:
                found = found.astype(np.int64)
            found[start : start + piece.size] = piece
            start += piece.size
        return found[:start]

    def is_text(self) -> bool:
        """Return whether all strings are UTF-8; true of numbers."""
        if self.field != _STRINGS:
            return True
        return all(
            records.isascii() or all(utf8_fault(each) is None for each in _strings_of(records))
            for records in self._records()
        )

    def _records(self) -> Iterator[bytes]:
        """Yield whole records of strings, in bounded pieces; a longer record is a separate piece."""
        if self._cuts is None:
            cuts = []
            for part in self._parts:
                for start, records in _record_pieces(self._source, part):
                    cuts.append((start, len(records)))
                    yield records
            self._cuts = cuts
            return
        for start, size in self._cuts:
            records = self._source.read_at(start, size)
            if len(records) < size:
                return  # the file has become shorter
            yield records

    @property
    def identity(self) -> bytes:
        """Bytes that no other list of the file has."""
        return repr(self._parts).encode()


def _strings_of(records: bytes) -> Sequence[bytes]:
    strings: Sequence[bytes] = schema.opened("AttributeProto", records).strings
    return strings


def _record_pieces(source: Source, part: Payload) -> Iterator[tuple[int, bytes]]:
    """Yield the position and the bytes of pieces of whole records of strings; a longer record is a separate piece."""
    position, end = part.offset, part.offset + part.length
    while position < end:
        window = source.read_at(position, min(_STRING_PIECE_BYTES, end - position))
        taken = whole_records(window, 0, _STRINGS_TAG)[1]
        if not taken:
            following = _end_of_record(source, position, end)
            window = source.read_at(position, following - position)
            taken = following - position
        if not taken or len(window) < taken:
            return  # the file has become shorter
        yield position, window[:taken]
        position = wire.advanced(position, position + taken)


def _end_of_record(source: Source, position: int, end: int) -> int:
    try:
        return next((following for *_, following in wire.records(source, position, end)), position)
    except WireError:
        return position  # the file has become shorter


def numbers_of(values: Any) -> NDArray[Any]:
    """Return the integers of `ints` of an attribute, parsed or in the file."""
    import numpy as np

    return values.numbers() if isinstance(values, LongList) else np.fromiter(values, np.int64, len(values))


def pieces_of(values: Sequence[_Part]) -> Iterable[Sequence[_Part]]:
    """Return the elements of a list of an attribute in bounded pieces; a parsed list is one piece."""
    if not isinstance(values, LongList):
        return (values,)
    return values.pieces() if values.field == _STRINGS else (piece.tolist() for piece in values.pieces())


def repeated_in(values: Sequence[int]) -> list[int]:
    """Return the indices of the first integers of a list that repeat an earlier one."""
    import numpy as np

    numbers = numbers_of(values)
    order = np.argsort(numbers, kind="stable")
    again = order[1:][numbers[order[1:]] == numbers[order[:-1]]]
    return [int(index) for index in np.sort(again)[:MAX_LISTED_ELEMENTS]]
