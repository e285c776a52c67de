# SPDX-License-Identifier: Apache-2.0
"""Two mistakes in one model are two findings, also if the change for one of them silences the rule of the other."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint

SIZES = "int32[2] s = {4, 4}"
WIDE = "double[2] s = {4, 4}"
TWICE = "a = Mul(x, s) b = Mul(x, s)"

ARITY, ATTRIBUTE, DECLARED = "operator-arity", "unknown-operator-attribute", "contradictory-declared-shape"
NAME, OPERAND, OPERATOR = "undefined-name", "unsupported-operand-value", "unknown-operator"
SHAPES, TYPE = "incompatible-operand-shapes", "mismatched-operand-type"

PAIRS = {
    # an import, and what no import mends
    "import, squeeze": (13, "", "y = LayerNormalization(x, v) z = Squeeze<axes = [0]>(x)", OPERATOR, ATTRIBUTE),
    "import, split": (13, "", "y = LayerNormalization(x, v) z, z2 = Split<split = [1, 1]>(x)", OPERATOR, ATTRIBUTE),
    "import, pad": (13, "", "y = LayerNormalization(x, v) z = Pad<pads = [0, 0, 0, 1]>(x)", OPERATOR, ATTRIBUTE),
    "import, clip": (17, "", "y = Gelu(x) z = Clip<min = 0.0>(x)", OPERATOR, ATTRIBUTE),
    "import, arity": (17, "", "y = Gelu(x) z = Relu(x, x)", OPERATOR, ARITY),
    "import, name": (17, "", "y = Gelu(x) z = Relu(lost)", OPERATOR, NAME),
    "import, shapes": (17, "", "y = Gelu(x) z = MatMul(x, c)", OPERATOR, SHAPES),
    "import, type": (17, "", "y = Gelu(x) z = Add(x, t)", OPERATOR, TYPE),
    # the type of an initializer, and what its numbers break
    "type, reshape": (17, SIZES, f"{TWICE} i = Cast<to = 7>(s) z = Reshape(c, i)", TYPE, OPERAND),
    "type, matmul": (17, SIZES, f"{TWICE} i = Cast<to = 7>(s) k = ConstantOfShape(i) z = MatMul(k, c)", TYPE, SHAPES),
    "type, output": (17, SIZES, f"{TWICE} i = Cast<to = 7>(s) w = ConstantOfShape(i)", TYPE, DECLARED),
    "double, reshape": (17, WIDE, f"{TWICE} i = Cast<to = 7>(s) z = Reshape(c, i)", TYPE, OPERAND),
    "double, matmul": (17, WIDE, f"{TWICE} i = Cast<to = 7>(s) k = ConstantOfShape(i) z = MatMul(k, c)", TYPE, SHAPES),
    "double, output": (17, WIDE, f"{TWICE} i = Cast<to = 7>(s) w = ConstantOfShape(i)", TYPE, DECLARED),
    # a type behind which exchanged inputs contradict a declared shape
    "type, exchanged": (
        17, WIDE, "a = Mul(x, s) b = Mul(x, s) p = Reshape(a, l) q = Reshape(b, r) m = MatMul(p, q)", TYPE, DECLARED),
    # two names, two shapes, and one of each
    "name, shapes": (17, "", "y = Relu(mispelt) z = MatMul(x, c)", NAME, SHAPES),
    "name, attribute": (17, "", "y = Relu(mispelt) z = Softmax<axes = 1>(x)", NAME, ATTRIBUTE),
    "name, operator": (17, "", "y = Relu(mispelt) z = Rleu(y)", NAME, OPERATOR),
    "shapes, type": (17, "", "y = Gemm(x, d) z = Add(y, t)", SHAPES, TYPE),
    "attribute, shapes": (17, "", "y = Gemm<trans_b = 1>(x, d) z = MatMul(x, c)", ATTRIBUTE, SHAPES),
}  # fmt: skip

INPUTS = "float[2,2] x, float[2] v, float[3,5] c, float[4,2] d, double[2,2] t, float[2,2] misspelt"
LISTS = "int64[2] l = {1, -1}, int64[2] r = {-1, 1}"


@pytest.mark.parametrize("pair", PAIRS)
def test_both_of_two_mistakes_are_reported(pair: str):
    version, initializer, nodes, *rules = PAIRS[pair]
    held = ", ".join(filter(None, (LISTS, initializer, "float[4,4] m" if "m =" in nodes else "")))
    output = "float[7,3] w" if "w =" in nodes else "float[2] e"
    text = f'<ir_version: 9, opset_import: ["": {version}], producer_name: "me">'
    text += f" g ({INPUTS}) => ({output}) <{held}> {{ e = Identity(v) {nodes} }}"
    found = lint(onnx.parser.parse_model(text)).diagnostics
    assert {each.rule for each in found} >= set(rules), [each.message for each in found]
