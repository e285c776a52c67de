# SPDX-License-Identifier: Apache-2.0
"""Writes lines of styled text: with the control sequences of a terminal, or as they are. Nothing is wrapped or cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TextIO

Segment = tuple[str, str]
"""Text and its style, one of those in STYLES; an empty style for plain text."""

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
    """A line without style."""
    return ((text, ""),)


def link(text: str, url: str) -> str:
    """The text as a link of the terminal (OSC 8); a terminal that knows no links shows the text alone."""
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\"


def painter(stream: TextIO, *, color: bool) -> Callable[[Line], None]:
    """A function that writes one line to `stream`."""
    paint = _painted if color else _bare

    def write(line: Line) -> None:
        stream.write("".join(paint(segment) for segment in line) + "\n")

    return write


def _painted(segment: Segment) -> str:
    text, style = segment
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and text else text


def _bare(segment: Segment) -> str:
    return segment[0]
