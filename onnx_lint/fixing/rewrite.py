# SPDX-License-Identifier: Apache-2.0
"""Writes a mended file in place of the old one: all of it, or nothing."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Iterator
from typing import Final

from onnx_lint.common.replacement import replacement
from onnx_lint.input.patched_source import PatchedSource
from onnx_lint.input.source import FileSource, ReadError, Source

_BLOCK_BYTES: Final = 1 << 20
"""The bytes to copy at once if the system cannot copy the file itself."""

_MOST_COPIED: Final = 16 << 20
"""The bytes to copy with one system call. With more, Linux spends more time on holes of sparse files."""

_NO_COPY: Final = frozenset({errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM})
"""The errors of a system that does not copy between these files by itself."""

_NO_ATTRIBUTE: Final = frozenset({errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENODATA, errno.EINVAL})
"""The errors where the system has no extended attributes, or does not let anybody set one."""


class NotWrittenError(Exception):
    """A file that was left as it is; the text says why."""


def rewrite(
    target: str, source: PatchedSource, check: Callable[[str], str | None], old: os.stat_result | None = None
) -> None:
    """Write the source to a new file, have it checked, and put it in place of the one at `target`.

    `check`: returns what is wrong with the file at a path, or None. `old`: the status of the file to replace when it
    was opened; None if there must be none. Raises NotWrittenError, and OSError if the file cannot be written.
    """
    with replacement(target) as (descriptor, temporary):
        write_pieces(source, descriptor)
        if old is not None:
            _keep_owner(descriptor, old)
            if isinstance(source.base, FileSource):
                _keep_attributes(descriptor, source.base.descriptor)
        os.fsync(descriptor)
        problem = check(temporary)
        if problem is not None:
            raise NotWrittenError(problem)
        if is_changed(target, old):
            raise NotWrittenError("the file has changed meanwhile")
    _sync_folder(os.path.dirname(target) or ".")


def is_changed(path: str, old: os.stat_result | None) -> bool:
    """Return whether the file at the path was replaced or written since its status was `old`."""
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        return old is not None
    return old is None or _identity(now) != _identity(old)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    # Another program can set the time of modification back, but not that of the change of the inode.
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_mode, status.st_dev, status.st_ino, status.st_size, *times


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the owner and the group of the old one."""
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid):
        return
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except OSError as error:
        raise NotWrittenError(f"the owner of the file cannot be kept: {error.strerror}") from error


def _keep_attributes(descriptor: int, old: int) -> None:
    """Give the new file the extended attributes of the old one, among them its access control list."""
    if not hasattr(os, "listxattr"):
        return
    names: list[str] = []
    with _without(_NO_ATTRIBUTE):
        names = os.listxattr(old)
    for name in names:
        with _without(_NO_ATTRIBUTE):
            os.setxattr(descriptor, name, os.getxattr(old, name))


@contextlib.contextmanager
def _without(numbers: Collection[int]) -> Iterator[None]:
    """Suppress the errors of the system with these numbers."""
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise


def _sync_folder(path: str) -> None:
    """Have the new name of a file reach the disk, if the system and the folder allow it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    # Without that nothing is lost: after a crash of the system, the path leads to the old file.
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_pieces(source: PatchedSource, descriptor: int) -> None:
    """Write all bytes of the source to an open file.

    Raises OSError if that fails, and ReadError if the source has become shorter.
    """
    for piece in source.pieces:
        if isinstance(piece, bytes):
            _write(descriptor, piece)
        else:
            copy(source.base, *piece, descriptor)


def copy(base: Source, start: int, end: int, descriptor: int) -> None:
    """Copy the bytes of a source from `start` to `end`; raises as `write_pieces` does."""
    while start < end and isinstance(base, FileSource) and hasattr(os, "copy_file_range"):
        try:
            count = os.copy_file_range(base.descriptor, descriptor, min(end - start, _MOST_COPIED), offset_src=start)
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
