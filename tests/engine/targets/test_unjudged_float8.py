# SPDX-License-Identifier: Apache-2.0
"""Nodes that ONNX Runtime fuses with tensors of float8, or moves to them, are not said to load before 1.32."""

from __future__ import annotations

import pytest
from support.models.asked_releases import states

BETWEEN = """(float[2, 4] x) => (float[a, b] y) <float s = {1}, float8e4m3fn z = {0}>
{ q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) c = %s p = QuantizeLinear(c, s, z)
y = DequantizeLinear(p, s, z) }"""
AFTER = """(float[2, 4] x) => (float[a, b] y) <float s = {1}, float8e4m3fn z = {0}%s>
{ q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) y = %s }"""
LOADS, BEFORE_1_32 = [True] * 4, [None, None, None, True]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("Sigmoid(d)", BEFORE_1_32),
        ("Add(d, d)", BEFORE_1_32),
        ("Add(d, x)", LOADS),
        ("Relu(d)", LOADS),
        ("Sub(d, d)", LOADS),
        ("Transpose(x)", BEFORE_1_32),
        ("Sigmoid(x)", LOADS),
        ("Clip(d)", [None] * 4),
        ("Clip(x)", [None] * 4),
        ("Clip(i) i = Identity(d)", [None] * 4),
    ],
)
def test_a_node_before_a_quantization(node: str, expected: list[bool | None]) -> None:
    if "Identity" in node:
        node, before = node.split(" ", 1)
        graph = BETWEEN.replace("c = %s", f"{before} c = {node}")
    else:
        graph = BETWEEN % node
    assert states(graph, opset=19) == expected
    assert states(graph.replace("float8e4m3fn", "uint8"), opset=19) == LOADS


@pytest.mark.parametrize(
    ("node", "constant", "expected"),
    [
        ("Sigmoid(d)", "", LOADS),
        ("Clip(d)", "", LOADS),
        ("Transpose(d)", "", BEFORE_1_32),
        ("Transpose(i) }", "", BEFORE_1_32),
        ("Squeeze(d)", "", BEFORE_1_32),
        ("Reshape(d, r)", ", int64[2] r = {4, 2}", [True, None, None, True]),
        ("MatMul(d, r)", ", float[4, 1] r = {1, 1, 1, 1}", LOADS),
    ],
)
def test_a_node_after_a_dequantization(node: str, constant: str, expected: list[bool | None]) -> None:
    graph = AFTER % (constant, node)
    if "(i)" in node:
        graph = graph.replace("y = Transpose(i) }", "i = Identity(d) y = Transpose(i)")
    assert states(graph, opset=19) == expected


@pytest.mark.parametrize(("operand", "expected"), [("d", BEFORE_1_32), ("x", LOADS)])
def test_a_product_of_two_dequantized_operands(operand: str, expected: list[bool | None]) -> None:
    weights = ", float8e4m3fn[4, 3] w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}"
    graph = AFTER % (weights, f"MatMul({operand}, v)")
    assert states(graph.replace("y =", "v = DequantizeLinear(w, s, z) y ="), opset=19) == expected
