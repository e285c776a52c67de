# SPDX-License-Identifier: Apache-2.0
"""Nodes of operators that take several forms of operands."""

from __future__ import annotations

import pytest
from support.models.shape_samples import node

from onnx_lint.inference.shapes.forms import FormSolution, fits, ranks_of, solve_one, wrong_ranks
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import InputDimension, Unequal, WrongRank
from onnx_lint.spec.operators.records.grammar import parse_equation


def _required(made: Operands, *texts: str) -> FormSolution | None:
    forms = list(map(parse_equation, texts))
    ranks = ranks_of(made)
    fitting = [each for each in forms if fits(each, ranks)]
    if fitting:
        return solve_one(fitting, made)
    wrong_ranks(forms, made, ranks)
    return None


@pytest.mark.parametrize(
    ("operands", "problems"),
    [
        ([(3,), (4,), (3,)], [Unequal(InputDimension(1, 0, 4), 3, InputDimension(0, 0, 3))]),
        ([(3, 4), (4, 3), (4,)], [Unequal(InputDimension(2, 0, 4), 3, InputDimension(0, 0, 3))]),
        ([(3,), ..., (6,)], []),
        ([None, None, (6,)], []),  # nothing says which
        ([(3,), (4, 3), (3,)], [WrongRank(1, 2, 1, 1, 0)]),
        ([(3, 3, 3), (3,), (3,)], [WrongRank(0, 3, 1, 2)]),
    ],
)
def test_of_several_forms_the_one_with_the_ranks_is_compared(operands, problems):
    made = node("Sum", *operands)
    _required(made, "X[n] Y![n] Z[n] ->", "X[n m] Y![m n] Z[n] ->", "X[n] - Z[2*n] ->")
    assert made.problems == problems


def test_of_ranks_apart_the_nearest_is_told():
    for rank, nearest in ((1, 3), (4, 3), (6, 5)):
        made = node("Sum", (2,) * rank)
        _required(made, "X[b s w] ->", "X[b s n 3 d] ->")
        assert made.problems == [WrongRank(0, rank, nearest, nearest)]
    made = node("Sum", ())
    _required(made, "X[*rows n m] ->")
    assert made.problems == [WrongRank(0, 0, 2, None)]


def test_of_two_forms_that_may_be_only_the_common_part_is_known():
    made = node("Sum", (2, "N"), ("N", 3))
    found = _required(made, "X[a b] Y[b c] -> Z[a c]", "X[a b] Y[b c] -> Z[c c]")
    assert found is not None
    assert list(found.outputs) == [(None, 3)]
    assert made.problems == []


def test_what_else_is_wrong_with_the_sizes_of_a_form_excludes_it():
    made = node("Sum", (2, 4))

    def fit(found: FormSolution) -> None:
        if found.sizes["w"][0] != 4:
            made.indivisible(InputDimension(0, 0, 2), 4)

    found = solve_one([parse_equation("X[w h] -> Y[h]"), parse_equation("X[h w] -> Y[h]")], made, fit)
    assert found is not None
    assert list(found.outputs) == [(2,)]
    assert made.problems == []
