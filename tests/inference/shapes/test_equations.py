# SPDX-License-Identifier: Apache-2.0
"""Equations that determine ranks, sizes and outputs."""

from __future__ import annotations

import pytest
from support.models.shape_samples import node

from onnx_lint.inference.shapes.equations import solve
from onnx_lint.inference.shapes.problem import (
    Element,
    Indivisible,
    InputDimension,
    Unequal,
    WrongRank,
)
from onnx_lint.spec.operators.records.grammar import parse_equation


def test_an_equation_gives_ranks_sizes_and_outputs():
    text = "X[n c *spatial] scale[c] B[c] -> Y[n c *spatial] mean[c]"
    made = node("InstanceNormalization", ("N", 3, 7, 7), (3,), ...)
    assert list(solve(text, made)) == [("N", 3, 7, 7), (3,)]
    assert made.problems == []
    made = node("InstanceNormalization", (2, 3, 7), (4,), (3, 1))
    solve(text, made)
    # The first operand that says it gives the size; the rank of the third is the operator's.
    assert made.problems == [Unequal(InputDimension(1, 0, 4), 3, InputDimension(0, 1, 3)), WrongRank(2, 2, 1, 1)]


def test_an_equation_reads_attributes_and_multiples():
    text = "X[t b i] W[d 3*@hidden_size i] R[d 3*@hidden_size @hidden_size] -> Y[t d b @hidden_size]"
    made = node("GRU", (5, "N", 4), (1, 24, 4), None, hidden_size=8)
    assert list(solve(text, made)) == [(5, 1, "N", 8)]
    made = node("GRU", (5, "N", 4), (1, 25, 4), None, hidden_size=8)
    solve(text, made)
    assert made.problems == [Unequal(InputDimension(1, 1, 25), 24, Element("hidden_size", 8))]
    made = node("GRU", (5, 7), (6,))
    assert list(solve("X[?  3*h] W[2*h] -> Y[h ? 4]", made)) == [(3, None, 4)]
    assert made.problems == [Indivisible(InputDimension(0, 1, 7), 3)]


def test_runs_of_an_equation_agree():
    made = node("Det", (2, 3, 3), (2, 5))
    assert list(solve("X[*batch n n] Y[*batch m] -> Z[*batch m] W[*other]", made)) == [(2, 5), None]
    made = node("Det", (2, 3, 3), (4, 5))
    solve("X[*batch n n] Y[*batch m] -> Z[*batch m]", made)
    assert made.problems == [Unequal(InputDimension(1, 0, 4), 2, InputDimension(0, 0, 2))]
    made = node("Det", (2, 3, 3), (2, 2, 5))
    solve("X[*batch n n] Y[*batch m] -> Z[*batch m]", made)
    assert made.problems == [WrongRank(1, 3, 2, 2, 0)]


def test_an_equation_computes_with_what_came_before():
    text = "Q[b s @num_heads*h] K[b t w] past[b p] mask[1|b p+t] bias[2*w+1] half[w/@num_heads] ->"
    fitting = [(2, 5, 12), (2, 7, 6), (2, 3), (1, 10), (13,), (2,)]
    for operands in (fitting, [*fitting[:2], ..., (2, 7), *fitting[4:]], [*fitting[:2], None, (2, 9), *fitting[4:]]):
        made = node("Sum", *operands, num_heads=3)
        solve(text, made)
        assert made.problems == []
    made = node("Sum", (2, 5, 13), (2, 7, 6), (2, 3), (3, 9), (12,), (3,), num_heads=3)
    solve(text, made)
    assert made.problems == [
        Indivisible(InputDimension(0, 2, 13), 3, Element("num_heads", 3)),
        Unequal(InputDimension(3, 0, 3), 2, InputDimension(0, 0, 2)),
        Unequal(InputDimension(3, 1, 9), 10),
        Unequal(InputDimension(4, 0, 12), 13, InputDimension(1, 2, 6)),
        Unequal(InputDimension(5, 0, 3), 2, InputDimension(1, 2, 6)),
    ]


@pytest.mark.parametrize("text", ["X[n]", "X[n -> Y[n]", "X[n!] -> Y[n]", "-X -> Y"])
def test_what_is_no_equation(text):
    with pytest.raises(ValueError, match=r"equation|operand|dimension"):
        parse_equation(text)


def test_a_sum_gives_the_one_name_that_nothing_else_gives():
    text = "Q[s D] past[p D/@num_heads] mask[s p+t] bias[2*D+v] ->"
    made = node("Sum", (None, "D"), (3, 4), (5, 7), ..., num_heads=3)
    assert list(solve(f"{text} Y[D t p]", made)) == [(12, 4, 3)]
    assert made.problems == []
    made = node("Sum", None, (3, 4), (5, 2), (30,), num_heads=3)
    assert list(solve(f"{text} Y[D t v]", made)) == [(12, None, 6)]  # there are no -1 keys
    assert made.problems == []
    made = node("Sum", (None, "D"), (3, 4), (5, 7), num_heads=3)
    solve("Q[s D] K[? D/@num_heads] V[? D/@num_heads] ->", made)
    assert made.problems == [Unequal(InputDimension(2, 1, 7), 4, InputDimension(1, 1, 4))]


def test_something_else_may_give_a_name():
    made = node("Sum", ("T", 8), (3, 8))
    assert list(solve("X[t 4*h] Y[d 4*h] -> Z[d h]", made, h=(2, Element("hidden_size", 2)))) == [(3, 2)]
    assert made.problems == []
    made = node("Sum", ("T", 8), (3, 12))
    solve("X[t 4*h] Y[d 4*h] -> Z[d h]", made, h=(2, Element("hidden_size", 2)))
    assert made.problems == [Unequal(InputDimension(1, 1, 12), 8, Element("hidden_size", 2))]


def test_an_equation_divides_and_names_what_it_computes():
    made = node("Sum", (5, 12), (2, 3), (3,), num_heads=3, kv_num_heads=2)
    text = "X[n w=@num_heads*d] Y[n//2 ceil(n/2)] Z[k=d-1] -> A[w d k n//2]"
    assert list(solve(text, made)) == [(12, 4, 3, 2)]
    assert made.problems == []
    made = node("Sum", ("n", 15), (4, 14), num_heads=3, kv_num_heads=2)
    assert list(solve("X[n (@num_heads+@kv_num_heads)*d] Y[n @num_heads*d] -> Z[d]", made)) == [(3,)]
    assert made.problems == [Unequal(InputDimension(1, 1, 14), 9, InputDimension(0, 1, 15))]
    # What a name stands for is unknown; that two dimensions have the name is not.
    made = node("Sum", (9, 4), (9, 5))
    solve("X[m r=d//2] Y[m r=d//2] ->", made)
    assert made.problems == [Unequal(InputDimension(1, 1, 5), 4, InputDimension(0, 1, 4))]


def test_a_variable_does_not_take_the_place_of_a_number_that_has_the_same_name():
    made = node("Sum", (2, 12), ("n", "size"), num_heads=3)
    assert list(solve("X[n w=@num_heads*d] Y[n w=@num_heads*d] -> Z[n w]", made)) == [(2, 12)]
    made = node("Sum", ("n", "size"), (2, 12), num_heads=3)
    assert list(solve("X[n w=@num_heads*d] Y[n w=@num_heads*d] -> Z[n w]", made)) == [(2, 12)]
