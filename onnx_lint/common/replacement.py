# SPDX-License-Identifier: Apache-2.0
"""Replaces a file by a new one as a whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import Final

TEMPORARY: Final = ".onnx-lint.tmp"
"""The end of the name of a new file. One that a killed process left behind can be deleted."""

_PERMISSIONS: Final = 0o777
"""The bits of a mode that a new file may take over: never set-user-ID, set-group-ID or sticky."""


@contextlib.contextmanager
def replacement(target: str) -> Iterator[tuple[int, str]]:
    """Yield the descriptor and the path of a new file beside `target`, which it replaces when the block ends.

    The new file has the permissions of the old one. If the block raises, the new file is deleted. Raises OSError if the
    file cannot be replaced.
    """
    import tempfile

    directory, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=TEMPORARY, dir=directory or ".")
    try:
        try:
            yield descriptor, temporary
            # The owner of the folder can put a link in place of the new file, so nothing is changed by its path.
            _set_mode(descriptor, temporary, _mode(target))
            if not os.path.samestat(os.fstat(descriptor), os.lstat(temporary)):
                raise OSError(errno.EBUSY, "another program replaced the new file while it was written")
        finally:
            os.close(descriptor)  # before the renaming, as Windows renames no open file
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _set_mode(descriptor: int, path: str, mode: int) -> None:
    """Set the permissions of an open file."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)
    else:
        os.chmod(path, mode)  # Windows, where a mode has no more than the read-only flag


def _mode(target: str) -> int:
    """Return the permissions of the file to replace, or those of a new file."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode) & _PERMISSIONS
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
