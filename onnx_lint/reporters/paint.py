# SPDX-License-Identifier: Apache-2.0
"""Writes lines of styled text, with or without the control sequences of a terminal.

Nothing is cut. Only for a terminal lines are wrapped, between words, since a terminal itself breaks words. Wrapped
lines after a mark in the margin are aligned with the text after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TextIO

Segment = tuple[str, str]
"""A text and its style: one of STYLES, or empty for plain text."""

Line = tuple[Segment, ...]

STYLES: Final = {
    # The sixteen colours of the terminal's own palette are readable on any background.
    "bold": "1",
    "bold red": "1;31",
    "bold green": "1;32",
    "bold yellow": "1;33",
    "bold blue": "1;34",
    "bold cyan": "1;36",
}
"""The parameters of the control sequence (SGR) that turns each style on."""


def plain(text: str) -> Line:
    """Return a line without style."""
    return ((text, ""),)


def painter(stream: TextIO, *, color: bool, width: int | None = None) -> Callable[[Line], None]:
    """Return a function that writes one line to `stream`. `width`: the columns of a terminal; None to wrap nothing."""
    paint = _painted if color else _bare

    def write(line: Line) -> None:
        for row in (line,) if width is None else _wrapped(line, width):
            stream.write("".join(paint(segment) for segment in row) + "\n")

    return write


def _painted(segment: Segment) -> str:
    text, style = segment
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and text else text


def _bare(segment: Segment) -> str:
    return segment[0]


def columns(text: str) -> int:
    """Return the columns of a terminal that a text needs: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in {"W", "F"}) for char in text)


# --- wrapping

_HANGING: Final = 4
_LEAST_WIDTH: Final = 30
"""The narrowest terminal for which lines are wrapped."""


def _wrapped(line: Line, width: int) -> Iterator[Line]:
    """Yield the line in rows of at most `width` columns; a longer word has a separate row."""
    if width < _LEAST_WIDTH or sum(len(text) for text, _ in line) <= width:
        yield line
        return
    first = line[0][0]
    margin = len(first) if first.startswith(" ") and not first.strip(" =->:") else _HANGING
    row: list[Segment] = []
    column = 0
    for blanks, word in _words(line):
        length = sum(len(text) for text, _ in word)
        if column + len(blanks[0]) + length > width and column > margin:
            yield tuple(row)
            blanks, column = (" " * margin, ""), 0
            row = []
        row += (blanks, *word)
        column += len(blanks[0]) + length
    yield tuple(row)


_PIECES: Final = r" +|(?<![^ ])[\d,]*\d [a-z][^ ]*|[^ ]+"
"""Matches blanks, and words. A count and the noun after it are one word."""


def _words(line: Line) -> Iterator[tuple[Segment, list[Segment]]]:
    """Yield the words of the line with the blanks before each.

    A word may have several styles; final blanks are dropped.
    """
    blanks: Segment = ("", "")
    word: list[Segment] = []
    for text, style in line:
        for piece in re.findall(_PIECES, text):
            if not piece.startswith(" "):
                word.append((piece, style))
            elif word:
                yield blanks, word
                blanks, word = (piece, style), []
            else:
                blanks = (piece, style)
    if word:
        yield blanks, word
