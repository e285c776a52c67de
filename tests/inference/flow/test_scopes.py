# SPDX-License-Identifier: Apache-2.0
"""What calls of a function say of dimensions does not depend on the order of the calls."""

from __future__ import annotations

import itertools

import pytest
from onnx import parser

from onnx_lint import lint

CALLS = {
    "open": "a = t.F (yes, x, s)",
    "three": "b = t.F (yes, x, three)",
    "again": "c = t.F (yes, x, three)",
    "idle": "d = t.F (no, x, four)",
    "branch": "e = If (u) <then_branch = th () => (p) {p = t.F (yes, x, three)}, "
    "else_branch = el () => (q) {q = Neg (x)}>",
    "four": "f = t.F (yes, x, four)",
}

TEXT = """
<ir_version: 10, opset_import: ["" : 21, "t" : 1]>
g (float[N, 6] x, bool u) => (float[N, 6] y)
<int64[2] s = {-1, 6}, int64[2] three = {3, 6}, int64[2] four = {4, 6}, bool yes = {1}, bool no = {0}> {
  CALLS
  y = Relu (x)
}
<domain: "t", opset_import: ["" : 21]>
F (c, v, shape) => (w) {
  w = If (c) <then_branch = one () => (r) {r = Reshape (v, shape)}, else_branch = two () => (o) {o = Identity (v)}>
}
"""


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (("open", "three"), "frozen-dimension-variable"),
        (("open", "idle"), ""),
        (("idle", "branch"), ""),
        (("open", "branch", "three"), "frozen-dimension-variable"),
        (("three", "again", "idle"), "frozen-dimension-variable"),
        (("three", "open", "four"), "unsatisfiable-dimension-variable"),
    ],
)
def test_the_order_of_calls_does_not_matter(calls: tuple[str, ...], expected: str):
    for order in itertools.permutations(calls):
        model = parser.parse_model(TEXT.replace("CALLS", "\n".join(CALLS[each] for each in order)))
        rules = {each.rule for each in lint(model).diagnostics if each.rule.endswith("-dimension-variable")}
        assert rules == {expected} - {""}, order
