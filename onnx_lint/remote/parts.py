# SPDX-License-Identifier: Apache-2.0
"""The parts of a remote object that were fetched. They are kept until the object is closed."""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from typing import BinaryIO, Final

HELD_BYTES: Final = 1 << 25
"""The bytes that are held in memory; further parts go to a temporary file."""


class Parts:
    """Bytes by position, with gaps."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._parts: list[tuple[int, bytes | int]] = []
        """For each start: the end, and the bytes or their position in the file."""
        self._held = 0
        self._file: BinaryIO | None = None

    def add(self, start: int, data: bytes) -> None:
        """Add bytes that begin at `start`. None of them may be there already."""
        if not data:
            return
        index = bisect_right(self._starts, start)
        self._starts.insert(index, start)
        if self._held + len(data) <= HELD_BYTES:
            self._held += len(data)
            self._parts.insert(index, (start + len(data), data))
        else:
            self._parts.insert(index, (start + len(data), self._write(data)))

    def at(self, position: int, most: int) -> bytes:
        """Return at most `most` bytes from `position` on, from one part; none if there is a gap."""
        index = bisect_right(self._starts, position) - 1
        if index < 0 or self._parts[index][0] <= position:
            return b""
        start, (end, kept) = self._starts[index], self._parts[index]
        stop = min(end, position + most)
        if isinstance(kept, bytes):
            return kept[position - start : stop - start]
        assert self._file is not None
        self._file.seek(kept + position - start)
        return self._file.read(stop - position)

    def next_start(self, position: int) -> int | None:
        """Return the start of the first part after `position`; None if there is none."""
        index = bisect_right(self._starts, position)
        return self._starts[index] if index < len(self._starts) else None

    def clear(self) -> None:
        """Remove everything."""
        self._starts.clear()
        self._parts.clear()
        self._held = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, data: bytes) -> int:
        """Append bytes to the file; return their position."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the object
        position = self._file.seek(0, 2)
        self._file.write(data)
        return position
