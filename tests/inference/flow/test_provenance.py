# SPDX-License-Identifier: Apache-2.0
"""The values that determine the facts about another value, and the walks that are reported."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

CALLS = """
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
main (float[2, 3] x) => (y) {
  t = Transpose (x)
  p = local.outer (x)
  q = local.outer (t)
  y = local.inner (q)
}
<domain: "local", opset_import: ["" : 21, "local" : 1]>
outer (a) => (r) { r = local.inner (a) }
<domain: "local", opset_import: ["" : 21]>
inner (b) => (s) { s = Abs (b) }
"""


def _model(text: str) -> Model:
    return load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))


def _of_node(node: str) -> Model:
    inputs = "float[2, 3] x, float[3] bias, float[N, M] open, float[1] one"
    head = '<ir_version: 10, opset_import: ["" : 21]> g'
    return _model(f"{head} ({inputs}) => (y) <int64[2] shape = {{3, 2}}, int64[1] axes = {{0}}> {{ {node} }}")


@pytest.mark.parametrize(
    ("node", "sources"),
    [
        ("y = MatMul (x, open)", ["x", "open"]),
        ("y = Reshape (x, shape)", ["shape"]),
        ("y = Unsqueeze (x, axes)", ["x", "axes"]),
        ("y = Gemm (x, open, bias)", ["x", "open"]),
        ("y = Relu (x)", ["x"]),
        # Each of them suffices alone, so all are reported.
        ("y = Constant <value_int = 3> ()", []),
        ("y = com.example.Op (x)", []),
    ],
)
def test_the_inputs_that_decide(node: str, sources: list[str]) -> None:
    provenance = _of_node(node).provenance
    [walked] = provenance.walks()
    steps = provenance.way(walked, "y").steps
    assert [steps[index].value.name for index in steps[0].sources] == sources


def test_a_function_is_walked_for_each_call_that_brings_other_arguments() -> None:
    walks = _model(CALLS).provenance.walks()
    said = [(str(walked.graph.place), None if walked.call is None else str(walked.call.node.place)) for walked in walks]
    assert said == [
        ("graph", None),
        ("functions[0]", "graph.node[1]"),
        ("functions[0]", "graph.node[2]"),
        ("functions[1]", "functions[0].node[0]"),
        ("functions[1]", "functions[0].node[0]"),
    ]
    assert [walked.fact(walked.graph.output_names[0]).shape for walked in walks] == [
        (3, 2), (2, 3), (3, 2), (2, 3), (3, 2),
    ]  # fmt: skip


def test_a_call_inside_a_function_leads_back_to_the_right_call_of_that() -> None:
    provenance = _model(CALLS).provenance
    last = provenance.walks()[-1]
    way = provenance.way(last, "s")
    assert [(step.value.name, step.value.fact.shape) for step in way.steps] == [
        ("s", (3, 2)), ("b", (3, 2)), ("a", (3, 2)), ("t", (3, 2)), ("x", (2, 3)),
    ]  # fmt: skip
