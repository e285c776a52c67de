# SPDX-License-Identifier: Apache-2.0
"""SHA-1 digests of data files beside a model: each file is read once, in pieces, and only so many bytes in all."""

from __future__ import annotations

import os
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.ir.tensors.data_folder import DataFolder

_PIECE_BYTES: Final = 1 << 20

_FileState = tuple[int, int, int, int]
"""Device, inode, size in bytes, and time of the last change in nanoseconds."""


class Reading(Record):
    """How far a file is read."""

    location: str
    done: int
    """Bytes that are read."""
    size: int
    """Bytes of the file."""


under_way: Reading | None = None
"""The file that is read at the moment, for whoever shows progress."""


class Digests:
    """The digests of the data files of one model, each computed when it is first asked for."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._found: dict[str, str | None] = {}
        self.unread: dict[str, str] = {}
        """The files that were asked for and not read, by location, each with the reason."""

    def of(self, location: str) -> str | None:
        """The digest of the file in hexadecimal; None where it is not read, which `unread` then tells.

        `location`: a relative path of plain names, as `external.spelled_plainly` gives it.
        """
        if location not in self._found:
            self._found[location] = None
            try:
                self._found[location] = self._read(location)
            except OSError as error:
                self.unread[location] = (error.strerror or str(error)).lower()
        return self._found[location]

    def _read(self, location: str) -> str | None:
        descriptor, status = self._folder.open(location)
        try:
            key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if key in _known:
                return _known[key]
            problem = self._folder.take(status.st_size)
            if problem is not None:
                self.unread[location] = problem
                return None
            digest = _sha1(descriptor, status.st_size, location)
        finally:
            os.close(descriptor)
        return _known.keep(key, digest)


_MAX_KNOWN: Final = 10_000
_known: Final[Memory[_FileState, str]] = Memory(_MAX_KNOWN)
"""The digests of files that other models of the run have named as well, by what would change with the file."""


def _sha1(descriptor: int, size: int, location: str) -> str:
    """The digest of the first `size` bytes: a file that grows has no end."""
    import hashlib

    global under_way
    digest = hashlib.sha1(usedforsecurity=False)
    done = 0
    try:
        while piece := os.read(descriptor, min(_PIECE_BYTES, size - done)):
            digest.update(piece)
            done += len(piece)
            under_way = Reading(location, done, size)
    finally:
        under_way = None
    return digest.hexdigest()
