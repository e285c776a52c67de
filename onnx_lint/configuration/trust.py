# SPDX-License-Identifier: Apache-2.0
"""Decides whose Python files may run: the folders that the user trusts, and the owners, modes and access control lists.

Where the system has no owners and modes, as on Windows, the folders alone decide. Of access control lists, only those
of POSIX on Linux are read.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.configuration.file_names import FILE_NAMES

_MAX_LINKS: Final = 40
"""The links that Linux follows in one path."""

_ACL: Final = "system.posix_acl_access"
_ACL_VERSION: Final = struct.pack("<I", 2)
_ACL_ENTRY: Final = struct.Struct("<HHI")
"""The form of an `_AclEntry`."""
_ACL_USER: Final = 0x02
_ACL_FILE_GROUP: Final = 0x04
_ACL_GROUP: Final = 0x08
_ACL_WRITE: Final = 0x02


class _AclEntry(Record):
    """An entry of an access control list."""

    tag: int
    """The kind of the entry: for a user, for the group of the file, for another group."""
    permissions: int
    number: int
    """The id of the user or group."""


class _PathPart(Record):
    """A folder, a link or the file on the way to a file."""

    path: str
    status: os.stat_result

    @property
    def is_link(self) -> bool:
        """True for a symbolic link."""
        return stat.S_ISLNK(self.status.st_mode)


class Danger(Record):
    """A reason why another user could decide what a file does."""

    text: str
    is_owner: bool
    """True if the file, a folder above it or a link belongs to another user; False if others can write to it."""


def user_file() -> str | None:
    """Return the path of the user's own configuration; None without a home folder. The file may be missing.

    It is where platformdirs has the configuration of a user.
    """
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the XDG specification: a relative path is ignored
        below = {"win32": "~/AppData/Local", "darwin": "~/Library/Application Support"}.get(sys.platform, "~/.config")
        base = os.path.expanduser(os.path.normpath(below))
    return os.path.join(base, FILE_NAMES[0]) if os.path.isabs(base) else None


def is_user_file(path: str) -> bool:
    """Return whether the path is that of the user's own configuration, which is not the configuration of models."""
    own = user_file()
    return own is not None and os.path.realpath(own) == os.path.realpath(path)


def dangers(path: str) -> Iterator[Danger]:
    """Yield why another user could change the file at `path`, or put another one in its place.

    The file, the links that lead to it and each folder on the way must belong to the user or root, and nobody else may
    be able to write to them. In a folder such as /tmp everybody can write, but nobody can replace a file of others.
    Raises OSError if one of them is missing, or if there are too many links.
    """
    if not hasattr(os, "geteuid"):
        return
    owners = {0, os.geteuid()}
    for part in _path_parts(os.path.join(os.getcwd(), path)):
        status = part.status
        if status.st_uid not in owners:
            yield Danger(f"{part.path} belongs to another user (id {status.st_uid})", is_owner=True)
        if not part.is_link and not _keeps_entries(status):
            yield from (Danger(text, is_owner=False) for text in _ways_to_write(part.path, status, owners))


def _path_parts(path: str) -> Iterator[_PathPart]:
    """Yield the folders above an absolute path, from the root on, and the file. After a link, begin with its target."""
    left = path
    for _ in range(_MAX_LINKS + 1):
        for place in (*_folders(left), left):
            part = _PathPart(place, os.lstat(place))
            yield part
            if part.is_link:
                left = os.path.join(os.path.dirname(place), os.readlink(place)) + left[len(place) :]
                break
        else:
            return
    raise OSError(errno.ELOOP, "too many links", path)


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above an absolute path, from the root on. `..` stays, since it may follow a link."""
    end = path.find(os.sep)
    while end >= 0:
        yield path[:end] or os.sep
        end = path.find(os.sep, end + 1)


def _keeps_entries(status: os.stat_result) -> bool:
    """Return whether it is a folder in which only the owner of a file can replace the file."""
    return stat.S_ISDIR(status.st_mode) and bool(status.st_mode & stat.S_ISVTX)


def _ways_to_write(path: str, status: os.stat_result, owners: set[int]) -> Iterator[str]:
    """Yield a sentence for each way in which others can write to a file or folder."""
    if status.st_mode & stat.S_IWOTH:
        yield f"everybody can write to {path}"
    elif status.st_mode & stat.S_IWGRP:  # with an access control list, these bits are the most that it allows
        try:
            entries = _access_control_list(path)
        except ValueError:
            yield f"the access control list of {path} cannot be read"
            return
        if entries is not None:
            yield from (f"{who} can write to {path}" for who in _other_writers(entries, status.st_gid, owners))
        elif not _is_private_group(status.st_gid, owners):
            yield f"group {status.st_gid} can write to {path}"


def _other_writers(entries: Iterable[_AclEntry], file_group: int, owners: set[int]) -> Iterator[str]:
    """Yield who else can write, by the entries of an access control list. `file_group`: the group of the file."""
    for entry in entries:
        if not entry.permissions & _ACL_WRITE:
            continue
        if entry.tag == _ACL_USER and entry.number not in owners:
            yield f"user {entry.number}"
        group = {_ACL_FILE_GROUP: file_group, _ACL_GROUP: entry.number}.get(entry.tag)
        if group is not None and not _is_private_group(group, owners):
            yield f"group {group}"


def _access_control_list(path: str) -> list[_AclEntry] | None:
    """Return the entries of the access control list of a file; None if it has no list.

    Raises ValueError if the list cannot be read.
    """
    if not hasattr(os, "getxattr"):
        return None
    try:
        data = os.getxattr(path, _ACL, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP):  # no list, or a file system without any
            return None
        raise ValueError(error.strerror) from error
    if not data.startswith(_ACL_VERSION) or len(data) % _ACL_ENTRY.size != len(_ACL_VERSION):
        raise ValueError("unknown form")
    return [_AclEntry(*fields) for fields in _ACL_ENTRY.iter_unpack(data[len(_ACL_VERSION) :])]


def _is_private_group(group: int, owners: set[int]) -> bool:
    """Return whether only the owners are in the group. Debian and Fedora give each user such a group, and umask 002."""
    import grp
    import pwd

    try:
        names = set(grp.getgrgid(group).gr_mem)
    except KeyError:
        names = set()
    members = {entry.pw_uid for entry in pwd.getpwall() if entry.pw_gid == group or entry.pw_name in names}
    return members <= owners and (bool(members) or group == os.getegid())
