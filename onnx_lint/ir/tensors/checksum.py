# SPDX-License-Identifier: Apache-2.0
"""SHA-1 digests of data files beside a model. Each file is read once, in pieces, up to a limit of bytes for all."""

from __future__ import annotations

import os
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.ir.tensors.data_folder import DataFolder

_PIECE_BYTES: Final = 1 << 20

_FileStamp = tuple[int, int, int, int]
"""Device, inode, size in bytes, and time of the last change in nanoseconds."""


class Digests:
    """The digests of the data files of one model, each computed at its first use."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._found: dict[str, str | None] = {}
        self.unread: dict[str, str] = {}
        """The reasons why files were not read, by location."""

    def digest_of(self, location: str) -> str | None:
        """Return the digest of the file in hexadecimal; None if it is not read: `unread` then has the reason.

        `location`: a relative path of plain names, as `external.spelled_plainly` returns it.
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
            digest = _sha1(descriptor, status.st_size)
        finally:
            os.close(descriptor)
        return _known.keep(key, digest)


_MAX_KNOWN: Final = 10_000
_known: Final[Memory[_FileStamp, str]] = Memory(_MAX_KNOWN)
"""The digests of files that other models of the run used as well. The keys change whenever the files do."""


def _sha1(descriptor: int, size: int) -> str:
    """Return the digest of the first `size` bytes. Without that limit, a growing file might be read forever."""
    import hashlib

    digest = hashlib.sha1(usedforsecurity=False)
    while piece := os.read(descriptor, min(_PIECE_BYTES, size)):
        digest.update(piece)
        size -= len(piece)
    return digest.hexdigest()
