# SPDX-License-Identifier: Apache-2.0
"""The properties of problems: whether consumers accept the node, and what is wrong."""

from __future__ import annotations

import pytest

from onnx_lint.inference.shapes.problem import (
    Element,
    InputDimension,
    NotOneElement,
    ShapeProblem,
    Unequal,
    WrongCount,
    WrongRank,
    fault_of,
    is_warning,
)


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (WrongRank(1, 1, 0, 0), False),
        (WrongRank(1, 1, 0, 0, taken_constant=True), True),
        (WrongRank(1, 1, 0, 0, taken_at_run=True), True),
        (NotOneElement(1, is_scalar=True), False),
        (NotOneElement(1, is_scalar=True, is_taken=True), True),
        (Unequal(InputDimension(0, 0, 2), 3), False),
    ],
)
def test_a_remark_is_what_consumers_may_take(problem: ShapeProblem, expected: bool):
    assert is_warning(problem) is expected


def test_a_wrong_number_of_elements_is_a_fault_of_the_list_or_of_the_shape():
    assert fault_of(WrongCount(1, 2, 3)) == Element(1, None)
    assert fault_of(WrongCount("pads", 2, 4)) == Element("pads", None)
    assert fault_of(WrongCount(1, 2, 3, is_of_shape=True)) == 1
