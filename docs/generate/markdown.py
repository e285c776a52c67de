# SPDX-License-Identifier: Apache-2.0
"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def block(text: str, language: str = "text") -> str:
    """A fenced block, whatever fences the text itself has."""
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a vertical bar in a cell stays a part of the cell."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def plain(text: str) -> str:
    """Return plain text as Markdown."""
    return re.sub(r"[\\*_<>\[\]#`]", r"\\\g<0>", text)


def lowered(text: str) -> str:
    """The headings of a rule's documentation, a level higher: on its page they follow the title."""
    return re.sub("^###(?= )", "##", text, flags=re.MULTILINE)


def page(*parts: str) -> str:
    """The parts, separated by empty lines."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
