# SPDX-License-Identifier: Apache-2.0
"""The picture of a finding on the HTML page: the nodes around it, as SVG without scripts and without styles of its own.

A box is a node; below it are the values that leave it, each with its type, and their arrows. All text is text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.report.pictures import FAULT, RELATED, Picture, PictureArrow, PictureBox, PictureValue
from onnx_lint.reporters.picture_layout import STEP, Arrangement, layout_of

MOST: Final = 22
"""The most characters of a line in a box or below it, so that two boxes fit beside each other on a phone. The tooltip
has all.
"""

SHRUNK: Final = 480
"""The greatest width of a picture that is shrunk to fit a phone; a wider one is scrolled, so that it can be read."""

_CHARACTER: Final = 7.25
"""The width of a character of 12 pixels in the widest usual font with a fixed width."""

_LINE: Final = 16
_PAD: Final = 8
_PORT: Final = 16
"""The distance of the first arrow from the left edge of a box."""
_LANES: Final = 11
"""The distance of the arrows of several values of a box."""
_BETWEEN: Final = 30
"""The height between two layers."""
_MARGIN: Final = 10
_BACK: Final = 24
"""The room above and to the right of all boxes for arrows that lead back up."""

_LEGEND: Final = {FAULT: "! the finding", RELATED: "○ a related place"}


class _Words(Record):
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


class _Drawn:
    """A box with its size, and its place once that is known."""

    def __init__(self, box: PictureBox, entries: int) -> None:
        self.box = box
        self.index = "" if box.index is None else f" {box.index}"
        self.lines = list(_lines_in(box, len(self.index)))
        widths = [line.width for line in self.lines]
        widths[0] += _CHARACTER * len(self.index)
        self.below = [line for number, value in enumerate(box.values) for line in _lines_below(number, value)]
        count = len(box.values)
        self.inset = _PORT + _LANES * max(count - 1, 0) + 8
        """The distance of the words about values from the left edge."""
        self.wide = round(max(max(widths) + 2 * _PAD, 2 * _PORT + STEP * max(entries - 1, 0)))
        words = max([line.width for line in self.below], default=0) + self.inset
        self.extents = (_PORT, max(self.wide, words) - _PORT)
        self.tall = _LINE * len(self.lines) + _PAD
        self.height = self.tall + (_LINE * len(self.below) + 4 if self.below else 0)
        self.ports = [_LANES * (count - 1 - number) for number in range(count)]
        """The distance of the arrows of each value from the column of the box."""
        self.column = self.top = self.layer = 0

    def sort_ports(self, ends: dict[int, int]) -> None:
        """Put the values whose arrows end on the left on the left. `ends`: the columns of some of the values."""
        order = sorted(range(len(self.ports)), key=lambda number: (ends.get(number, -number), -number))
        for place, number in enumerate(order):
            self.ports[number] = _LANES * place


def svg_of(picture: Picture, level: str) -> str:
    """Return the picture of a finding. `level`: its severity."""
    ends = [(arrow.source, arrow.target) for arrow in picture.arrows]
    boxes = [_Drawn(box, sum(target == number for _, target in ends)) for number, box in enumerate(picture.boxes)]
    layout = layout_of([box.extents for box in boxes], ends)
    back = _BACK if any(each not in layout.ways for each in ends) else 0
    tops = _tops(boxes, layout.layers, _MARGIN + back)
    for box, layer, column in zip(boxes, layout.layers, layout.columns, strict=True):
        box.layer, box.top, box.column = layer, tops[layer], round(column) + _MARGIN
    for number, box in enumerate(boxes):
        box.sort_ports({arrow.value: boxes[arrow.target].column for arrow in picture.arrows if arrow.source == number})
    wide, tall = round(layout.width) + 2 * _MARGIN + back, tops[-1] - _BETWEEN + _MARGIN
    parts = [*_arrows(picture.arrows, boxes, layout, tops, wide), *(part for box in boxes for part in _box(box))]
    words = f"The nodes around the finding{f' in {picture.graph}' if picture.graph else ''}"
    return (
        f'<figure{_classes("picture", level)}><svg{_classes("wide" if wide > SHRUNK else "")} role="img" '
        f'aria-label="{_text(words)}" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}">'
        f"<desc>{_text(_description(picture))}</desc>{''.join(parts)}</svg>"
        f"<figcaption>{_text(_caption(picture))}</figcaption></figure>"
    )


def _caption(picture: Picture) -> str:
    """Return the name of the graph, and what the marks mean."""
    marks = {box.mark for box in picture.boxes}
    return " · ".join(filter(None, [picture.graph, *(words for mark, words in _LEGEND.items() if mark in marks)]))


def _tops(boxes: Sequence[_Drawn], layers: Sequence[int], top: int) -> list[int]:
    """Return the top of each layer, and where a further one would begin."""
    heights = [0] * (max(layers, default=0) + 1)
    for box, layer in zip(boxes, layers, strict=True):
        heights[layer] = max(heights[layer], box.height)
    return [top + sum(heights[:layer]) + _BETWEEN * layer for layer in range(len(heights) + 1)]


def _arrows(
    arrows: Sequence[PictureArrow], boxes: Sequence[_Drawn], layout: Arrangement, tops: Sequence[int], wide: int
) -> Iterator[str]:
    right = wide
    for arrow, entry in zip(arrows, _entries(arrows, boxes, layout), strict=True):
        source, target = boxes[arrow.source], boxes[arrow.target]
        start, end = source.column + source.ports[arrow.value], target.column + entry
        way = layout.ways.get((arrow.source, arrow.target))
        path = f"M{start} {source.top + source.tall}"
        if way is None:
            right -= 5
            path += f"V{tops[source.layer + 1] - _BETWEEN + 5}H{right}V{target.top - 20}H{end}"
        else:
            columns = [start, *(round(column) + _MARGIN for column in way), end]
            for layer, (here, there) in enumerate(pairwise(columns), source.layer + 1):
                at = tops[layer] - _BETWEEN
                path += f"V{at}C{here} {at + 20} {there} {at + 6} {there} {at + 24}" if here != there else ""
        yield f'<path{_classes(arrow.mark)} d="{path}V{target.top}m-4-6l4 6l4-6"/>'


def _entries(arrows: Sequence[PictureArrow], boxes: Sequence[_Drawn], layout: Arrangement) -> list[int]:
    """Return for each arrow how far right of the column of its target it ends.

    One from the left ends on the left, and one that leads back up on the right.
    """
    ends = [(arrow.source, arrow.target) for arrow in arrows]
    order = [(each not in layout.ways, boxes[each[0]].column) for each in ends]
    counts = [0] * len(boxes)
    found = [0] * len(arrows)
    for index in sorted(range(len(arrows)), key=order.__getitem__):
        target = arrows[index].target
        found[index] = STEP * counts[target]
        counts[target] += 1
    return found


def _box(placed: _Drawn) -> Iterator[str]:
    box, left, top = placed.box, placed.column - _PORT, placed.top
    yield f"<g{_classes(box.kind, box.mark)}>"
    yield f'<rect x="{left}" y="{top}" width="{placed.wide}" height="{placed.tall}"/>'
    for row, line in enumerate(placed.lines, 1):
        index = f"<tspan>{placed.index}</tspan>" if line.kind == "t" and placed.index else ""
        yield _words(line, left + _PAD, top + _LINE * row - 1, index)
    for row, line in enumerate(placed.below, 1):
        y = top + placed.tall + _LINE * row
        if line.value is not None and len(box.values) > 1:
            yield f'<circle class="d" cx="{placed.column + placed.ports[line.value]}" cy="{y - 4}" r="2.5"/>'
        yield _words(line, left + placed.inset, y)
    if box.mark:
        yield f'<circle class="b" cx="{left + placed.wide}" cy="{top}" r="7"/>'
    if box.mark == FAULT:
        yield f'<path class="s" d="M{left + placed.wide} {top - 4}v5m0 2v2"/>'
    yield "</g>"


def _words(line: _Words, x: int, y: int, more: str = "") -> str:
    tip = f"<title>{_text(line.whole)}</title>" if line.text != line.whole else ""
    return f'<text{_classes(line.kind, line.mark)} x="{x}" y="{y}">{escape(line.text)}{more}{tip}</text>'


def _lines_in(box: PictureBox, less: int) -> Iterator[_Words]:
    """Yield the lines in a box. `less`: the characters that the first one has to leave free."""
    yield _Words("t", _cut(box.title, MOST - less), visible(box.title))
    if box.name:
        yield _Words("n", _cut(box.name), visible(box.name))
    if box.graph:
        yield _Words("n", _cut(box.graph), visible(box.graph))
    for value in box.reads:
        kind = _cut(_dense(value.type), MOST - 7)
        text = f"{_cut(value.name, max(MOST - len(kind) - 1, 6))} {kind}"
        yield _Words("c", text.rstrip(), visible(f"{value.name} {_dense(value.type)}").rstrip(), value.mark)


def _lines_below(number: int, value: PictureValue) -> Iterator[_Words]:
    """Yield the lines about a value below its box."""
    yield _Words("v", _cut(value.name), visible(value.name), value.mark, number)
    if value.type:
        yield _Words("y", _cut(_dense(value.type)), visible(_dense(value.type)), value.mark)
    if value.declared:
        stated = f"declared {_dense(value.declared)}"
        yield _Words("y", _cut(stated, MOST + 9), visible(stated), value.mark)


def _description(picture: Picture) -> str:
    """Return the picture in words."""
    names = [
        " ".join(filter(None, [_cut(box.title), "" if box.index is None else str(box.index), box.graph]))
        for box in picture.boxes
    ]
    marked = [f"{name}: {_LEGEND[box.mark][2:]}" for name, box in zip(names, picture.boxes, strict=True) if box.mark]
    return "; ".join([*marked, *(f"{names[each.source]} to {names[each.target]}" for each in picture.arrows)])


def _dense(text: str) -> str:
    return text.replace(", ", ",").replace(" (of unknown rank)", ",rank unknown")


def _cut(text: str, most: int = MOST) -> str:
    """Return the text with its middle left out if it is long; of a name with a path the end says more."""
    text = visible(text)
    if _cells(text) <= most:
        return text
    head, tail = text[: most // 3], text[most // 3 + 1 - most :]
    while head and _cells(head) > most // 3:
        head = head[:-1]
    while tail and _cells(f"{head}…{tail}") > most:
        tail = tail[1:]
    return f"{head}…{tail}"


def _cells(text: str) -> int:
    """Return the width of the text in characters of the usual width."""
    if text.replace("…", "").isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _classes(*names: str) -> str:
    found = " ".join(filter(None, names))
    return f' class="{found}"' if found else ""


def _text(text: str) -> str:
    return escape(visible(text))
