# SPDX-License-Identifier: Apache-2.0
"""Patterns for paths. `fnmatch` matches within a name; `**` between names is matched in one pass over the path."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from itertools import accumulate
from operator import or_
from typing import Final

from onnx_lint.input.locations import is_remote

MAX_CHARACTERS: Final = 4096
"""The longest pattern; a longer one matches nothing."""


def matches(pattern: str, path: str, directory: str) -> bool:
    """Return whether `pattern` matches the file at `path`.

    A pattern without a slash matches the file's name in any folder. Any other pattern matches the path relative to
    `directory`, which may lead out of it (`../zoo/*.onnx`), or the absolute path if the pattern is absolute. `*` and
    `?` stop at a slash, `**` between slashes matches any number of folders, `[ab]` and `[!ab]` match one character. A
    remote object is matched by a pattern for its name, or by an address with wildcards such as
    `s3://bucket/**/old-*.onnx`.
    """
    pattern = pattern.removeprefix("./")
    if is_remote(path):
        # An address has no folder: the pattern must be an address as well, or match the name.
        if is_remote(pattern):
            return matches_text(pattern, path)
        return "/" not in pattern and matches_text(pattern, path.rpartition("/")[2])
    path = os.path.abspath(path)  # no resolved links
    if "/" not in pattern:
        wanted = os.path.basename(path)
    elif os.path.isabs(pattern):
        wanted = path
    else:
        try:
            wanted = os.path.relpath(path, directory)
        except ValueError:  # another drive
            return False
    return matches_text(pattern, wanted.replace(os.sep, "/"))


def matches_text(pattern: str, text: str) -> bool:
    """Return whether the pattern matches the whole text, in which slashes separate folders.

    `**` as a whole part matches any number of folders, and at the end everything below. In a name it is like `*`.
    """
    if len(pattern) > MAX_CHARACTERS:
        return False
    names = text.split("/")
    parts = pattern.split("/")
    if parts[-1] == "**":
        parts.append("*")
    # For each number of names, whether the parts so far match that many from the start.
    reached = [True] + [False] * len(names)
    for part in parts:
        if part == "**":
            reached = list(accumulate(reached, or_))
        else:
            reached = [False, *(here and fnmatchcase(name, part) for here, name in zip(reached, names, strict=False))]
    return reached[-1]
