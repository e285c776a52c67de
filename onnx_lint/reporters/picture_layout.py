# SPDX-License-Identifier: Apache-2.0
"""Arranges the boxes of a picture in layers: a value goes down, from the box above to those that read it.

This is the method of Sugiyama for a dozen boxes: layers of a limited width, few crossings by the means of neighbours,
and places as near to the neighbours as the widths allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from onnx_lint.common.record import Record

GAP: Final = 14
"""The least distance of neighbours in a layer."""

WIDEST: Final = 420
"""The width of a layer beyond which further boxes go to the next one: about that of a phone."""

STEP: Final = 12
"""The distance of the arrows that enter a box."""

_LANE: Final = (5.0, 5.0)
"""The extents of an arrow that passes a layer."""

_SWEEPS: Final = 3
"""How often layers are sorted, and then placed, from above and from below."""

Extents = Sequence[tuple[float, float]]
"""How far each box reaches to the left and to the right of its column: the line of the first arrow that enters it."""

Ends = tuple[int, int]
"""The boxes at the ends of an arrow: source and target."""


class Arrangement(Record):
    """The places of boxes, and the ways of arrows."""

    layers: list[int]
    """The layer of each box, from above."""
    columns: list[float]
    width: float
    ways: dict[Ends, list[float]]
    """The columns at which each arrow passes the layers between its ends. An arrow that leads back up has no way."""


def layout_of(extents: Extents, arrows: Sequence[Ends]) -> Arrangement:
    """Return the layout of boxes with arrows."""
    layers = _layers(extents, arrows)
    rows: list[list[int]] = [[] for _ in range(max(layers, default=0) + 1)]
    for box, layer in enumerate(layers):
        rows[layer].append(box)
    sizes = list(extents)
    chains: dict[Ends, list[int]] = {}
    for source, target in sorted(set(arrows)):
        if layers[source] < layers[target]:
            lanes = []
            for row in rows[layers[source] + 1 : layers[target]]:
                lanes.append(len(sizes))
                row.append(len(sizes))
                sizes.append(_LANE)
            chains[source, target] = [source, *lanes, target]
    columns = _columns(rows, sizes, [link for chain in chains.values() for link in pairwise(chain)])
    lefts = [column - left for column, (left, _) in zip(columns, sizes, strict=True)]
    rights = [column + right for column, (_, right) in zip(columns, sizes, strict=True)]
    columns = [column - min(lefts) for column in columns]
    ways = {ends: [columns[item] for item in chain[1:-1]] for ends, chain in chains.items()}
    return Arrangement(layers, columns[: len(extents)], max(rights) - min(lefts), ways)


def _layers(extents: Extents, arrows: Sequence[Ends]) -> list[int]:
    """Return the layer of each box: below all that it reads, if there is no cycle.

    A box with a long way below it goes first.
    """
    widths = [GAP + left + right for left, right in extents]
    layers = [-1] * len(extents)
    rooms: list[float] = []
    left = _longest_ways_first(len(extents), arrows)
    while left:
        waiting = {target for source, target in arrows if source != target and layers[source] < 0}
        rooms.append(WIDEST)
        for box in [box for box in left if box not in waiting] or left[:1]:
            if rooms[-1] == WIDEST or widths[box] <= rooms[-1]:
                layers[box] = len(rooms) - 1
                rooms[-1] -= widths[box]
        left = [box for box in left if layers[box] < 0]
    _sink(layers, widths, rooms, arrows)
    used = sorted(set(layers))
    return [used.index(layer) for layer in layers]


def _sink(layers: list[int], widths: Sequence[float], rooms: list[float], arrows: Sequence[Ends]) -> None:
    """Move each box that reads nothing as near to its first reader as there is room."""
    for box in sorted(set(range(len(layers))) - {target for _, target in arrows}):
        lowest = min((layers[target] for source, target in arrows if source == box), default=0) - 1
        for layer in range(lowest, layers[box], -1):
            if widths[box] <= rooms[layer]:
                rooms[layers[box]] += widths[box]
                rooms[layer] -= widths[box]
                layers[box] = layer
                break


def _longest_ways_first(count: int, arrows: Sequence[Ends]) -> list[int]:
    """Return the boxes, those with the most boxes one after the other below them first."""
    ways = [0] * count
    for _ in range(count):
        for source, target in arrows:
            ways[source] = max(ways[source], min(ways[target] + 1, count))
    return sorted(range(count), key=lambda box: -ways[box])


def _columns(rows: Sequence[list[int]], sizes: Extents, links: Sequence[Ends]) -> list[float]:
    """Sort each row, and return the column of each item, both by the mean of its neighbours.

    Sweeps up and down sort the rows; then all places are improved, at last from above, which makes chains straight. The
    widest row bounds the width of all.
    """
    widest = max([sum(map(sum, (sizes[item] for item in row))) + GAP * len(row) for row in rows], default=0)
    above: list[list[int]] = [[] for _ in sizes]
    below: list[list[int]] = [[] for _ in sizes]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    columns = [0.0] * len(sizes)
    for row in rows:
        _settle(row, columns, sizes, columns, widest)
    both = [upper + lower for upper, lower in zip(above, below, strict=True)]
    down, up = rows, rows[::-1]
    sorting = [(down, above, True), (up, below, True)] * _SWEEPS
    placing = [(up, both, False), (down, both, False)] * _SWEEPS
    for order, near, is_sorting in (*sorting, *placing, (down, above, False)):
        for row in order:
            wished = list(columns)
            for item in row:
                if near[item]:
                    entries = STEP * max(len(above[item]) - 1, 0) / 2
                    wished[item] = sum(columns[other] for other in near[item]) / len(near[item]) - entries
            if is_sorting:
                row.sort(key=wished.__getitem__)
            _settle(row, wished, sizes, columns, widest)
    return columns


def _settle(row: Sequence[int], wished: Sequence[float], sizes: Extents, columns: list[float], widest: float) -> None:
    """Set the columns of a layer, as near to the wished ones as sizes and width allow: by the least sum of squares."""
    offsets: list[float] = []
    blocks: list[tuple[float, int]] = []  # of items without space between them: the sum of their places, the number
    at = 0.0
    for item in row:
        offsets.append(at + sizes[item][0])
        at += sum(sizes[item]) + GAP
        total, count = wished[item] - offsets[-1], 1
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    places = [total / count for total, count in blocks for _ in range(count)]
    for item, place, offset in zip(row, places, offsets, strict=True):
        columns[item] = min(max(place, 0), widest - at) + offset
