# SPDX-License-Identifier: Apache-2.0
"""Dimensions: combining several of them, and arithmetic."""

from __future__ import annotations

import pytest
from support.project.each_case import each_case

from onnx_lint.inference.shapes import dims


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(2, 1, 3), (4, 1)], (2, 4, 3)),
        ([(), (3,)], (3,)),
        ([("N", 3), (1, 3)], ("N", 3)),
        ([("N",), (4,)], (4,)),
        ([("N",), ("M",)], (None,)),
        ([("N",), (None,)], (None,)),
        ([(0,), (1,)], (0,)),
        ([], ()),
    ],
)
def test_broadcast(shapes, expected):
    assert dims.broadcast(shapes) == expected
    assert not dims.clashes(shapes)


def test_a_clash_names_both_shapes_and_the_axis_from_the_end():
    assert dims.clashes([(1,), (2, 5, 3), (4, 3)]) == [(1, 2, -2)]
    assert dims.clashes([(2, 5, 3), (6, 4, 3)]) == [(0, 1, -2), (0, 1, -3)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(2, 2, 2), (2, "N", 2), ("N", 2, 2), ("N", "M", "N"), (None, "N", "N"), ("N", None, "N"), (None, None, None)],
)
def test_unified(one, other, expected):
    assert dims.unified(one, other) == expected
    assert dims.agree(one, other)


def test_sizes_that_differ_do_not_agree():
    assert not dims.agree(2, 3)


def test_arithmetic_keeps_a_variable_where_nothing_is_done_to_it():
    assert (dims.add("N", 0), dims.add(0, "N"), dims.add(None, 1), dims.add(2, 3)) == ("N", "N", None, 5)
    assert (dims.multiply("N", 1), dims.multiply(None, 2), dims.product(["N", 1, 1]), dims.product([])) == (
        "N",
        None,
        "N",
        1,
    )
    assert (dims.divide(6, 2), dims.divide(7, 2), dims.divide(7, 0), dims.divide("N", 1)) == (3, None, None, "N")


def test_what_branches_have_in_common():
    assert dims.union((2, "N", 3), (2, "N", 4)) == (2, "N", None)
    assert dims.union((2,), (2, 3)) is None


@each_case(
    ("one", "other", "expected"),
    [
        ((2, 3), (3, 2), True),
        ((2, 3), (2, 4), False),
        (("N", 7), ("N", 6), False),
        (("N", 7), (7, "N"), True),
        (("N", 7), ("M", 6), True),
        (("N", 7), (3, 5), False),
        (("N", 7), (3, 14), True),
        ((3, 14), ("N", 7), True),
        ((3, 5), (None, 7), False),
        ((None, 7), ("N", 6), True),
        ((0, 7), ("N", 6), True),
        ((0, 7), (2, 6), False),
        ((0, 7), (6, 0), True),
        (("N", 0), (5,), False),
    ],
)
def test_numbers_of_elements_that_may_be_the_same(one, other, expected):
    assert dims.may_count_the_same(one, other) is expected
    assert dims.may_count_the_same(other, one) is expected


@pytest.mark.parametrize(("number", "expected"), [(0, 0), (3, 3), ("N", "N"), (-1, None), (2.0, None), (None, None)])
def test_a_negative_number_or_a_float_is_no_size(number, expected):
    assert dims.as_size(number) == expected
