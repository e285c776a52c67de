# SPDX-License-Identifier: Apache-2.0
"""Patterns for paths. Stars in a name are matched by `fnmatch`, those between names in one pass over the path."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from itertools import accumulate
from operator import or_
from typing import Final

from onnx_lint.input.locations import is_remote

MAX_CHARACTERS: Final = 4096
"""A longer pattern, as no path is, matches nothing."""


def matches(pattern: str, path: str, directory: str) -> bool:
    """Whether the file at `path` is meant by `pattern`.

    A pattern without a slash is for the file's name in any folder, another for its path relative to `directory`, which
    may lead out of it (`../zoo/*.onnx`), or for the absolute path when the pattern is one. `*` and `?` stop at a slash,
    `**` between slashes matches any folders or none, `[ab]` and `[!ab]` are one character. A remote object is meant
    by a pattern for its name, or one that begins as its address does, such as `s3://bucket/**/old-*.onnx`.
    """
    pattern = pattern.removeprefix("./")
    if is_remote(path):
        # An address is in no folder: a pattern for it is an address as well, or one for the name.
        wanted = path if is_remote(pattern) else path.rpartition("/")[2] if "/" not in pattern else None
        return wanted is not None and matches_text(pattern, wanted)
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
