# SPDX-License-Identifier: Apache-2.0
"""The parts of a remote object that were fetched. They are kept until the object is closed."""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from io import BytesIO
from typing import BinaryIO, Final

MEMORY_BYTES: Final = 1 << 20
"""The most bytes in memory; with more, all are in a temporary file: many models may wait for their turn."""


class Parts:
    """Bytes by position, with gaps.

    They are not in a SpooledTemporaryFile: one that is still open when the interpreter ends prints a traceback.
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._parts: list[tuple[int, int]] = []
        """For each start: the end, and the position in the file."""
        self._size = 0
        self._file: BinaryIO = BytesIO()

    def add(self, start: int, data: bytes) -> None:
        """Add bytes that begin at `start`. None of them may be there already."""
        if not data:
            return
        index = bisect_right(self._starts, start)
        self._starts.insert(index, start)
        self._parts.insert(index, (start + len(data), self._size))
        if isinstance(self._file, BytesIO) and self._size + len(data) > MEMORY_BYTES:
            content, self._file = self._file.getvalue(), tempfile.TemporaryFile()  # noqa: SIM115 - closed by `clear`
            self._file.write(content)
        self._file.seek(self._size)
        self._file.write(data)
        self._size += len(data)

    def at(self, position: int, most: int) -> bytes:
        """Return at most `most` bytes from `position` on, from one part; none if there is a gap."""
        index = bisect_right(self._starts, position) - 1
        if index < 0 or self._parts[index][0] <= position:
            return b""
        start, (end, kept) = self._starts[index], self._parts[index]
        self._file.seek(kept + position - start)
        return self._file.read(min(end - position, most))

    def next_start(self, position: int) -> int | None:
        """Return the start of the first part after `position`; None if there is none."""
        index = bisect_right(self._starts, position)
        return self._starts[index] if index < len(self._starts) else None

    def clear(self) -> None:
        """Remove everything."""
        self._starts.clear()
        self._parts.clear()
        self._size = 0
        self._file.close()
        self._file = BytesIO()
