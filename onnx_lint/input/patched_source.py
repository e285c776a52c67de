# SPDX-License-Identifier: Apache-2.0
"""A source that equals another one with some bytes replaced. Nothing is copied until it is read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from onnx_lint.input.source import Source

Stretch = bytes | tuple[int, int]
"""New bytes, or where bytes to copy begin and end in a source."""

Patch = tuple[int, int, Sequence[Stretch]]
"""The begin and end in a source of the bytes to replace, and the pieces that replace them."""


def size_of(piece: Stretch) -> int:
    """The number of bytes in the piece."""
    return len(piece) if isinstance(piece, bytes) else piece[1] - piece[0]


class PatchedSource(Source):
    """A source made of new bytes and pieces of a base source. To close it leaves the base open."""

    def __init__(self, base: Source, pieces: Sequence[Stretch]) -> None:
        self.base = base
        self.pieces = pieces
        """New bytes, and ranges of the base, in order."""
        self._ends = list(accumulate(map(size_of, pieces)))
        self.size = self._ends[-1] if self._ends else 0

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on."""
        return b"".join(
            piece if isinstance(piece, bytes) else self.base.read_at(piece[0], piece[1] - piece[0])
            for piece in self.pieces_between(offset, min(offset + length, self.size))
        )

    def pieces_between(self, start: int, end: int) -> Iterator[Stretch]:
        """Yield the pieces that make up the bytes from `start` to `end`."""
        index = bisect_right(self._ends, start)
        while start < end:
            piece = self.pieces[index]
            stop = min(self._ends[index], end)
            first = start - (self._ends[index] - size_of(piece))
            last = first + stop - start
            yield piece[first:last] if isinstance(piece, bytes) else (piece[0] + first, piece[0] + last)
            start = stop
            index += 1

    def patched(self, patches: Iterable[Patch]) -> PatchedSource:
        """Return the source with these patches, which are in order and do not overlap."""
        return PatchedSource(self.base, list(_joined(self._with(patches))))

    def _with(self, patches: Iterable[Patch]) -> Iterator[Stretch]:
        position = 0
        for start, end, pieces in patches:
            yield from self.pieces_between(position, start)
            for piece in pieces:
                if isinstance(piece, bytes):
                    yield piece
                else:
                    yield from self.pieces_between(*piece)
            position = end
        yield from self.pieces_between(position, self.size)


def unpatched(base: Source) -> PatchedSource:
    """Return the source as it is."""
    return PatchedSource(base, [(0, base.size)] if base.size else [])


def _joined(pieces: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the pieces, those that follow each other in the base as one."""
    before: tuple[int, int] | None = None
    for piece in pieces:
        if before is not None and not isinstance(piece, bytes) and piece[0] == before[1]:
            before = before[0], piece[1]
            continue
        if before is not None:
            yield before
            before = None
        if isinstance(piece, bytes):
            yield piece
        else:
            before = piece
    if before is not None:
        yield before
