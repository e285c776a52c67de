# SPDX-License-Identifier: Apache-2.0
"""The Casts with which the types of a node's inputs may fit."""

from __future__ import annotations

import onnx.parser
import pytest
from support.project.each_case import each_case

from onnx_lint import lint
from onnx_lint.inference.flow.repairs.casts import casts_for
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

HEAD = '<ir_version: 10, opset_import: ["": 21], producer_name: "me"> '


@each_case(
    ("text", "targets"),
    [
        ("(float[N] x, int32[N] i) => (float[N] y) { y = Add(x, i) }", [(1, 1), (0, 6)]),
        ("(float[N] c, int64[N] a, int64[N] b) => (int64[N] y) { y = Where(c, a, b) }", [(0, 9)]),
        # A list of sizes is no list of floats; and nothing is made of strings.
        ("(float[N] x, float[2] s) => (float[A,B] y) { y = Reshape(x, s) }", []),
        ("(float[N] x, string[N] s) => (float[N] y) { y = Add(x, s) }", []),
        ("(float[N] x, bool[N] i) => (float[N] y) { y = Gather(x, i) }", []),
        # A condition is no index or number of runs, and a mask that is added needs other numbers than 0 and 1.
        ("(float[2,2] x, bool s) => (float[A,B] y) { y = Unsqueeze(x, s) }", []),
        ("(float[4,4] x, bool[4,4] m) => (float[4,4] y) { y = Add(x, m) }", []),
        ("(float[4,4] x, bool[4,4] m) => (float[4,4] y) { y = Mul(x, m) }", [(1, 1), (1, 7)]),
        ("(int32[N] x) => (int32[N] y) { y = Sigmoid(x) }", [(0, 1)]),
        # A constant keeps its numbers.
        ("(int64[N] x) => (int64[N] y) <float[1] c = {0.5}> { y = Mul(x, c) }", [(0, 1)]),
        ("(int64[N] x) => (int64[N] y) <float[1] c = {2.0}> { y = Mul(x, c) }", [(1, 7), (0, 1)]),
        ("(int32[N] x) => (int32[N] y) <int64[1] c = {9223372036854775807}> { y = Mul(x, c) }", [(0, 7)]),
        ("(uint8[N] x) => (uint8[N] y) <int64[1] c = {-1}> { y = Max(x, c) }", [(0, 7)]),
        ("(float[N] x) => (float[N] y) <int64[1] c = {16777217}> { y = Mul(x, c) }", [(0, 7)]),
        ("(float[N] x) => (float[N] y) <int64[1] c = {16777216}> { y = Mul(x, c) }", [(1, 1), (0, 7)]),
        ("(float16[N] x) => (float16[N] y) <float[1] c = {70000.0}> { y = Mul(x, c) }", [(0, 1)]),
        ("(float16[N] x) => (float16[N] y) <float[1] c = {0.1}> { y = Mul(x, c) }", [(1, 10), (0, 1)]),
        ("(float[N] x) => (float[N] y) <int64[1] c = {2}> { y = Where(c, x, x) }", []),
        # Without its scale, a quantized value is no number; an input may be an image.
        ("(float[1,4] x) => (float[1,4] y) <int8[1,4] w = {1,2,3,4}> { y = MatMul(x, w) }", []),
        ("(uint8[1,4] x) => (float[1,4] y) { y = Sigmoid(x) }", [(0, 1)]),
        ("(float[4] x) => (float[4] y) <int32[4] b = {1,2,3,4}, float b_scale = {1}> { y = Add(x, b) }", [(0, 6)]),
        ("(float[4] x) => (float[4] y) <int32[4] b = {1,2,3,4}, float c = {1}> { y = Add(x, b) }", [(1, 1), (0, 6)]),
        ("(float[4] x, float s) => (float[4] y) { q = QuantizeLinear(x, s) y = Sigmoid(q) }", []),
    ],
)
def test_the_targets_of_casts(text: str, targets: list[tuple[int, int]]):
    model = load(BytesSource(onnx.parser.parse_model(f"{HEAD} g {text}").SerializeToString()))
    conflict = model.value_flow.operands[0]
    found = [each.text.split() for each in casts_for(conflict)]
    assert [(int(each[each.index("input") + 1]), int(each[4].strip("(to=)"))) for each in found] == targets


@pytest.mark.parametrize(
    ("output", "hint"),
    [
        ("float[N] y", "with a Cast to FLOAT (to=1) of input 1 'i' the types fit"),
        ("int32[N] y", "with a Cast to INT32 (to=6) of input 0 'x' the types fit"),
        ("double[N] y", None),
    ],
)
def test_the_declared_output_decides(output: str, hint: str | None):
    report = lint(onnx.parser.parse_model(f"{HEAD} g (float[N] x, int32[N] i) => ({output}) {{ y = Add(x, i) }}"))
    assert [each.hint for each in report.diagnostics if each.rule == "mismatched-operand-type"] == [hint]
