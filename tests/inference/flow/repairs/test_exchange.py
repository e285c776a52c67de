# SPDX-License-Identifier: Apache-2.0
"""Two inputs of a node that were exchanged are found by trying it."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint.inference.flow.repairs.exchange import exchange_of
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load


@pytest.mark.parametrize(
    ("inputs", "output", "node", "pair"),
    [
        ("int64[2] s, float[N,16] x", "float[M,4] y", "Reshape(s, x)", (0, 1)),
        # The declaration would be wrong.
        ("int64[2] s, float[N,16] x", "int64[M,4] y", "Reshape(s, x)", None),
        # No shape has two dimensions.
        ("int64[2,2] s, float[N,16] x", "float[M,4] y", "Reshape(s, x)", None),
        ("float[2] a, bool[2] c, float[2] b", "float[2] y", "Where(a, c, b)", (0, 1)),
        # With the condition moved, the values keep their order. With two inputs exchanged, they would not.
        ("float[2] a, float[2] b, bool[2] c", "float[2] y", "Where(a, b, c)", None),
        ("float[2] a, bool[2] c, float[3,1] b", "float[3,2] y", "Where(a, c, b)", None),
        ("float lo, float hi, float[2] x", "float[2] y", "Clip(lo, hi, x)", None),
        ("float[4] s, float[2,4] x, float[4] b", "float[2,4] y", "LayerNormalization(s, x, b)", (0, 1)),
        ("float[4] s, float[2,4] x, float[4] b", "float[2,4] y", "LayerNormalization(s, b, x)", None),
        ("float[4] s, float[2,4] x", "float[2,4] y", "LayerNormalization(s, x)", (0, 1)),
        ("float[4] s, float[2,4] x", "float[2,4] y", "LayerNormalization(s, x, s)", (0, 1)),
        ("float[5,3,2,2] w, float[N,3,8,8] x, float[5] b", "float[N,5,7,7] y", "Conv(w, x, b)", (0, 1)),
        # The condition may be any of two.
        ("float[2] a, float[2] c, float[2] b", "float[2] y", "Where(a, c, b)", None),
        ("float[16,8] w, float[N,16] x", "float[N,8] y", "Gemm(w, x)", (0, 1)),
        ("float[8,16] w, float[N,16] x", "float[N,8] y", "Gemm<transB = 1>(w, x)", (0, 1)),
        ("float[16,8] w, float[N,16] x", "float[N,9] y", "Gemm(w, x)", None),
        ("float s, float[2] x", "uint8[2] y", "QuantizeLinear(s, x)", (0, 1)),
        # An attribute decides types.
        ("float s, float[2] x", "uint8[2] y", "QuantizeLinear<output_dtype = 2>(s, x)", None),
        ("float[16,8] w, float[N,16] x", "float[N,8] y", "Unknown.Gemm(w, x)", None),
    ],
)
def test_the_one_exchange_with_which_everything_fits(inputs: str, output: str, node: str, pair):
    domains = '"": 21, "Unknown": 1' if node.startswith("Unknown") else '"": 21'
    text = f"<ir_version: 10, opset_import: [{domains}]> g ({inputs}) => ({output}) {{ y = {node} }}"
    model = load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))
    found = exchange_of(model.main_graph.nodes[0], model.operators, model.value_flow)
    assert (None if found is None else found.pair) == pair


def test_a_parameter_of_a_function_is_not_known():
    text = """<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[16,8] w, float[N,16] x) => (float[N,8] y)
        { y = f.F<t = 0>(w, x) }
        <domain: "f", opset_import: ["": 21]> F <t> (a, b) => (c) { c = Gemm<transA: int = @t>(a, b) }"""
    model = load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))
    assert exchange_of(model.functions[0].body.nodes[0], model.operators, model.value_flow) is None


def test_the_hint_names_the_inputs_and_the_node():
    text = (
        '<ir_version: 10, opset_import: ["": 21]> g (int64[2] s, float[N,16] x) => (float[M,4] y) { y = Reshape(s, x) }'
    )
    model = load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))
    found = exchange_of(model.main_graph.nodes[0], model.operators, model.value_flow)
    assert found is not None
    words = "inputs 0 's' and 1 'x' of unnamed node 0 (Reshape) of the main graph exchanged"
    assert found.proposal.text == words
