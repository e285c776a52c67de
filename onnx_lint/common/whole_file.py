# SPDX-License-Identifier: Apache-2.0
"""Writes a whole file: new content replaces a file at once, or the file stays as it is."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Collection, Iterator
from enum import Enum
from typing import Final, NamedTuple

TEMPORARY: Final = ".onnx-lint.tmp"
"""The end of the name of a new file. One that a killed process left behind can be deleted."""

_MAX_LETTERS: Final = 50
"""The letters of the old name in that of a new file: four bytes each and the rest are less than the 255 of a name."""

_PERMISSIONS: Final = 0o777
"""The bits of a mode that a new file may take over: never set-user-ID, set-group-ID or sticky."""

_NO_ATTRIBUTE: Final = frozenset({errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENODATA, errno.EINVAL})
"""The errors where the system has no extended attributes, or does not let anybody set one."""


class NotWrittenError(Exception):
    """A file that was left as it is; the text says why."""


class OpenFile(NamedTuple):
    """A file that is open, with its status when it was opened."""

    descriptor: int
    status: os.stat_result


class Replaceable(Enum):
    """What a new file may replace if no certain file is open."""

    ANY_FILE = "any file, if there is one"
    NO_FILE = "nothing: there must be no file"


Replaced = OpenFile | Replaceable
"""What a new file may replace. An open file must not have changed since it was opened."""


@contextlib.contextmanager
def whole_file(target: str, replaces: Replaced = Replaceable.ANY_FILE) -> Iterator[tuple[int, str]]:
    """Yield the descriptor and the path of a new file beside `target`, which it replaces when the block ends.

    The new file has the permissions of the old one, and its owner if the system allows that. If an open file is
    replaced, its owner and its extended attributes, such as an access control list, are kept as well. If the block
    raises, the new file is deleted. Raises NotWrittenError if the file is not what may be replaced or its owner cannot
    be kept, and OSError if the file cannot be written.
    """
    import tempfile

    folder, name = os.path.split(target)
    folder = folder or "."
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:_MAX_LETTERS]}.", suffix=TEMPORARY, dir=folder)
    try:
        try:
            yield descriptor, temporary
            _take_over(descriptor, temporary, target, replaces)
            os.fsync(descriptor)
            _check_replaced(target, replaces)
            # The owner of the folder can put a link in place of the new file, so nothing is changed by its path.
            if not os.path.samestat(os.fstat(descriptor), os.lstat(temporary)):
                raise OSError(errno.EBUSY, "another program replaced the new file while it was written")
        finally:
            os.close(descriptor)  # before the renaming, as Windows renames no open file
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _take_over(descriptor: int, temporary: str, target: str, replaces: Replaced) -> None:
    """Give the new file the owner, the extended attributes and the permissions of the old one."""
    old = _old_status(target, replaces)
    if old is not None:
        try:
            _keep_owner(descriptor, old)
        except OSError as error:
            # A report may replace one of another user.
            if isinstance(replaces, OpenFile):
                raise NotWrittenError(f"the owner of the file cannot be kept: {error.strerror}") from error
    if isinstance(replaces, OpenFile):
        _keep_attributes(descriptor, replaces.descriptor)
    _set_mode(descriptor, temporary, _permissions(old))  # at the end, as a change of the owner may clear some


def _old_status(target: str, replaces: Replaced) -> os.stat_result | None:
    """Return the status of the file to replace; None if there is none."""
    if isinstance(replaces, OpenFile):
        return replaces.status
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the owner and the group of the old one."""
    if not hasattr(os, "fchown"):
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)


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


def _permissions(old: os.stat_result | None) -> int:
    """Return the permissions of the old file, or those of a new one."""
    if old is not None:
        return stat.S_IMODE(old.st_mode) & _PERMISSIONS
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _set_mode(descriptor: int, path: str, mode: int) -> None:
    """Set the permissions of an open file."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)
    else:
        os.chmod(path, mode)  # Windows, where a mode has no more than the read-only flag


def _check_replaced(target: str, replaces: Replaced) -> None:
    """Raise NotWrittenError if another program has changed what the new file replaces."""
    if replaces is Replaceable.ANY_FILE:
        return
    try:
        now = os.lstat(target)
    except FileNotFoundError:
        now = None
    if replaces is Replaceable.NO_FILE:
        if now is not None:
            raise NotWrittenError(f"another program has written {target} meanwhile")
    elif now is None or _identity(now) != _identity(replaces.status):
        raise NotWrittenError("the file has changed meanwhile")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    # Another program can set the time of modification back, but not that of the change of the inode.
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_mode, status.st_dev, status.st_ino, status.st_size, *times


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
