# SPDX-License-Identifier: Apache-2.0
"""Finds out whether a file is unchanged, by its status in the file system or by the digest of its content.

A stored object is unchanged if its store names the same version.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from typing import Final

from onnx_lint.input.regular_file import stream_of_regular

SETTLED_NANOSECONDS: Final = 2_000_000_000
"""A file that changed later than this before a check could change again and keep its time stamp."""

MAX_DIGEST_BYTES: Final = 64 << 20
"""The most bytes of a file to digest. A check does not read the payloads of tensors, but a digest would."""

_PIECE_BYTES: Final = 1 << 20

Identity = tuple[int, int, int, int, int] | tuple[str, int]
"""Of a file: device, inode, size, and the times of the last change to the content and to the entry, in nanoseconds.
Of a stored object: the store's name of the version, and the size.
"""


def identity_of(status: os.stat_result) -> Identity:
    """Return what identifies a version of a file."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def identity_at(path: str, *, follow_links: bool = True) -> Identity | None:
    """Return the identity of the regular file at a path; None if there is none."""
    try:
        status = os.stat(path, follow_symlinks=follow_links)
    except (OSError, ValueError):
        return None
    return identity_of(status) if stat.S_ISREG(status.st_mode) else None


def is_settled(identity: Sequence[int | str], moment: int) -> bool:
    """Return whether the file was last changed well before a moment, given in nanoseconds."""
    times = [each for each in identity[3:] if isinstance(each, int)]
    if not times:
        return True  # a stored object: another content has another version
    # On Windows st_ctime is the time of creation, and st_mtime can be set.
    return os.name == "posix" and max(times) + SETTLED_NANOSECONDS <= moment


def is_same_elsewhere(identity: Sequence[int | str], other: Sequence[int | str]) -> bool:
    """Return whether two identities may be of one file, seen by two machines, which number devices differently."""
    skipped = 0 if isinstance(identity[0], str) else 1
    return list(identity[skipped:]) == list(other[skipped:])


def digest_at(path: str) -> str | None:
    """Return the digest of the content of a regular file; None if it cannot be read or is too large."""
    found = hashlib.sha256()
    left = MAX_DIGEST_BYTES
    try:
        with stream_of_regular(path) as stream:
            while piece := stream.read(min(_PIECE_BYTES, left + 1)):
                left -= len(piece)
                if left < 0:
                    return None
                found.update(piece)
    except (OSError, ValueError):
        return None
    return found.hexdigest()
