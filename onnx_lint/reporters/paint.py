# SPDX-License-Identifier: Apache-2.0
"""Writes lines of styled text: with rich on a terminal, as they are anywhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

Segment = tuple[str, str]
"""Text and its style in rich's words; an empty style for plain text."""

Line = tuple[Segment, ...]


def plain(text: str) -> Line:
    """A line without style."""
    return ((text, ""),)


def painter(stream: TextIO, *, color: bool) -> Callable[[Line], None]:
    """A function that writes one line to `stream`. Nothing is wrapped or cut; rich is imported only for colour."""
    return _with_rich(stream) if color else lambda line: _write(line, stream)


def _write(line: Line, stream: TextIO) -> None:
    stream.write("".join(text for text, _ in line) + "\n")


def _with_rich(stream: TextIO) -> Callable[[Line], None]:
    from rich.console import Console
    from rich.text import Text

    # The sixteen colours of the terminal's own palette are readable on any background.
    console = Console(
        file=stream, force_terminal=True, color_system="standard", no_color=False, markup=False, highlight=False
    )

    def write(line: Line) -> None:
        # Text is never parsed for markup, and a soft wrap leaves long lines to the terminal.
        console.print(Text.assemble(*((text, style) for text, style in line)), soft_wrap=True)

    return write
