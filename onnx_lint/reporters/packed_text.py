# SPDX-License-Identifier: Apache-2.0
"""Text about many files that is kept compressed until its report is written."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

_ENCODING: Final = ("utf-8", "surrogatepass")
_PIECE: Final = 1 << 16
"""The bytes to unpack at a time."""


class PackedText:
    """Text that grows at its end and is read once. A line about one more model takes a tenth of its length."""

    def __init__(self) -> None:
        self._packing = zlib.compressobj()
        self._parts: list[bytes] = []

    def write(self, text: str) -> None:
        """Add text."""
        packed = self._packing.compress(text.encode(*_ENCODING))
        if packed:
            self._parts.append(packed)

    def writelines(self, texts: Iterable[str]) -> None:
        """Add several texts."""
        for text in texts:
            self.write(text)

    def pieces(self) -> Iterator[str]:
        """Yield all text, piece by piece."""
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
