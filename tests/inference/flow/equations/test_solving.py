# SPDX-License-Identifier: Apache-2.0
"""Equations between dimensions contradict each other exactly if they are true for no sizes."""

from __future__ import annotations

import itertools
import random

from support.models.shape_samples import size_of
from support.project.each_case import each_case
from support.project.sampled import one_in

from onnx_lint.inference.flow.equations.contradiction import Contradiction
from onnx_lint.inference.flow.equations.equation import DimensionEquation
from onnx_lint.inference.flow.equations.origins import ComparedOperand
from onnx_lint.inference.flow.equations.solving import Solution
from onnx_lint.inference.shapes import dims, expression
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

NAMES = ("A", "B", "C", "D")

MATMUL = 'graph { node { op_type: "MatMul" input: "x" input: "w" output: "y" } }'
NODE = load(BytesSource(MATMUL.encode()), "m.textproto").graphs[0].nodes[0]


def equation(one: int | str, other: int | str) -> DimensionEquation:
    """The equation that a MatMul needs of its second input."""
    return DimensionEquation(one, other, ComparedOperand(node=NODE, axis=0, call=None, index=1))


def solve(*pairs: tuple[int | str, int | str]) -> list[Contradiction]:
    """The contradictions among equations between such dimensions."""
    return list(Solution().contradictions([equation(one, other) for one, other in pairs]))


def _side(seed: random.Random) -> int | str:
    """A number, or an expression of one or two variables."""
    one: int | str | None = seed.choice(NAMES)
    for _ in range(seed.randrange(3)):
        operation = seed.choice((dims.add, dims.multiply))
        one = operation(one, seed.choice((*NAMES, 1, 2, 3)))
    if seed.random() < 0.2:
        one = dims.divide_down(one, 2)
    if seed.random() < 0.3 and isinstance(one, str):
        one = seed.choice((expression.limited, expression.at_least))(one, seed.randrange(1, 5))
    if seed.random() < 0.1 and isinstance(one, str):
        less = dims.subtract(one, seed.randrange(1, 4))
        one = expression.at_least(str(less), seed.randrange(3))
    assert one is not None
    return one


@one_in(5)
def test_what_is_true_for_some_sizes_is_no_contradiction(step: int):
    seed = random.Random(6)
    compared = 0
    for _ in range(250 // step):
        sizes = {name: seed.randrange(1, 4) for name in NAMES}
        pairs: list[tuple[int | str, int | str]] = []
        for _ in range(30):
            one = _side(seed)
            size = size_of(one, sizes)
            others = [other for other in (_side(seed), _side(seed)) if size_of(other, sizes) == size]
            assert size is not None
            pairs.append((one, others[0] if others else size))
        compared += len(pairs)
        assert solve(*pairs) == [], (sizes, pairs)
    assert compared == 7_500 // step


def test_what_is_found_is_true_for_no_sizes():
    """All sizes up to 5 are tried for pairs of equations between two variables."""
    seed = random.Random(7)
    found = 0
    for _ in range(1_000):
        pairs = [(_side(seed), seed.choice((seed.randrange(5), _side(seed)))) for _ in range(2)]
        if not solve(*pairs):
            continue
        found += 1
        for sizes in itertools.product(range(1, 6), repeat=len(NAMES)):
            values = dict(zip(NAMES, sizes, strict=True))
            assert not all(size_of(one, values) == size_of(other, values) for one, other in pairs), (pairs, values)
        if found == 25:
            break
    assert found == 25


@each_case(
    "pairs",
    [
        [("N", 4), ("N", 5)],
        [("N", "N + 1")],
        [("N", "M"), ("M", 3), ("N", 4)],
        [("2*N", 5)],
        [("2*N + 1", 4)],
        [("N + 3", 2)],
        [("N", "2*N")],
        [("N*M", 6), ("N", 2), ("M", 4)],
        [("N", "M + N + 1")],
        [("M*N", 7), ("M", 2)],
        [("a name with blanks", 4), ("a name with blanks", 5)],
        [("min(N, 2)", 5)],
        [("3*min(N, 2)", 4)],
        [("max(N - 1, 3)", 2)],
        [("2*(N//2)", 5)],
        [(4, "max(2*N - 1, 0)")],
        [("max(N - 1, 0)", "N")],
        [("N", "max(N + 1, 4)")],
        [("min(N - 1, 4)", "N")],
        [("max(N - 1, 0)", 3), ("N", 3)],
        [("N", 5), ("max(N - 1, 0)", "M"), ("M", 3)],
        [("N*N", 5)],
        [("N", 2**53 + 1), ("N", 2**53 + 2)],
        [("N*M", 1), ("M", 2)],
    ],
)
def test_what_no_sizes_make_true(pairs: list[tuple[int | str, int | str]]):
    assert len(solve(*pairs)) == 1


@each_case(
    "pairs",
    [
        [("N", "N")],
        [("N", "past + N")],
        [("N", 0)],
        [("M*N", 6)],
        [("N", "(M//2)"), ("N", "(M//3)")],
        [("M", "((N - 1)//2)"), ("N", 0)],
        [("min(N, 2)", 2), ("max(N, 2)", 2)],
        [("3*min(N, 2)", 3)],
        [("min(N, 2) + M", 7)],
        [("M*min(N, 2)", 7)],
        [("max(N - 1, 0)", 4), ("2*(N//2)", 4)],
        [("floor(N / 2)", 4), ("floor(N / 2)", 5)],
        [(5, "max(2*N - 1, 0)"), ("N", 3)],
        [("max(N - 1, 0)", 0)],
        [("max(N - 1, 4)", "N"), ("N", 4)],
        [("N", 5), ("max(N - 1, 0)", "M"), ("M", 4)],
        [("min(N + 1, 4)", "N"), ("N", 4)],
        [("max(N, 3)", "N")],
        [("max(N - 1, 0)", "M")],
        [("N*N", 4), ("N", 2)],
        [("N*M", 1), ("M", 1)],
        [("N*N", 2**70)],
        [("N", 2**53 + 1)],
        [("N", 2**63 - 1)],
        [("N*N", 3_037_000_499**2)],
    ],
)
def test_what_may_be_true_or_cannot_be_told(pairs: list[tuple[int | str, int | str]]):
    assert solve(*pairs) == []


def test_a_variable_is_told_once_with_what_says_otherwise():
    [found] = solve(("N", 4), ("N", 5), ("N", 6))
    needs = "unnamed node 0 (MatMul) of the main graph needs dimension 0 of input 1 'w' to be"
    assert found.describe() == f"{needs} 5, but it is 'N'; {needs} 4, but it is 'N'; no size makes all of this true"
    assert (found.subject, found.notes()) == ("N", [(found.place, f"{needs} 4, but it is 'N'")])
    assert str(found.place) == "graph.node[0].input[1]"


def test_a_nested_graph_knows_what_is_around_it_and_not_the_other_way_round():
    around = Solution()
    assert list(around.contradictions([equation("N", 4)])) == []
    assert len(list(Solution(around).contradictions([equation("N", 5)]))) == 1
    around = Solution()
    for size in (4, 5):
        assert list(Solution(around).contradictions([equation("N", size)])) == []


def test_the_size_inside_of_a_maximum_is_a_reason():
    [found] = solve(("N", 5), ("max(N - 1, 0)", 3))
    assert [each.sides for each in found.because] == [("N", 5)]
    assert found.describe().endswith("no size makes all of this true")
