# SPDX-License-Identifier: Apache-2.0
"""Copies the bytes of a source to an open file, in little memory."""

from __future__ import annotations

import errno
import os
from typing import Final

from onnx_lint.input.patched_source import PatchedSource
from onnx_lint.input.source import FileSource, ReadError, Source

_BLOCK_BYTES: Final = 1 << 20
"""The bytes to copy at once if the system cannot copy the file itself."""

_MAX_COPIED: Final = 16 << 20
"""The bytes to copy with one system call. With more, Linux spends more time on holes of sparse files."""

_NO_COPY: Final = frozenset({errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM})
"""The errors of a system that does not copy between these files by itself."""


def copy_all(source: PatchedSource, descriptor: int) -> None:
    """Write all bytes of the source to an open file.

    Raises OSError if that fails, and ReadError if the source has become shorter.
    """
    for piece in source.pieces:
        if isinstance(piece, bytes):
            _write(descriptor, piece)
        else:
            copy_range(source.base, *piece, descriptor)


def copy_range(base: Source, start: int, end: int, descriptor: int) -> None:
    """Write the bytes of a source from `start` to `end` to an open file; raises as `copy_all` does."""
    while start < end and isinstance(base, FileSource) and hasattr(os, "copy_file_range"):
        try:
            count = os.copy_file_range(base.descriptor, descriptor, min(end - start, _MAX_COPIED), offset_src=start)
        except OSError as error:
            if error.errno in _NO_COPY:
                break
            raise
        if not count:
            break
        start += count
    while start < end:
        block = base.read_at(start, min(end - start, _BLOCK_BYTES))
        if not block:
            raise ReadError("the file became shorter while it was read")
        _write(descriptor, block)
        start += len(block)


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
