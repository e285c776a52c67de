# SPDX-License-Identifier: Apache-2.0
"""Expressions of variables have the values that their texts state, for all values of the variables."""

from __future__ import annotations

import itertools
import random

import pytest
from support.models.shape_samples import size_of
from support.project.each_case import each_case

from onnx_lint.inference.shapes import dims, expression

SIZES = {"N": 3, "M": 5, "batch-size": 4, "seq": 7}


def worth(dim: int | str) -> int | None:
    """Return the value of an expression."""
    return size_of(dim, SIZES)


def _random(seed: random.Random, depth: int) -> int | str | None:
    """An expression that was made by arithmetic on dimensions."""
    if depth == 0:
        return seed.choice([*SIZES, 1, 2, 6])
    one, other = _random(seed, depth - 1), _random(seed, depth - 1)
    match seed.randrange(5):
        case 0:
            return dims.add(one, other)
        case 1:
            return dims.subtract(one, other)
        case 2:
            return dims.multiply(one, other)
        case 3:
            return dims.divide(one, other)
    return dims.divide_down(one, seed.choice((1, 2, 3, 4)))


def test_each_operation_gives_what_numbers_give():
    seed = random.Random(16)
    compared = 0
    for _ in range(4_000):
        one, other = _random(seed, 2), _random(seed, 2)
        if one is None or other is None:
            continue
        first, second = worth(one), worth(other)
        assert first is not None
        assert second is not None
        found = [
            (dims.add(one, other), first + second),
            (dims.subtract(one, other), first - second),
            (dims.multiply(one, other), first * second),
            (dims.divide_down(one, 3), first // 3),
        ]
        if second and first % second == 0:
            found.append((dims.divide(one, other), first // second))
        for text, expected in found:
            if text is not None:
                compared += 1
                assert worth(text) == expected, (one, other, text)
    assert compared > 4_000


@each_case(
    ("found", "expected"),
    [
        (dims.add("N", 1), "N + 1"),
        (dims.add(1, "N"), "N + 1"),
        (dims.add("N + 1", -1), "N"),
        (dims.add("N", "M"), "M + N"),
        (dims.add("M", "N"), "M + N"),
        (dims.add("N", "N"), "2*N"),
        (dims.subtract("M + N", "N"), "M"),
        (dims.subtract("N + 3", "N"), 3),
        (dims.subtract("N", "M"), "N - M"),
        (dims.subtract(3, "N"), None),
        (dims.multiply("N", 4), "4*N"),
        (dims.multiply("N", "M"), "M*N"),
        (dims.multiply("N + 1", 2), "2*N + 2"),
        (dims.multiply("N + 1", "M"), "(N + 1)*M"),
        (dims.multiply("N", 0), 0),
        (dims.multiply(None, 0), 0),
        (dims.multiply("N", -1), None),
        (dims.divide("4*N + 2", 2), "2*N + 1"),
        (dims.divide("4*N + 2", 4), None),
        (dims.divide("M*N", "N"), "M"),
        (dims.divide("N", "M"), None),
        (dims.divide(dims.product([8, "N + 1", "M + 1"]), 8), "(M + 1)*(N + 1)"),
        (dims.divide("2*N + 2", "N + 1"), 2),
        (dims.divide_down("4*N + 3", 2), "2*N + 1"),
        (dims.divide_down("N - 1", 2), "((N - 1)//2)"),
        (dims.divide_down("N", 2), "(N//2)"),
        (dims.divide_down(7, 2), 3),
        (dims.divide_down(None, 2), None),
    ],
)
def test_texts(found: object, expected: object):
    assert found == expected


@each_case(
    ("name", "expected"),
    [
        ("N", "N"),
        ("batch-size", "batch-size"),
        ("f(N)", "'f(N)'"),
        ("seq)", "'seq)'"),
        ("s0//2", "'s0//2'"),
        ("a+b", "'a+b'"),
        ("7", "'7'"),
        ("it's", None),
    ],
)
def test_a_name_that_could_be_an_expression_is_in_quotes(name: str, expected: str | None):
    found = expression.variable(name)
    assert found == expected
    if found is not None:
        assert (expression.declared_name(found), expression.variables_in(found)) == (name, {found})
        assert expression.is_variable(found)


@each_case(
    ("text", "expected"),
    [
        ("2*N + batch-size", {"N", "batch-size"}),
        ("max((N + M)*(K//2) - 1, 0)", {"N", "M", "K"}),
        ("min('f(x)', 4)", {"'f(x)'"}),
        ("((N - 1)//2) + 1", {"N"}),
        ("a+b", {"a+b"}),
        (7, set()),
    ],
)
def test_the_variables_of_an_expression(text: int | str, expected: set[str]):
    assert expression.variables_in(text) == expected
    assert expression.declared_name(str(text)) == str(text)


@pytest.mark.parametrize("name", ["", "*", "7", "a b", "N +", "a+b", "N//2)", "x" * 200, "N + 1" + "0" * 200])
def test_nothing_is_done_with_a_name_that_cannot_be_told_apart(name: str):
    for found in (dims.add(name, 1), dims.multiply(name, 2), dims.multiply("N", name), dims.divide_down(name, 2)):
        assert found is None


def test_no_expression_grows_without_bound():
    found: int | str | None = 1
    for index in itertools.count():
        more = dims.add(dims.multiply(found, f"variable_{index}"), 1)
        if more is None:
            break
        assert len(str(more)) <= 100
        found = more
    big = dims.multiply("N", 2**62)
    assert dims.multiply(big, 4) is None


@pytest.mark.parametrize(("dim", "expected"), [(0, True), (-1, False), ("N", True), ("N - 1", False), (None, False)])
def test_what_cannot_be_negative(dim: int | str | None, expected: bool):
    assert dims.is_natural(dim) is expected


def test_broadcasting_with_a_part_of_a_longer_tensor():
    """The first N positions of a table of 512, added to N words."""
    for variable, size in itertools.product((1, 2, 511, 512, 513), (1, 512)):
        part = min(variable, size)
        fits = part in (1, variable) or variable == 1
        assert not fits or max(part, variable) == variable
    assert dims.broadcast([("N", 3), ("min(N, 512)", 3)]) == ("N", 3)
    assert dims.broadcast([("min(N, 512)",), ("M",)]) == (None,)
    assert dims.broadcast([("min(N, 512)",), ("N",), ("M",)]) == (None,)


def test_a_maximum_and_a_quotient_cannot_be_negative() -> None:
    assert dims.is_natural("min(max(N - 1, 0), 2)")
    assert not dims.is_natural("min(N - 1, 2)")
    assert not dims.is_natural("max(N, 1) - 2")
    assert dims.is_natural("max(N*M, 3) - 2")


@pytest.mark.parametrize("name", ["'a) b'", "'f(x'", "'s)'", "'a - b'", "batch-size"])
def test_no_character_of_a_name_makes_a_dimension_negative(name: str) -> None:
    half = dims.divide_down(dims.add(name, 1), 2)
    assert dims.is_natural(dims.at_least(dims.subtract(half, 1), 0))
    assert not dims.is_natural(dims.subtract(half, 1))
    assert dims.at_most(half, 3) == f"min({half}, 3)"


@pytest.mark.parametrize(
    ("one", "whole", "expected"),
    [
        ("(N//2)", "N", True),
        ("((N + 1)//2)", "N + 1", True),
        ("min(N, 4)", "N", True),
        ("(N//2)", "M", False),
        ("N", "N + 1", False),
        ("(N//2)*(M//2)", "N", False),
    ],
)
def test_what_is_at_most_a_whole(one: str, whole: str, expected: bool) -> None:
    assert expression.is_part(one, whole) is expected


def test_a_lower_bound_is_below_all_values():
    seed = random.Random(65)
    known = 0
    for _ in range(500):
        dim = _random(seed, 3)
        for least in (0, 1):
            bound = expression.lower_bound(dim, least) if isinstance(dim, str) else None
            if bound is None:
                continue
            known += 1
            for sizes in itertools.product((least, least + 1, 4), repeat=len(SIZES)):
                assert (size_of(dim, dict(zip(SIZES, sizes, strict=True))) or 0) >= bound, dim
    assert known > 100


@pytest.mark.parametrize(
    ("dim", "expected"),
    [("N", True), ("2*N*M", True), ("((N + 1)//2)", True), ("max(N - 3, 1)", True), ("N + M - 1", True),
     ("max(4 - N, 2)", True), ("((N*M + 3)//4)", True), ("min(N, 2)", True), ("(N//2)", False), ("N - 1", False),
     ("max(N - 1, 0)", False), ("N*(M//2)", False), ("(N - 2)*(M - 2)", False), ("x y", False), (0, False),
     (3, True), (None, False)],
)  # fmt: skip
def test_what_is_positive_where_its_variables_are(dim: dims.Dim, expected: bool):
    assert dims.is_positive(dim) is expected
