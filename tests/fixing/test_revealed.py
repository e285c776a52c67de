# SPDX-License-Identifier: Apache-2.0
"""A new finding about a value is revealed if the value was unknown before; otherwise the fix has caused it."""

from __future__ import annotations

import onnx.parser
import pytest
from support.fixes.fixed import fixed_model

from onnx_lint.engine.lint import lint_source, load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.revealed import revealed_by
from onnx_lint.input.source import BytesSource

HEADER = '<ir_version: 10, opset_import: ["" : 21, "f" : 1]>'
LOOP = """g (float[4] x) => (float[4] y) <int64 m = {2}, bool%s k = {1}>
  { y = Loop (m, k, x) <body = body (int64 i, bool[1] c, float[4] s) => (bool[1] d, float[4] o)
      { d = Identity (c) o = Relu (s) }> }"""
BRANCH = """g (float[4] x, bool c) => (bool[4] y) { y = If (c)
  <then_branch = t () => (bool[4] v) { %s }, else_branch = e () => (bool[4] w) { w = IsNaN (x) }> }"""


def _parsed(text: str) -> bytes:
    data: bytes = onnx.parser.parse_model(text if text.startswith("<") else f"{HEADER} {text}").SerializeToString()
    return data


@pytest.mark.parametrize(
    ("before", "after", "rule", "is_revealed"),
    [
        (
            "g (float[4] x) => (bool[4] y) { y = Not (a) a = Relu (x) }",
            "g (float[4] x) => (bool[4] y) { a = Relu (x) y = Not (a) }",
            "mismatched-operand-type",
            True,
        ),
        (
            BRANCH % "v = Not (a) a = Relu (x)",
            BRANCH % "a = Relu (x) v = Not (a)",
            "mismatched-operand-type",
            True,
        ),
        (
            "g (float[4] x) => (bool[4] y) { a = Rely (x) y = Not (a) }",
            "g (float[4] x) => (bool[4] y) { a = Relu (x) y = Not (a) }",
            "mismatched-operand-type",
            True,
        ),
        (
            "g (float[4] x) => (float[5] y) <float[5] a> { a = Relu (x) y = Abs (a) }",
            "g (float[4] x) => (float[5] y) { a = Relu (x) y = Abs (a) }",
            "contradictory-declared-shape",
            True,
        ),
        (LOOP % "[1]", LOOP % "", "mismatched-subgraph-shape", False),
        (
            "g (bool[4] x) => (bool[4] y) { a = Relu (x) y = Not (x) }",
            "g (float[4] x) => (bool[4] y) { a = Relu (x) y = Not (x) }",
            "mismatched-operand-type",
            False,
        ),
        (
            "g (float[4] x) => (float[4] y) { y = Relu (x) }",
            "g (float[4] x) => (float[5] y) { y = Relu (x) }",
            "contradictory-declared-shape",
            False,
        ),
    ],
    ids=[
        "a node out of order",
        "in a branch",
        "an unknown operator",
        "a wrong declaration",
        "what a Loop gives its body",
        "another place than the old finding",
        "another declaration",
    ],
)
def test_a_value_that_was_unknown(before: str, after: str, rule: str, is_revealed: bool):
    models = [load_source(BytesSource(_parsed(each)), "m.onnx", Settings(), is_file=False) for each in (before, after)]
    reports = [lint_source(BytesSource(_parsed(each)), "m.onnx", Settings()) for each in (before, after)]
    found = revealed_by(models[0], reports[0], models[1], reports[1])
    known = {item.message for item in reports[0].diagnostics}
    news = [item for item in reports[1].diagnostics if item.rule == rule and item.message not in known]
    assert [found(item) for item in news] == [is_revealed]


def test_a_fix_that_hides_nothing_reveals_nothing():
    done = fixed_model(BytesSource(_parsed(BRANCH % "v = Not (a) a = Relu (x)")), Settings(), unsafe=False)
    assert done.repair.fixed == (("unordered-nodes", 1),)
    assert done.repair.revealed == ()
    assert not done.repair.not_made


def test_a_wrong_declaration_hides_the_next_one():
    text = "g (float[4] x) => (float[4] y) <float[5] a, float[5] b> { a = Relu (x) b = Relu (a) y = Abs (b) }"
    done = fixed_model(BytesSource(_parsed(text)), Settings(), unsafe=False)
    assert done.repair.fixed == (("contradictory-declared-shape", 2),)
    assert [len(each.edits) for each in done.rounds] == [1, 1]
