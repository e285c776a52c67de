# SPDX-License-Identifier: Apache-2.0
"""Sources: bytes by position.

No memory map: a file that shrinks under a map kills the process, a map counts as memory, and the same interface
stands for range reads of a remote object, see `onnx_lint.remote`.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO, Protocol

from onnx_lint.input.regular_file import kind_of_file, open_regular

WINDOW_BYTES = 1 << 16
"""How much a file source reads at once for small requests."""

LEAST_WINDOW_BYTES = 64
"""A window of a source that does not end has so many bytes: enough for the tag and length of any field."""

_SPOOL_BYTES = 1 << 20


class SourceError(Exception):
    """An input that cannot be read; the text says which and why."""


class ReadError(SourceError, OSError):
    """An input that was opened and can be read no longer, as when a disk fails; the text says why."""


class Source(Protocol):
    """Bytes by position. A read past the end gives fewer bytes than asked for."""

    @property
    def size(self) -> int:
        """How many bytes there are."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on; raises ReadError when that fails."""

    def window(self, offset: int, most: int) -> bytes:
        """Return what is at hand from `offset` on, at most `most` bytes, for a walk that may soon leap elsewhere.

        There are at least LEAST_WINDOW_BYTES, or all up to the end. Raises ReadError as `read_at` does.
        """

    def close(self) -> None:
        """Release what the source holds; reading afterwards is an error."""


class BytesSource:
    """A source over bytes in memory."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self._data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on."""
        return self._data[offset : offset + length]

    def window(self, offset: int, most: int) -> bytes:
        """The same as `read_at`."""
        return self.read_at(offset, most)

    def close(self) -> None:
        """Nothing to release."""


class FileSource:
    """A source over an open file descriptor, read with positioned reads through one small window."""

    __slots__ = ("_descriptor", "_owner", "_size", "_window", "_window_offset")

    def __init__(self, descriptor: int, size: int, owner: BinaryIO | None = None) -> None:
        self._descriptor = descriptor
        self._owner = owner  # keeps a temporary file alive as long as the source
        self._size = size
        self._window = b""
        self._window_offset = 0

    @property
    def size(self) -> int:
        """The size when the file was opened, in bytes."""
        return self._size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on; fewer when the file ends or has shrunk."""
        length = min(length, self._size - offset)  # of a small file all is at hand then
        start = offset - self._window_offset
        if start >= 0 and start + length <= len(self._window):
            return self._window[start : start + length]
        if length >= WINDOW_BYTES:
            return self._read(offset, length)
        self._window = self._read(offset, WINDOW_BYTES)
        self._window_offset = offset
        return self._window[:length]

    def window(self, offset: int, most: int) -> bytes:
        """The same as `read_at`."""
        return self.read_at(offset, most)

    def _read(self, offset: int, length: int) -> bytes:
        pieces: list[bytes] = []
        length = min(length, max(self._size - offset, 0))
        while length > 0:
            # One call never returns more than about 2 GiB.
            try:
                piece = _read_positioned(self._descriptor, length, offset)
            except OSError as error:
                raise ReadError(error.strerror or str(error)) from error
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        """Close the file."""
        if self._owner is not None:
            self._owner.close()
        elif self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def _read_positioned(descriptor: int, length: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, length)


def open_file(path: str | os.PathLike[str]) -> FileSource:
    """Open a regular file as a source.

    Raises SourceError when there is no such file, when it cannot be read, or when it is no regular file (a
    directory, a pipe and a device have no size and may never end).
    """
    try:
        descriptor, status = open_regular(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"{os.fspath(path)}: {reason}") from error
    return FileSource(descriptor, status.st_size)


def open_standard_input(most: int | None = None) -> Source:
    """Standard input as a source: by position when it is a file, else spooled to a temporary file first.

    `most`: how many bytes are spooled; who writes more is cut off, since a pipe may never end.

    Raises SourceError when it cannot be read.
    """
    if sys.stdin is None:
        raise SourceError("standard input: is closed")
    stream = sys.stdin.buffer
    try:
        status = os.fstat(stream.fileno())
        if stat.S_ISREG(status.st_mode):
            return FileSource(os.dup(stream.fileno()), status.st_size)
        if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty()):
            raise SourceError(f"standard input: is {kind_of_file(status.st_mode)}, which may never end")
        import tempfile  # with what it needs as large as the rest of this program, and rarely wanted

        spool = tempfile.TemporaryFile()  # noqa: SIM115 - the source owns it and closes it
        left = sys.maxsize if most is None else most
        while left > 0 and (piece := stream.read(min(_SPOOL_BYTES, left))):
            spool.write(piece)
            left -= len(piece)
        spool.flush()
        return FileSource(spool.fileno(), os.fstat(spool.fileno()).st_size, owner=spool)
    except (OSError, ValueError) as error:
        raise SourceError(f"standard input: {error}") from error


def source_of(data: bytes | str | os.PathLike[str], most: int | None = None) -> Source:
    """The source of bytes in memory, of the file at a path, or of standard input for the path `-`.

    `most`: how many bytes of a pipe are read.

    Raises SourceError as :func:`open_file` and :func:`open_standard_input` do.
    """
    if isinstance(data, bytes):
        return BytesSource(data)
    if data == "-":
        return open_standard_input(most)
    return open_file(data)
