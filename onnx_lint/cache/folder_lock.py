# SPDX-License-Identifier: Apache-2.0
"""A lock on a folder: many processes use the files in it, or one of them replaces these files."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any, Final

try:
    import fcntl as _fcntl
except ImportError:  # Windows, which deletes no file that another process has open
    _locks: Any = None
else:
    _locks = _fcntl


_PAUSE: Final = 0.02
"""The seconds between two attempts to lock a folder."""


class FolderLock:
    """The lock of this process on a folder. It ends with the process at the latest.

    Where the file system has no such locks, nothing is locked.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def share(self) -> None:
        """Lock the folder together with others. Raises BlockingIOError if another process replaces files in it."""
        if _locks is not None:
            self._take(_locks.LOCK_SH)

    def claim(self) -> None:
        """Lock the folder against all others. Raises BlockingIOError if another process has locked it."""
        if _locks is not None:
            self._take(_locks.LOCK_EX)

    def release(self) -> None:
        """Unlock the folder."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _take(self, kind: int) -> None:
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._folder, os.O_RDONLY)
            _locks.flock(self._descriptor, kind | _locks.LOCK_NB)
        except BlockingIOError:
            self.release()  # a lock that could not be changed may be lost
            raise
        except OSError:
            with contextlib.suppress(OSError):
                self.release()


@contextlib.contextmanager
def claimed(folder: str, seconds: float) -> Iterator[None]:
    """Lock a folder against other processes while the block runs.

    If another process has locked it for longer than `seconds`, the block runs without the lock: it may be a process
    that waits for this one.
    """
    lock, end = FolderLock(folder), time.monotonic() + seconds
    while True:
        try:
            lock.claim()
            break
        except BlockingIOError:
            if time.monotonic() > end:
                break
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        lock.release()
