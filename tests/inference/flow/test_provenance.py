# SPDX-License-Identifier: Apache-2.0
"""The walks that are reported."""

from __future__ import annotations

import onnx.parser

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
