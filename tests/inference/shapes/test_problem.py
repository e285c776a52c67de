# SPDX-License-Identifier: Apache-2.0
"""Which problems consumers pass over."""

from __future__ import annotations

import pytest

from onnx_lint.inference.shapes.problem import (
    InputDimension,
    NotOneElement,
    ShapeProblem,
    Unequal,
    WrongRank,
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
