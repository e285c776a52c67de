# SPDX-License-Identifier: Apache-2.0
"""Expands globs of the command line, without running in circles along links."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.globs import matches_text

_MAGIC: Final = "[*?[]"
_ANY_FOLDERS: Final = "**"


class Expanded(Record):
    """The result of expanding a glob."""

    paths: tuple[str, ...]
    """The existing paths that match, sorted; each begins as the glob does."""
    unreadable: tuple[tuple[str, str], ...]
    """The folders below `**` that cannot be listed, each with the reason."""


def is_glob(path: str) -> bool:
    """Return whether a path contains characters of a pattern."""
    return re.search(_MAGIC, path) is not None


def expanded(pattern: str) -> Expanded:
    """Return the existing paths that match.

    `**` between slashes matches any number of folders, and at the end any files below. It follows no links, skips
    folders whose name begins with a dot, and a pattern after it matches no links to folders. Any other name that begins
    with a dot matches only a pattern that begins with a dot.
    """
    names = pattern.replace(os.sep, "/").split("/")
    first = next(index for index, name in enumerate(names) if is_glob(name))
    return _Search("".join(f"{name}/" for name in names[:first]), names[first:]).result()


class _Search:
    """Searches the folders below `start` for paths that match the parts `names` of the pattern."""

    def __init__(self, start: str, names: list[str]) -> None:
        self._names = names
        self._waiting = [(start, 0)]
        self._seen: set[tuple[str, int]] = set()
        """The steps already taken. Several `**` lead to one folder in many ways."""
        self._found: set[str] = set()
        self._unreadable: dict[str, str] = {}

    def result(self) -> Expanded:
        """Search, and return the paths that match."""
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
            entries = self._entries(folder, reports_errors=False)
            meant = (entry for entry in entries if _is_meant(entry.name, name))
            self._reach(
                (folder + entry.name for entry in meant if not (behind_any and _is_link_to_folder(entry))), index
            )

    def _take_any(self, folder: str, index: int) -> None:
        entries = self._entries(folder, reports_errors=True)
        below = [entry for entry in entries if _is_own_folder(entry) and not entry.name.startswith(".")]
        self._waiting.extend((f"{folder}{entry.name}/", index) for entry in below)
        if index < len(self._names) - 1:
            self._waiting.append((folder, index + 1))
        else:
            self._found.update(folder + entry.name for entry in entries if not _is_folder(entry))

    def _reach(self, paths: Iterable[str], index: int) -> None:
        """Record the paths if this is the last part of the pattern; otherwise continue in those that are folders."""
        if index == len(self._names) - 1:
            self._found.update(path for path in paths if os.path.lexists(path))
        else:
            self._waiting.extend((f"{path}/", index + 1) for path in paths if os.path.isdir(path))

    def _entries(self, folder: str, *, reports_errors: bool) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder or ".") as entries:
                return list(entries)
        except (OSError, ValueError) as error:
            # `/tmp/*/m.onnx` also enters folders that the user did not mean; not being able to list them is no failure.
            if (
                reports_errors
                and isinstance(error, OSError)
                and not isinstance(error, (FileNotFoundError, NotADirectoryError))
            ):
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
    """Return whether the entry is a junction, a link to a folder on Windows; always false in Python 3.11."""
    return hasattr(entry, "is_junction") and bool(entry.is_junction())
