# SPDX-License-Identifier: Apache-2.0
"""The paths that a glob of the command line stands for; no link leads around in a circle."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.configuration.globs import matches_text

_MAGIC: Final = "[*?[]"
_ANY_FOLDERS: Final = "**"


class Expanded(Record):
    """What a glob stands for."""

    paths: tuple[str, ...]
    """What is there and matches, sorted; each begins as the glob does."""
    unreadable: tuple[tuple[str, str], ...]
    """The folders below `**` that cannot be looked into, each with the reason."""


def is_glob(path: str) -> bool:
    """Whether a path has characters of a pattern in it."""
    return re.search(_MAGIC, path) is not None


def expanded(pattern: str) -> Expanded:
    """The paths that are there and match.

    `**` between slashes stands for any folders, or none, and at the end for any files below. It follows no links and
    leaves out folders whose name begins with a dot, and what a pattern behind it matches is no link to a folder. For
    other names that begin with a dot a pattern has to begin so, too.
    """
    names = pattern.replace(os.sep, "/").split("/")
    first = next(index for index, name in enumerate(names) if is_glob(name))
    return _Search("".join(f"{name}/" for name in names[:first]), names[first:]).result()


class _Search:
    """Walks through the folders below `start`, on the way that `names` describe."""

    def __init__(self, start: str, names: list[str]) -> None:
        self._names = names
        self._waiting = [(start, 0)]
        self._seen: set[tuple[str, int]] = set()
        """Several `**` lead to one folder in many ways."""
        self._found: set[str] = set()
        self._unreadable: dict[str, str] = {}

    def result(self) -> Expanded:
        """What is found."""
        while self._waiting:
            step = self._waiting.pop()
            if step not in self._seen:
                self._seen.add(step)
                self._take(*step)
        return Expanded(tuple(sorted(self._found)), tuple(sorted(self._unreadable.items())))

    def _take(self, folder: str, index: int) -> None:
        name = self._names[index]
        if name == _ANY_FOLDERS:
            self._take_any(folder, index)
        elif not is_glob(name):
            self._reach([f"{folder}{name}"], index)
        else:
            behind_any = _ANY_FOLDERS in self._names[:index]
            entries = self._entries(folder, tell=False)
            meant = (entry for entry in entries if _is_meant(entry.name, name))
            self._reach(
                (folder + entry.name for entry in meant if not (behind_any and _is_link_to_folder(entry))), index
            )

    def _take_any(self, folder: str, index: int) -> None:
        entries = self._entries(folder, tell=True)
        below = [entry for entry in entries if _is_own_folder(entry) and not entry.name.startswith(".")]
        self._waiting.extend((f"{folder}{entry.name}/", index) for entry in below)
        if index < len(self._names) - 1:
            self._waiting.append((folder, index + 1))
        else:
            self._found.update(folder + entry.name for entry in entries if not _is_folder(entry))

    def _reach(self, paths: Iterable[str], index: int) -> None:
        """Note the paths that the pattern ends with, or go on in those that are folders."""
        if index == len(self._names) - 1:
            self._found.update(path for path in paths if os.path.lexists(path))
        else:
            self._waiting.extend((f"{path}/", index + 1) for path in paths if os.path.isdir(path))

    def _entries(self, folder: str, *, tell: bool) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder or ".") as entries:
                return list(entries)
        except (OSError, ValueError) as error:
            # Where a pattern leads past what it does not mean, as `/tmp/*/m.onnx` does, that is nothing to tell.
            if tell and isinstance(error, OSError) and not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                self._unreadable[folder or "."] = error.strerror or str(error)
            return []


def _is_meant(name: str, pattern: str) -> bool:
    if name.startswith(".") and not pattern.startswith("."):
        return False
    return matches_text(os.path.normcase(pattern), os.path.normcase(name))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not _is_junction(entry)


def _is_link_to_folder(entry: os.DirEntry[str]) -> bool:
    return _is_folder(entry) and not _is_own_folder(entry)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Whether it is what Windows has for a link to a folder; Python 3.11 does not tell."""
    return hasattr(entry, "is_junction") and bool(entry.is_junction())
