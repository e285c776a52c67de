# SPDX-License-Identifier: Apache-2.0
"""SHA-1 digests of data files beside a model. Each file is read once, in pieces, up to a limit of bytes for all."""

from __future__ import annotations

import os
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.wording import counted

_PIECE_BYTES: Final = 1 << 20

_FileStamp = tuple[int, int, int, int]
"""Device, inode, size in bytes, and time of the last change in nanoseconds."""


class Digests:
    """The digests of the data files of one model, each computed at its first use."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._found: dict[tuple[str, bool], str | None] = {}
        """The digests by location, with and without a request of the user."""
        self._unasked_left = _UNASKED_BYTES
        self.unread: dict[str, str] = {}
        """The reasons why files were not read, by location."""

    def digest_of(self, location: str, *, is_asked: bool) -> str | None:
        """Return the digest of the file in hexadecimal; None if it is not read: `unread` then has the reason.

        `location`: a relative path of plain names, as `external.spelled_plainly` returns it. `is_asked`: whether the
        user asks for the digests of large files as well.
        """
        key = location, is_asked
        if key not in self._found:
            self._found[key] = self._read_or_refuse(location, is_asked=is_asked)
        return self._found[key]

    def _read_or_refuse(self, location: str, *, is_asked: bool) -> str | None:
        try:
            digest = self._read(location, is_asked=is_asked)
        except OSError as error:
            self.unread[location] = (error.strerror or str(error)).lower()
            return None
        if digest is not None:
            self.unread.pop(location, None)  # a call that did not ask may have left a reason
        return digest

    def _read(self, location: str, *, is_asked: bool) -> str | None:
        descriptor, status = self._folder.open(location)
        try:
            key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if key in _known:
                return _known[key]
            problem = None if is_asked else self._reserve_unasked(status.st_size)
            problem = problem or self._folder.reserve_bytes(status.st_size)
            if problem is not None:
                self.unread[location] = problem
                return None
            digest = _sha1(descriptor, status.st_size)
        finally:
            os.close(descriptor)
        return _known.keep(key, digest)

    def _reserve_unasked(self, size: int) -> str | None:
        """Reserve bytes to read without a request of the user, as `DataFolder.reserve_bytes` does for all."""
        if size > self._unasked_left:
            return f"its {counted(size, 'byte')} would only be read on request (option --verify-checksums)"
        self._unasked_left -= size
        return None


_UNASKED_BYTES: Final = 1 << 24
"""The most bytes of one model that are read without a request of the user; that takes some ten milliseconds."""

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
