# SPDX-License-Identifier: Apache-2.0
"""The layout of pictures."""

from __future__ import annotations

import itertools
from random import Random

from support.project.each_case import each_case

from onnx_lint.reporters.picture_layout import GAP, WIDEST, layout_of


def made_up(seed: int) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    """Return boxes and arrows, of which some make cycles or lead back to their box."""
    random = Random(seed)
    count = random.randint(1, 26)
    extents = [(16.0, float(random.randint(16, 190))) for _ in range(count)]
    arrows = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(0, 2 * count))]
    forward = [(source, target) for source, target in arrows if source < target]
    return extents, arrows if seed % 4 == 0 else forward


@each_case("seed", range(60))
def test_nothing_overlaps_and_arrows_lead_down(seed: int):
    extents, arrows = made_up(seed)
    found = layout_of(extents, arrows)
    spans: dict[int, list[tuple[float, float]]] = {}
    for (left, right), layer, column in zip(extents, found.layers, found.columns, strict=True):
        spans.setdefault(layer, []).append((column - left, column + right))
    for (source, target), way in found.ways.items():
        assert len(way) == found.layers[target] - found.layers[source] - 1
        for layer, column in enumerate(way, found.layers[source] + 1):
            spans[layer].append((column - 5, column + 5))
    for layer in spans.values():
        layer.sort()
        assert layer[0][0] >= -0.001
        assert layer[-1][1] <= found.width + 0.001
        assert all(after[0] - before[1] >= GAP - 0.001 for before, after in itertools.pairwise(layer))
    assert sorted(spans) == list(range(len(spans)))
    left_out = set(arrows) - set(found.ways)
    assert all(found.layers[source] >= found.layers[target] for source, target in left_out)
    if seed % 4:
        assert not left_out  # without a cycle, no arrow leads back up


@each_case("seed", range(20))
def test_boxes_alone_are_no_wider_than_a_phone(seed: int):
    extents, arrows = made_up(seed)
    found = layout_of(extents, arrows)
    for layer in set(found.layers):
        row = [sum(size) + GAP for size, each in zip(extents, found.layers, strict=True) if each == layer]
        assert sum(row) <= WIDEST or len(row) == 1


def test_it_is_the_same_each_time():
    assert layout_of(*made_up(7)) == layout_of(*made_up(7))


def test_a_chain_is_straight():
    found = layout_of([(16, 50.0), (16, 150.0), (16, 20.0)], [(0, 1), (1, 2)])
    assert found.layers == [0, 1, 2]
    assert len(set(found.columns)) == 1


def test_arrows_do_not_cross_if_they_need_not():
    found = layout_of([(16, 30.0)] * 6, [(0, 5), (1, 4), (2, 3)])
    assert found.layers == [0, 0, 0, 1, 1, 1]
    order = sorted(range(3), key=found.columns.__getitem__)
    assert sorted(range(3, 6), key=found.columns.__getitem__) == [5 - box for box in order]


def test_a_box_that_reads_nothing_is_just_above_its_reader():
    found = layout_of([(16, 30.0)] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)])
    assert found.layers == [0, 1, 2, 3, 2]


def test_a_cycle_and_an_arrow_to_the_box_itself_have_no_way():
    found = layout_of([(16, 50.0)] * 3, [(0, 1), (1, 2), (2, 0), (1, 1)])
    assert sorted(found.layers) == [0, 1, 2]
    assert set(found.ways) == {(0, 1), (1, 2)}
