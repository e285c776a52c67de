# SPDX-License-Identifier: Apache-2.0
"""Patterns for paths, matched in time that grows with the length of the path.

Regular expressions, which `fnmatch` makes as well, try the ways in which the stars of `*a*a*a*b` may share a name out;
and a configuration may come from a stranger.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from typing import Final

from onnx_lint.common.cached import remembered
from onnx_lint.input.locations import is_remote

MAX_CHARACTERS: Final = 4096
"""A longer pattern, as no path is, matches nothing."""

_TOKEN: Final = re.compile(r"(?:(?<=/)|^)(?:\*\*/)+|\*+|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)
"""What begins with `**/` stands for any folders, or for none."""
_MAY_BE_NONE: Final = ""
"""A token that takes nothing: the two behind it, which are any folders and a slash, may be left out."""


def matches(pattern: str, path: str, directory: str) -> bool:
    """Whether the file at `path` is meant by `pattern`.

    A pattern without a slash is for the file's name in any folder, another for its path relative to `directory`, which
    may lead out of it (`../zoo/*.onnx`), or for the absolute path when the pattern is one. `*` and `?` stop at a slash,
    `**` does not and may stand for no folder at all, `[ab]` and `[!ab]` are one character. A remote object is meant by
    a pattern for its name, or one that begins as its address does, such as `s3://bucket/**/old-*.onnx`.
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
    """Whether the pattern is for the whole of the text, in which slashes separate folders."""
    return len(pattern) <= MAX_CHARACTERS and _pattern(pattern).matches(text)


@remembered(1_024)
def _pattern(text: str) -> _Pattern:
    return _Pattern(text)


class _Pattern:
    """A pattern as tokens. Bit n of a number says that the text so far may be what stands before token n.

    So all ways to share the text out are followed at once, and each character is looked at once.
    """

    def __init__(self, text: str) -> None:
        self._tokens = [token for match in _TOKEN.finditer(text) for token in _tokens(match[0])]
        self._repeated = self._where(lambda token: token[:1] == "*")
        self._choices = self._where(lambda token: token == _MAY_BE_NONE)
        self._takers: dict[str, int] = {}

    def _where(self, holds: Callable[[str], bool]) -> int:
        """The number with the bits of the tokens for which something holds."""
        digits = "".join("1" if holds(token) else "0" for token in reversed(self._tokens))
        return int(digits or "0", 2)

    def matches(self, text: str) -> bool:
        """Whether the pattern is for the whole text."""
        reached = self._onwards(1)
        for character in text:
            if character not in self._takers:
                self._takers[character] = self._where(functools.partial(_takes, character=character))
            taking = reached & self._takers[character]
            reached = self._onwards((taking & self._repeated) | ((taking & ~self._repeated) << 1))
        return bool(reached >> len(self._tokens))

    def _onwards(self, reached: int) -> int:
        """What is reached besides because a token takes no character."""
        while True:
            choices = reached & self._choices
            more = reached | (reached & self._repeated) << 1 | choices << 1 | choices << 3
            if more == reached:
                return reached
            reached = more


def _tokens(text: str) -> Iterator[str]:
    """The tokens that a piece of a pattern is, one for each character that it takes, once or repeatedly."""
    if text.startswith("**/"):
        yield from (_MAY_BE_NONE, "**", "/")
    elif text.startswith("*"):
        yield text[:2]
    elif text[0] == "[" and len(text) > 2:
        yield text
    else:
        yield from text


def _takes(token: str, character: str) -> bool:
    """Whether a token takes the character."""
    if token == "**":
        return True
    if token in {"*", "?"}:
        return character != "/"
    if len(token) > 1:
        negated = token[1] == "!"
        return character != "/" and _is_in(token[2 if negated else 1 : -1], character) != negated
    return token == character


def _is_in(characters: str, character: str) -> bool:
    """Whether a character is one of those between brackets, where `a-z` are all from a to z."""
    while characters:
        if characters[1:2] == "-" and len(characters) > 2:
            if characters[0] <= character <= characters[2]:
                return True
            characters = characters[3:]
        elif characters[0] == character:
            return True
        else:
            characters = characters[1:]
    return False
