# SPDX-License-Identifier: Apache-2.0
"""The boxes of a picture with their words, their sizes and their places. All lengths are in pixels."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.report.pictures import Picture, PictureArrow, PictureBox, PictureValue
from onnx_lint.reporters.picture_layout import STEP, Arrangement, layout_of

MAX_CHARACTERS: Final = 22
"""The most characters of a line in a box or below it, so that two boxes fit beside each other on a phone. The tooltip
has all.
"""

_MIN_NAME: Final = 6
"""The fewest characters that are left for the name of a value beside its type."""

_DECLARED: Final = "declared "

TITLE: Final = "t"
NAME: Final = "n"
READ_VALUE: Final = "c"
VALUE: Final = "v"
TYPE: Final = "y"
"""The classes of `page.css` for lines: the title of a box, its name, a value that it reads, one that leaves it, and the
type of the latter."""

_CHARACTER: Final = 7.25
"""The width of a character of 12 pixels in the widest usual font with a fixed width."""

LINE: Final = 16
PAD: Final = 8
"""The distance of the words in a box from its edges."""
PORT: Final = 16
"""The distance of the first arrow from the left edge of a box."""
_LANE: Final = 11
"""The distance of the arrows of several values of a box."""
_BESIDE_ARROWS: Final = 8
"""The distance of the words below a box from the arrows beside them."""
_BELOW_WORDS: Final = 4
"""The room below the words about values."""
BETWEEN: Final = 30
"""The height between two layers."""
MARGIN: Final = 10
_ROOM_FOR_RETURNS: Final = 24
"""The room above and to the right of all boxes for arrows that lead back up."""


class Words(Record):
    """A line of text in a box or below it."""

    kind: str
    """The class that styles it."""
    text: str
    whole: str
    """The text for the tooltip, if `text` is only a part of it."""
    mark: str = ""
    value: int | None = None
    """The index of the value whose arrows begin beside the line."""

    @property
    def width(self) -> float:
        """The width in pixels."""
        return _CHARACTER * _cells(self.text)


class SizedBox(Record):
    """A box with its words and its size."""

    box: PictureBox
    index: str
    """The index of a node, as it follows the title; empty for other boxes."""
    lines: tuple[Words, ...]
    """The lines in the box."""
    below: tuple[Words, ...]
    """The lines about values, below the box."""
    width: int
    height: int
    """The height without the lines below."""
    inset: int
    """The distance of the lines below from the left edge."""

    @property
    def whole_height(self) -> int:
        """The height with the lines below."""
        return self.height + (LINE * len(self.below) + _BELOW_WORDS if self.below else 0)

    @property
    def extents(self) -> tuple[float, float]:
        """How far it reaches to the left and to the right of its column."""
        below = max([line.width for line in self.below], default=0) + self.inset
        return PORT, max(self.width, below) - PORT


class PlacedBox(Record):
    """A box with its place in a picture."""

    sized: SizedBox
    layer: int
    column: int
    """The line of the first arrow that enters it."""
    top: int
    ports: tuple[int, ...]
    """The distance of the arrows of each value from the column."""

    @property
    def left(self) -> int:
        """The left edge."""
        return self.column - PORT

    @property
    def bottom(self) -> int:
        """The lower edge of the box, above the lines about values."""
        return self.top + self.sized.height


class PlacedPicture(Record):
    """The boxes of a picture with their places, and the size of the picture."""

    boxes: tuple[PlacedBox, ...]
    arrangement: Arrangement
    tops: Sequence[int]
    """The top of each layer, and where a further one would begin."""
    width: int
    height: int


def placed_picture(picture: Picture) -> PlacedPicture:
    """Return the layout of a picture."""
    ends = [(arrow.source, arrow.target) for arrow in picture.arrows]
    targets = [target for _, target in ends]
    sized = [_sized(box, arrow_count=targets.count(number)) for number, box in enumerate(picture.boxes)]
    arrangement = layout_of([box.extents for box in sized], ends)
    has_returns = any(each not in arrangement.ways for each in ends)
    room = _ROOM_FOR_RETURNS if has_returns else 0
    tops = _tops(sized, arrangement.layers, MARGIN + room)
    columns = [round(column) + MARGIN for column in arrangement.columns]
    boxes = [
        PlacedBox(box, layer, columns[number], tops[layer], _ports(number, box, picture.arrows, columns))
        for number, (box, layer) in enumerate(zip(sized, arrangement.layers, strict=True))
    ]
    width = round(arrangement.width) + 2 * MARGIN + room
    return PlacedPicture(tuple(boxes), arrangement, tops, width, height=tops[-1] - BETWEEN + MARGIN)


def _sized(box: PictureBox, *, arrow_count: int) -> SizedBox:
    """Return a box with its size. `arrow_count`: the number of arrows that enter it."""
    index = "" if box.index is None else f" {box.index}"
    lines = tuple(_lines_in(box, reserved=len(index)))
    below = [line for number, value in enumerate(box.values) for line in _lines_below(number, value)]
    widths = [lines[0].width + _CHARACTER * len(index), *(line.width for line in lines[1:])]
    return SizedBox(
        box,
        index,
        lines,
        tuple(below),
        width=round(max(max(widths) + 2 * PAD, 2 * PORT + STEP * max(arrow_count - 1, 0))),
        height=LINE * len(lines) + PAD,
        inset=PORT + _LANE * max(len(box.values) - 1, 0) + _BESIDE_ARROWS,
    )


def _ports(number: int, sized: SizedBox, arrows: Sequence[PictureArrow], columns: Sequence[int]) -> tuple[int, ...]:
    """Return the distance of the arrows of each value from the column: those that end on the left are on the left."""
    ends = {arrow.value: columns[arrow.target] for arrow in arrows if arrow.source == number}
    values = range(len(sized.box.values))
    order = sorted(values, key=lambda value: (ends.get(value, -value), -value))
    return tuple([_LANE * order.index(value) for value in values])


def _tops(boxes: Sequence[SizedBox], layers: Sequence[int], top: int) -> list[int]:
    """Return the top of each layer, and where a further one would begin."""
    heights = [0] * (max(layers, default=0) + 1)
    for box, layer in zip(boxes, layers, strict=True):
        heights[layer] = max(heights[layer], box.whole_height)
    return [top + sum(heights[:layer]) + BETWEEN * layer for layer in range(len(heights) + 1)]


def _lines_in(box: PictureBox, *, reserved: int) -> Iterator[Words]:
    """Yield the lines in a box. `reserved`: the characters that the first one has to leave free."""
    yield Words(TITLE, cut(box.title, MAX_CHARACTERS - reserved), visible(box.title))
    if box.name:
        yield Words(NAME, cut(box.name), visible(box.name))
    if box.graph:
        yield Words(NAME, cut(box.graph), visible(box.graph))
    for value in box.reads:
        kind = cut(_dense(value.type), MAX_CHARACTERS - _MIN_NAME - 1)
        text = f"{cut(value.name, max(MAX_CHARACTERS - len(kind) - 1, _MIN_NAME))} {kind}"
        yield Words(READ_VALUE, text.rstrip(), visible(f"{value.name} {_dense(value.type)}").rstrip(), value.mark)


def _lines_below(number: int, value: PictureValue) -> Iterator[Words]:
    """Yield the lines about a value below its box."""
    yield Words(VALUE, cut(value.name), visible(value.name), value.mark, number)
    if value.type:
        yield Words(TYPE, cut(_dense(value.type)), visible(_dense(value.type)), value.mark)
    if value.declared:
        stated = f"{_DECLARED}{_dense(value.declared)}"
        yield Words(TYPE, cut(stated, MAX_CHARACTERS + len(_DECLARED)), visible(stated), value.mark)


def _dense(text: str) -> str:
    return text.replace(", ", ",").replace(" (of unknown rank)", ",rank unknown")


def cut(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the text with its middle left out if it is long; of a name with a path the end says more."""
    text = visible(text)
    if _cells(text) <= max_characters:
        return text
    head, tail = text[: max_characters // 3], text[max_characters // 3 + 1 - max_characters :]
    while head and _cells(head) > max_characters // 3:
        head = head[:-1]
    while tail and _cells(f"{head}…{tail}") > max_characters:
        tail = tail[1:]
    return f"{head}…{tail}"


def _cells(text: str) -> int:
    """Return the width of the text in characters of the usual width."""
    if text.replace("…", "").isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)
