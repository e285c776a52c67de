# SPDX-License-Identifier: Apache-2.0
"""Text about many files that is kept compressed until its report is written."""

from __future__ import annotations

import codecs
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

_ENCODING: Final = ("utf-8", "surrogatepass")
_PIECE: Final = 1 << 16
"""The bytes to unpack at a time."""
_FREE: Final = 1 << 20
"""The characters that are kept as they are: a report on one model need not be packed."""


class PackedText:
    """Text that grows at its end and is read once. A line about one more model takes a tenth of its length."""

    def __init__(self) -> None:
        self._begin: list[str] = []
        self._free = _FREE
        self._packing = zlib.compressobj()
        self._parts: list[bytes] = []

    def write(self, text: str) -> None:
        """Add text."""
        if self._free > 0:
            self._begin.append(text)
            self._free -= len(text) + 1
            return
        packed = self._packing.compress(text.encode(*_ENCODING))
        if packed:
            self._parts.append(packed)

    def writelines(self, texts: Iterable[str]) -> None:
        """Add several texts."""
        for text in texts:
            self.write(text)

    def pieces(self) -> Iterator[str]:
        """Yield all text, piece by piece."""
        yield from self._begin
        self._parts.append(self._packing.flush())
        unpacking = zlib.decompressobj()
        decoder = codecs.getincrementaldecoder(_ENCODING[0])(_ENCODING[1])
        for part in self._parts:
            while part:
                yield decoder.decode(unpacking.decompress(part, _PIECE))
                part = unpacking.unconsumed_tail

    def lines(self) -> Iterator[str]:
        """Yield all lines, without their ends."""
        rest = ""
        for piece in self.pieces():
            *lines, rest = (rest + piece).split("\n")
            yield from lines


class WorstLines:
    """Lines with severities. The most severe lines can be read, in the order in which they were added."""

    def __init__(self, most: int) -> None:
        """`most`: the most lines that will be read. Lines that cannot be among them are only counted."""
        self._most = most
        self._text = PackedText()
        self._kept = array("b")
        """The severities of the lines that are kept."""
        self._counts: Counter[int] = Counter()

    @property
    def count(self) -> int:
        """The number of all lines."""
        return self._counts.total()

    def add(self, severity: int, line: str) -> None:
        """Add a line."""
        if sum(count for level, count in self._counts.items() if level >= severity) < self._most:
            self._kept.append(severity)
            self._text.write(f"{line}\n")
        self._counts[severity] += 1

    def lines(self, most: int) -> Iterator[str]:
        """Yield the `most` most severe lines, without their ends."""
        room: dict[int, int] = {}
        for severity in sorted(self._counts, reverse=True):
            room[severity] = min(self._counts[severity], most - sum(room.values()))
        for severity, line in zip(self._kept, self._text.lines(), strict=True):
            room[severity] -= 1
            if room[severity] >= 0:
                yield line
