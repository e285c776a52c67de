# SPDX-License-Identifier: Apache-2.0
"""What is said of all sizes of a variable is true for each of many sizes."""

from __future__ import annotations

import random

import pytest
from support.models.shape_samples import size_of

from onnx_lint.inference.shapes import dims, expression
from onnx_lint.inference.shapes.one_variable import (
    OneVariable,
    ValueSequence,
    difference,
    is_natural,
    unless_empty,
    zeros,
)

SIZES = range(150)


def _random(seed: random.Random, depth: int) -> dims.Dim:
    """An expression of one variable."""
    if depth == 0:
        return seed.choice(("N", "N", 1, 3, 5))
    one, number = _random(seed, depth - 1), seed.choice((2, 3, 4))
    match seed.randrange(6):
        case 0:
            return dims.add(one, _random(seed, depth - 1))
        case 1:
            return dims.at_least(dims.subtract(one, _random(seed, depth - 1)), 0)
        case 2:
            return dims.multiply(one, number)
        case 3:
            return dims.divide_down(one, number)
        case 4:
            return dims.at_most(one, number)
    return dims.at_least(one, number)


def sequence(dim: dims.Dim) -> ValueSequence | None:
    terms = {(): dim} if isinstance(dim, int) else expression.read(str(dim))
    return OneVariable().of_sum(terms) if terms is not None else None


def test_a_sequence_has_the_values_of_the_expression():
    seed = random.Random(65)
    compared = 0
    for _ in range(200):
        dim = _random(seed, 3)
        found = sequence(dim) if dim is not None else None
        if found is None or dim is None:
            continue
        compared += 1
        values = [size_of(dim, {"N": size}) for size in SIZES]
        assert list(found.values[: len(SIZES)]) == values, dim
        for size in range(found.regular, len(SIZES) - found.period):
            assert values[size + found.period] == (values[size] or 0) + found.growth, (dim, size)
    assert compared > 120


@pytest.mark.slow
def test_zeros_are_the_sizes_for_which_two_expressions_are_equal():
    seed = random.Random(66)
    kinds = {"none": 0, "some": 0, "endless": 0}
    for _ in range(200):
        pairs = [(_random(seed, 2), _random(seed, 2)) for _ in range(seed.choice((1, 2)))]
        rows = [(sequence(one), sequence(other)) for one, other in pairs if one is not None and other is not None]
        sequences = [difference(one, other) for one, other in rows if one is not None and other is not None]
        known = [each for each in sequences if each is not None]
        found = zeros(known) if known and len(known) == len(pairs) else None
        if found is None:
            continue
        tried = []
        for size in SIZES:
            values = [[size_of(each, {"N": size}) for each in pair if each is not None] for pair in pairs]
            if all(one == other for one, other in values):
                tried.append(size)
        if found.are_endless:
            kinds["endless"] += 1
            assert len(tried) > 8, pairs
        else:
            kinds["some" if tried else "none"] += 1
            assert [each for each in found.sizes if each < len(SIZES)] == tried, pairs
    assert min(kinds.values()) > 4, kinds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N - (N//2)", True),
        ("N - 3*(N//3)", True),
        ("(N//2) - (N//3)", True),
        ("max(N, 2) - 2", True),
        ("N - 1", False),
        ("(N//2) - 1", False),
        ("(N//3) - (N//2)", False),
        ("min(N, 3) - 3", False),
        # Unknown: two variables, a square, and what is regular only after thousands of sizes.
        ("N - min(N, M)", False),
        ("N*N - N", False),
        ("min(N, 5000) - min(N, 4000)", False),
    ],
)
def test_what_is_never_negative(text: str, expected: bool):
    assert is_natural(text) is expected


def test_a_negative_dimension_is_that_of_an_empty_tensor():
    one, other = sequence("N - 3"), sequence(0)
    assert one is not None
    assert other is not None
    found = difference(one, other)
    assert found is not None
    assert zeros([found]).sizes == (0, 1, 2, 3)


def test_a_dimension_that_shrinks_without_end_is_none():
    one, other = sequence("5 - N"), sequence(0)
    assert one is None or other is None or difference(one, other) is None


@pytest.mark.parametrize(
    ("one", "other", "parts", "sizes"),
    [
        ("N", "max(N - 1, 0)", ["max(N - 1, 0)"], [0, 1]),
        ("N", "max(N - 3, 0)", ["max(N - 3, 0)"], [0, 1, 2, 3]),
        ("N", 3, ["(N//4)"], [0, 1, 2, 3]),
        ("N", 7, ["max(min(N, 5) - max(N - 10, 0), 0)"], "endless"),
        ("N", 7, ["max(N - 2*(N//2), 0)"], None),
    ],
)
def test_what_is_equal_or_empty(one: dims.Dim, other: dims.Dim, parts: list[str], sizes: list[int] | str | None):
    sequences = [sequence(each) for each in (one, other, *parts)]
    known = [each for each in sequences if each is not None]
    between = difference(known[0], known[1])
    assert between is not None
    masked = unless_empty(between, known[2:])
    found = zeros([masked]) if masked is not None and len(known) == len(sequences) else None
    if not isinstance(sizes, list):
        assert (found is not None and found.are_endless) == (sizes == "endless")
    else:
        assert found is not None
        assert not found.are_endless
        tried = [
            size
            for size in SIZES
            if any(not size_of(each, {"N": size}) for each in parts)
            or size_of(str(one), {"N": size}) == size_of(other or 0, {"N": size})
        ]
        assert list(found.sizes) == tried == sizes
