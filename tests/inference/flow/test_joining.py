# SPDX-License-Identifier: Apache-2.0
"""Declared and inferred types of a value, joined."""

from __future__ import annotations

import pytest

from onnx_lint.inference.flow.joining import joined, joined_shapes
from onnx_lint.inference.shapes.fact import fact


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
