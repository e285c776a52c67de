# SPDX-License-Identifier: Apache-2.0
"""The picture of a finding on the HTML page: the nodes around it, as SVG without scripts and without styles of its own.

A box is a node; below it are the values that leave it, each with its type, and their arrows. All text is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Final

from onnx_lint.common.visible import visible
from onnx_lint.report.pictures import FAULT, RELATED, Picture, PictureArrow
from onnx_lint.reporters.picture_boxes import (
    BETWEEN,
    LINE,
    MARGIN,
    PAD,
    TITLE,
    PlacedBox,
    PlacedPicture,
    Words,
    cut,
    placed_picture,
)
from onnx_lint.reporters.picture_layout import STEP, Ends

MAX_UNSCROLLED_WIDTH: Final = 480
"""The greatest width of a picture that is shrunk to fit a phone; a wider one is scrolled, so that it can be read."""

_SIGNS: Final = {FAULT: "!", RELATED: "○"}
"""The sign in the caption for each mark; the badge of the mark looks like it."""

_MARKS_IN_WORDS: Final = {FAULT: "the finding", RELATED: "a related place"}

# The classes of `page.css` for shapes.
_BADGE: Final = "b"
_SIGN_IN_BADGE: Final = "s"
_VALUE_DOT: Final = "d"

_BADGE_RADIUS: Final = 7
_DOT_RADIUS: Final = 2.5
_DOT_ABOVE_BASELINE: Final = 4
"""How far the dot of a value is above the baseline of its name."""

_ARROW_HEAD: Final = "m-4-6l4 6l4-6"
_RETURN_STEP: Final = 5
"""The distance of arrows that lead back up, and how far below a layer they turn to the right."""
_RETURN_ABOVE: Final = 20
"""How far above its target an arrow that leads back up turns to it."""

# The points of a curve, by their distance below its start:
_FIRST_CONTROL: Final = 20
_SECOND_CONTROL: Final = 6
_CURVE_END: Final = 24
"""Less than `BETWEEN`: the rest of the arrow is straight, for its head."""


def svg_of(picture: Picture, level: str) -> str:
    """Return the picture of a finding. `level`: its severity."""
    placed = placed_picture(picture)
    width, height = placed.width, placed.height
    parts = [*_arrows(picture.arrows, placed), *(part for box in placed.boxes for part in _box(box))]
    words = f"The nodes around the finding{f' in {picture.graph}' if picture.graph else ''}"
    is_scrolled = width > MAX_UNSCROLLED_WIDTH
    return (
        f'<figure{_classes("picture", level)}><svg{_classes("wide" if is_scrolled else "")} role="img" '
        f'aria-label="{_text(words)}" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<desc>{_text(_description(picture))}</desc>{''.join(parts)}</svg>"
        f"<figcaption>{_text(_caption(picture))}</figcaption></figure>"
    )


def _caption(picture: Picture) -> str:
    """Return the name of the graph, and what the marks mean."""
    marks = {box.mark for box in picture.boxes}
    legend = [f"{_SIGNS[mark]} {words}" for mark, words in _MARKS_IN_WORDS.items() if mark in marks]
    return " · ".join(filter(None, [picture.graph, *legend]))


def _description(picture: Picture) -> str:
    """Return the picture in words."""
    names = [
        " ".join(filter(None, [cut(box.title), "" if box.index is None else str(box.index), box.graph]))
        for box in picture.boxes
    ]
    boxes = zip(names, picture.boxes, strict=True)
    marked = [f"{name}: {_MARKS_IN_WORDS[box.mark]}" for name, box in boxes if box.mark]
    return "; ".join([*marked, *(f"{names[each.source]} to {names[each.target]}" for each in picture.arrows)])


# --- arrows


def _arrows(arrows: Sequence[PictureArrow], placed: PlacedPicture) -> Iterator[str]:
    """Yield a path for each arrow. Those that lead back up go around the right of all boxes, each on a way of its own.

    The others go down from layer to layer.
    """
    right = placed.width
    for arrow, entry in zip(arrows, _entries(arrows, placed), strict=True):
        source, target = placed.boxes[arrow.source], placed.boxes[arrow.target]
        start, end = source.column + source.ports[arrow.value], target.column + entry
        way = placed.arrangement.ways.get(_ends(arrow))
        if way is None:
            right -= _RETURN_STEP
            below = placed.tops[source.layer + 1] - BETWEEN + _RETURN_STEP
            line = f"V{below}H{right}V{target.top - _RETURN_ABOVE}H{end}"
        else:
            columns = [start, *(round(column) + MARGIN for column in way), end]
            steps = enumerate(pairwise(columns), source.layer + 1)
            line = "".join(_curve(*step, placed.tops[layer] - BETWEEN) for layer, step in steps)
        yield f'<path{_classes(arrow.mark)} d="M{start} {source.bottom}{line}V{target.top}{_ARROW_HEAD}"/>'


def _curve(start: int, end: int, top: int) -> str:
    """Return the way from one column to another between two layers, from `top` on; empty for the same column.

    It is a cubic Bézier curve. Each of its two control points is in a column, so it begins and ends straight down.
    """
    if start == end:
        return ""
    return f"V{top}C{start} {top + _FIRST_CONTROL} {end} {top + _SECOND_CONTROL} {end} {top + _CURVE_END}"


def _entries(arrows: Sequence[PictureArrow], placed: PlacedPicture) -> list[int]:
    """Return for each arrow how far right of the column of its target it ends.

    One from the left ends on the left, and one that leads back up on the right.
    """
    order = [(_ends(arrow) not in placed.arrangement.ways, placed.boxes[arrow.source].column) for arrow in arrows]
    counts = [0] * len(placed.boxes)
    found = [0] * len(arrows)
    for index in sorted(range(len(arrows)), key=order.__getitem__):
        target = arrows[index].target
        found[index] = STEP * counts[target]
        counts[target] += 1
    return found


def _ends(arrow: PictureArrow) -> Ends:
    return arrow.source, arrow.target


# --- boxes


def _box(placed: PlacedBox) -> Iterator[str]:
    """Yield a box with its words, the words below it, and its mark."""
    sized, left, top = placed.sized, placed.left, placed.top
    box, right = sized.box, left + sized.width
    yield f"<g{_classes(box.kind, box.mark)}>"
    yield f'<rect x="{left}" y="{top}" width="{sized.width}" height="{sized.height}"/>'
    for row, line in enumerate(sized.lines, 1):
        index = f"<tspan>{sized.index}</tspan>" if line.kind == TITLE and sized.index else ""
        yield _words(line, left + PAD, top + LINE * row - 1, index)
    for row, line in enumerate(sized.below, 1):
        y = placed.bottom + LINE * row
        if line.value is not None and len(box.values) > 1:
            x = placed.column + placed.ports[line.value]
            yield f'<circle class="{_VALUE_DOT}" cx="{x}" cy="{y - _DOT_ABOVE_BASELINE}" r="{_DOT_RADIUS}"/>'
        yield _words(line, left + sized.inset, y)
    if box.mark:
        yield f'<circle class="{_BADGE}" cx="{right}" cy="{top}" r="{_BADGE_RADIUS}"/>'
    if box.mark == FAULT:  # an exclamation mark
        yield f'<path class="{_SIGN_IN_BADGE}" d="M{right} {top - 4}v5m0 2v2"/>'
    yield "</g>"


def _words(line: Words, x: int, y: int, index: str = "") -> str:
    """Return a line of text, with the index of the node after it."""
    tip = f"<title>{_text(line.whole)}</title>" if line.text != line.whole else ""
    return f'<text{_classes(line.kind, line.mark)} x="{x}" y="{y}">{escape(line.text)}{index}{tip}</text>'


def _classes(*names: str) -> str:
    found = " ".join(filter(None, names))
    return f' class="{found}"' if found else ""


def _text(text: str) -> str:
    return escape(visible(text))
