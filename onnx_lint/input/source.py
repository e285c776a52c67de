# SPDX-License-Identifier: Apache-2.0
"""Sources: random access to bytes.

They are not memory maps: a file that shrinks under a map kills the process, a map counts as memory, and the same
interface is needed for range reads of remote objects, see `onnx_lint.remote`.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO

from onnx_lint.common.reasons import reason_of
from onnx_lint.input.regular_file import kind_of_file, open_regular

WINDOW_BYTES = 1 << 16
"""The bytes that a file source reads at once for small requests."""

READ_AT_ONCE_BYTES = 1 << 19
"""The size of the largest file that is read at once, since its parts are needed more than once."""

_BYTES_AFTER_A_GAP = 1 << 12
"""The bytes that are read at once after something that was skipped, such as the start of a tensor after a payload."""

LEAST_WINDOW_BYTES = 64
"""The least size of a window before the end of a source: enough for the tag and length of any field."""

_PIECE_BYTES = 1 << 20


class SourceError(Exception):
    """An input that cannot be read. The text says which and why."""


class ReadError(SourceError, OSError):
    """An opened input that can no longer be read, for example after a disk failure. The text is the reason."""


class Source:
    """Random access to bytes. A read past the end returns fewer bytes than asked for."""

    size: int
    """The number of bytes, when the source was opened."""
    is_remote = False
    """True if a read may send a request to a store."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on. Raises ReadError if that fails."""
        raise NotImplementedError

    def window(self, offset: int, most: int) -> bytes:
        """Return the bytes at hand from `offset` on, at most `most`, for a parser that may soon skip ahead.

        `most` must be at least LEAST_WINDOW_BYTES. Returns at least that many, or all up to the end. Raises ReadError
        as `read_at` does.
        """
        return self.read_at(offset, most)

    def close(self) -> None:
        """Release the resources of the source, if it has any. It must not be read afterwards."""


class BytesSource(Source):
    """A source over bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on."""
        return self._data[offset : offset + length]


class FileSource(Source):
    """A source over an open file descriptor, read with positioned reads through one small window."""

    def __init__(self, descriptor: int, size: int, owner: BinaryIO | None = None) -> None:
        self._descriptor = descriptor
        self._owner = owner  # keeps a temporary file alive as long as the source
        self.size = size
        self.is_copy = owner is not None
        """True if the file is a copy of a stream, which may be longer."""
        self._window = b""
        self._window_offset = 0

    @property
    def descriptor(self) -> int:
        """The open file."""
        return self._descriptor

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on; fewer at the end of the file, or if it has shrunk.

        A small file is read whole, a long range directly, and others through a window.
        """
        length = min(length, self.size - offset)  # so that the window suffices for all of a small file
        start = offset - self._window_offset
        if start >= 0 and start + length <= len(self._window):
            return self._window[start : start + length]
        if self.size <= READ_AT_ONCE_BYTES and not self._window:
            self._window = self._read(0, self.size)
            self._window_offset = 0
            return self._window[offset : offset + length]
        if length >= WINDOW_BYTES:
            return self._read(offset, length)
        is_next = 0 <= start <= len(self._window)
        self._window = self._read(offset, WINDOW_BYTES if is_next else max(length, _BYTES_AFTER_A_GAP))
        self._window_offset = offset
        return self._window[:length]

    def _read(self, offset: int, length: int) -> bytes:
        pieces: list[bytes] = []
        length = min(length, max(self.size - offset, 0))
        while length > 0:
            # One call never returns more than about 2 GiB.
            try:
                piece = _read_positioned(self._descriptor, length, offset)
            except OSError as error:
                raise ReadError(reason_of(error)) from error
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return b"".join(pieces)

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

    Raises SourceError if the file does not exist, cannot be read, or is not a regular file (a directory, a pipe and a
    device have no size and may never end).
    """
    try:
        descriptor, status = open_regular(path)
    except (OSError, ValueError) as error:
        raise SourceError(f"{os.fspath(path)}: {reason_of(error)}") from error
    return FileSource(descriptor, status.st_size)


def open_standard_input(most: int | None = None) -> Source:
    """Return standard input as a source. It is copied to a temporary file unless it is a regular file.

    `most`: the most bytes to copy. A pipe may never end.

    Raises SourceError if it cannot be read.
    """
    if sys.stdin is None:
        raise SourceError("standard input is closed")
    stream = sys.stdin.buffer
    try:
        status = os.fstat(stream.fileno())
        if stat.S_ISREG(status.st_mode):
            return FileSource(os.dup(stream.fileno()), status.st_size)
        if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty()):
            raise SourceError(f"standard input is {kind_of_file(status.st_mode)}, which may never end")
        import tempfile

        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the source owns it and closes it
        left = sys.maxsize if most is None else most
        while left > 0 and (piece := stream.read(min(_PIECE_BYTES, left))):
            copy.write(piece)
            left -= len(piece)
        copy.flush()
        return FileSource(copy.fileno(), os.fstat(copy.fileno()).st_size, owner=copy)
    except (OSError, ValueError) as error:
        raise SourceError(f"standard input: {error}") from error


def source_of(data: bytes | str | os.PathLike[str], most: int | None = None) -> Source:
    """Return the source of bytes in memory, of the file at a path, or of standard input for the path `-`.

    `most`: the most bytes to read from a pipe.

    Raises SourceError as :func:`open_file` and :func:`open_standard_input` do.
    """
    if isinstance(data, bytes):
        return BytesSource(data)
    if data == "-":
        return open_standard_input(most)
    return open_file(data)
