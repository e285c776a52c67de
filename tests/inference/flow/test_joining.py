# SPDX-License-Identifier: Apache-2.0
"""Declared and inferred types of a value, joined."""

from __future__ import annotations

from typing import Literal

import pytest

from onnx_lint.inference.flow.joining import joined, joined_shapes, without_own_names
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.fact import ElementShapes, Fact, fact


@pytest.mark.parametrize(
    ("inferred", "declared", "expected"),
    [
        (None, (2, "N"), ((2, "N"), "")),
        ((2, 3), None, ((2, 3), "")),
        ((2,), (2, 3), (None, "shape")),
        ((2, 3), (2, 4), ((2, None), "shape")),
        ((2, 3), ("N", None), ((2, 3), "")),
        (("N", None), (2, 3), ((2, 3), "")),
        (("N", None), ("M", "K"), (("M", "K"), "")),
        (("N", "K"), (None, None), (("N", "K"), "")),
        (("N", None), ("'2*N'", "'2*N'"), (("N", "'2*N'"), "")),
        (("2*N", 3), ("N", 3), (("2*N", 3), "")),
        (("2*NM", "2*N"), ("N", "M"), (("N", "M"), "")),
    ],
)
def test_a_declaration_beside_what_follows(inferred, declared, expected):
    assert joined_shapes(inferred, declared) == expected


def test_types_and_what_is_inside_are_joined_too():
    tensor = fact("tensor(float)", (2,))
    assert joined(fact(None), tensor) == (tensor, "")
    assert joined(fact("tensor(int64)", (3,)), tensor) == (fact("tensor(int64)", (3,)), "type")
    one = fact("seq(tensor(float))", inside=fact("tensor(float)", (2, None)))
    other = fact("seq(tensor(float))", inside=fact("tensor(float)", (3, 4)))
    both = fact("seq(tensor(float))", inside=fact("tensor(float)", (None, 4)))
    assert joined(one, other) == (both, "shape")


def _sequence(inside: Shape | Literal["unknown"] = "unknown", elements: ElementShapes = ()) -> Fact:
    """The fact of a sequence of tensors; `elements`: the shapes of its elements, if they are known one by one."""
    within = None if inside == "unknown" else fact("tensor(float)", inside)
    return fact("seq(tensor(float))", inside=within, elements=elements)


@pytest.mark.parametrize(
    ("inferred", "declared", "expected"),
    [
        (_sequence((2,)), _sequence(), _sequence((2,))),
        (_sequence(), _sequence((2,)), _sequence((2,))),
        (_sequence(), _sequence(), _sequence()),
        (_sequence((2,), ((2,), (3,))), _sequence(), _sequence((2,), ((2,), (3,)))),
        (_sequence((None,), ((2,), (3,))), _sequence((None,)), _sequence((None,), ((2,), (3,)))),
        (_sequence((2,), ((2,), (2,))), _sequence(("N",)), _sequence((2,), ((2,), (2,)))),
        (_sequence(None, ((2,), (3, 4))), _sequence(()), _sequence((), ((2,), (3, 4)))),
        (_sequence(None, ((2,), (3, 4))), _sequence(None), _sequence(None, ((2,), (3, 4)))),
        (_sequence(None, (None, (2,))), _sequence((2,)), _sequence((2,), (None, (2,)))),
    ],
)
def test_shapes_of_elements_that_fit_a_declaration_are_kept(inferred: Fact, declared: Fact, expected: Fact):
    assert joined(inferred, declared) == (expected, "")


@pytest.mark.parametrize(
    ("elements", "inside"),
    [
        (((2,), (3,)), ("N",)),  # one variable is one size
        (((2,), (3,)), (3,)),
        (((2,), (3, 4)), (None,)),
        ((None, (2,)), (3,)),
    ],
)
def test_of_elements_that_contradict_a_declaration_what_is_inferred_is_kept(elements: ElementShapes, inside: Shape):
    inferred = _sequence(None, elements)
    assert joined(inferred, _sequence(inside)) == (inferred, "shape")


@pytest.mark.parametrize(
    ("declared", "known", "expected"),
    [
        (("p", 2, "q"), ("n", "m", None), (None, 2, "q")),
        (("p", 2), None, ("p", 2)),
        (("p", 2), ("n",), ("p", 2)),
        (None, ("n",), None),
    ],
)
def test_a_subgraph_does_not_rename_what_is_known(declared: Shape, known: Shape, expected: Shape):
    assert without_own_names(fact("tensor(float)", declared), fact("tensor(float)", known)).shape == expected
