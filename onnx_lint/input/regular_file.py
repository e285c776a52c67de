# SPDX-License-Identifier: Apache-2.0
"""Opens regular files and nothing else: a pipe may block, a device may never end or have side effects."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader


def open_regular(path: str | os.PathLike[str]) -> tuple[int, os.stat_result]:
    """Return the descriptor of the regular file at `path`, opened for reading bytes, and its status.

    Raises OSError if there is none or it cannot be opened, and ValueError for a path that no system allows.
    """
    # Check before opening, since opening some devices has side effects; and after it, since the file may have changed.
    _check(os.stat(path), path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        _check(status, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, status


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of the regular file at `path`. Raises OSError also if it has more than `most` bytes."""
    descriptor, status = open_regular(path)
    with open(descriptor, "rb") as stream:
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"is larger than {most:,} bytes", os.fspath(path))
        return stream.read(status.st_size)


def read_beginning(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the first bytes of the regular file at `path`, at most `most`. Raises as `open_regular` does."""
    with stream_of_regular(path) as stream:
        return stream.read(most)


def stream_of_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Return the regular file at `path` as a stream of bytes. Raises as `open_regular` does."""
    return open(open_regular(path)[0], "rb")


def kind_of_file(mode: int) -> str:
    """Return in words what kind of file a mode means, for files that are not regular."""
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFCHR: "a character device",
        stat.S_IFBLK: "a block device",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(number, f"is {kind_of_file(status.st_mode)}, not a regular file", os.fspath(path))
