# SPDX-License-Identifier: Apache-2.0
"""Edits of a list or an object in brackets: elements with commas between them, and comments anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.loader.text.text_tokens import TEXT_TOKENS

Extent = tuple[int, int]
"""The first character of something in the text, and the one after it."""

TextPatch = tuple[int, int, Sequence[str | Extent]]
"""The characters to replace, and the pieces that replace them: new text, or characters to copy."""

_COMMA: Final = re.compile(r",(?:[ \t]++(?![#\r\n]))?")
"""A comma, and the space behind it if anything follows on its line; a comment keeps its distance."""


class BracketList(Record):
    """A list or an object in brackets."""

    opening: int
    """The character after the opening bracket."""
    elements: tuple[Extent, ...]
    commas: tuple[int, ...]
    """The comma after each element except the last one."""


class Arrival(Record):
    """Something to insert into a list."""

    before: int
    """The index of the element to insert it before, or the number of elements."""
    new: str | Extent


def lists_in(text: str, start: int) -> Iterator[BracketList]:
    """Yield the lists in the message that begins at `start`, or in the whole text; not those in inner messages.

    Lists with numbers and words are left out.
    """
    depth = 0 if start == 0 else -1
    found: list[Extent] = []
    commas: list[int] = []
    opening: int | None = None
    is_plain, is_open = True, False
    for token in TEXT_TOKENS.finditer(text, start):
        kind = token.lastgroup or token[0]
        if kind == "quoted" and token[0][0] == "#":
            continue
        if kind in ("]", "}", ">"):
            depth -= 1
            if depth < 0:
                return
        if depth == 0 and kind == "[":
            opening, found, commas, is_plain, is_open = token.end(), [], [], True, False
        elif depth == 0 and kind == "]" and opening is not None:
            if is_plain:
                yield BracketList(opening, tuple(found), tuple(commas))
            opening = None
        elif opening is not None and depth == 1 and kind == ",":
            commas.append(token.start())
            is_open = False
        elif opening is not None:
            is_plain = is_plain and (depth > 1 or kind not in ("row", "word"))
            found[len(found) - is_open :] = [(found[-1][0] if is_open else token.start(), token.end())]
            is_open = True
        if kind in ("[", "{", "<"):
            depth += 1


def list_patches(
    text: str, edited: BracketList, gone: Mapping[int, Extent], arrivals: Sequence[Arrival]
) -> Iterator[TextPatch]:
    """Yield what changes in a list if elements are removed from it, and others are inserted.

    `gone`: for each removed element its text, or its lines if nothing else is on them.
    """
    stays = [index for index in range(len(edited.elements)) if index not in gone]
    last = stays[-1] if stays else -1
    yield from ((*area, ()) for area in gone.values())
    for index, comma in enumerate(edited.commas):
        if (index in gone or index >= last) and not any(start <= comma < end for start, end in gone.values()):
            match = _COMMA.match(text, comma)
            assert match is not None
            yield comma, match.end(), ()
    behind = edited.elements[last][1] if stays else edited.opening
    gap = _gap(text, edited)
    is_first = not stays
    for arrival in sorted(arrivals, key=lambda each: each.before):
        following = next((index for index in stays if index >= arrival.before), None)
        if following is not None:
            start = edited.elements[following][0]
            yield start, start, (arrival.new, gap)
        else:
            yield behind, behind, (arrival.new,) if is_first else (gap, arrival.new)
            is_first = False


def _gap(text: str, edited: BracketList) -> str:
    """Return what to write between two elements: the same as between others, if there is no comment."""
    for (_, end), (start, _) in pairwise(edited.elements):
        if text[end:start].strip() == ",":
            return text[end:start]
    return ", "
