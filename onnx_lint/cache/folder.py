# SPDX-License-Identifier: Apache-2.0
"""Finds the folder of the cache, and refuses one that somebody else could have written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from onnx_lint.common.reasons import reason_of
from onnx_lint.common.record import Record
from onnx_lint.wording import quote

VARIABLE: Final = "ONNX_LINT_CACHE_DIR"
"""The environment variable that names the folder."""

OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class CacheFolderError(ValueError):
    """A cache folder that must not be used; the text says why."""


class CacheFolder(Record):
    """The folder of the cache."""

    path: str
    is_chosen: bool
    """True if the environment names it, False for the usual one."""


def cache_folder(environment: Mapping[str, str]) -> CacheFolder:
    """Return the folder of the cache.

    Raises CacheFolderError if the path is relative, or there is no home folder.
    """
    chosen = environment.get(VARIABLE)
    if chosen:
        if not os.path.isabs(chosen):
            raise CacheFolderError(f"{VARIABLE} is {quote(chosen)}, which is not an absolute path")
        return CacheFolder(chosen, is_chosen=True)
    for name in ("XDG_CACHE_HOME", *(("LOCALAPPDATA",) if sys.platform == "win32" else ())):
        base = environment.get(name)
        if base and os.path.isabs(base):  # the XDG specification: a relative path is ignored
            return CacheFolder(os.path.join(base, "onnx-lint"), is_chosen=True)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise CacheFolderError(f"there is no home folder; {VARIABLE} can name the folder of the cache")
    return CacheFolder(os.path.join(home, ".cache", "onnx-lint"), is_chosen=False)


def prepare(folder: str) -> None:
    """Make the folder if it is missing. Raises CacheFolderError unless only the user can write to it."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError as error:
        raise CacheFolderError(f"{quote(folder)}: {reason_of(error)}") from error
    if not is_own(status):
        raise CacheFolderError(f"{quote(folder)} belongs to another user")
    if os.name == "posix" and status.st_mode & OTHERS_WRITE:
        raise CacheFolderError(f"other users can write to {quote(folder)}; chmod go-w would change that")


def is_own(status: os.stat_result) -> bool:
    """Return whether a file or folder belongs to the user, where the system has owners."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def refuse_beside_models(folder: str, folders_of_models: Iterable[str]) -> None:
    """Raise CacheFolderError if the folder is inside a folder of models. Their author could have written it."""
    place = os.path.realpath(folder)
    above = {place}
    while place != (parent := os.path.dirname(place)):
        above.add(parent)
        place = parent
    for each in folders_of_models:
        if os.path.realpath(each) in above:
            raise CacheFolderError(f"{quote(folder)} is inside {quote(each or '.')}, which is checked")
