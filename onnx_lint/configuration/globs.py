# SPDX-License-Identifier: Apache-2.0
"""Patterns for paths."""

from __future__ import annotations

import functools
import os
import re

_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


def matches(pattern: str, path: str, directory: str) -> bool:
    """Whether the file at `path` is meant by `pattern`.

    A pattern without a slash is for the file's name in any folder, another for its path relative to `directory`, which
    may lead out of it (`../zoo/*.onnx`), or for the absolute path when the pattern is one. `*` and `?` stop at a slash,
    `**` does not and may stand for no folder at all, `[ab]` and `[!ab]` are one character.
    """
    path = os.path.abspath(path)  # no resolved links
    pattern = pattern.removeprefix("./")
    if "/" not in pattern:
        wanted = os.path.basename(path)
    elif os.path.isabs(pattern):
        wanted = path
    else:
        try:
            wanted = os.path.relpath(path, directory)
        except ValueError:  # another drive
            return False
    return _compiled(pattern).fullmatch(wanted.replace(os.sep, "/")) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_translated(match[0]) for match in _TOKEN.finditer(pattern)), re.DOTALL)


def _translated(token: str) -> str:
    fixed = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in fixed:
        return fixed[token]
    if len(token) > 2 and token[0] == "[" and token[-1] == "]":
        negated = token[1] == "!"
        inner = token[2 if negated else 1 : -1].replace("\\", "\\\\").replace("^", "\\^").replace("[", "\\[")
        return f"[{'^/' if negated else ''}{inner.replace(']', chr(92) + ']')}]" if inner else re.escape(token)
    return re.escape(token)
