# SPDX-License-Identifier: Apache-2.0
"""Nodes that surely remain when ONNX Runtime rewrites a model, and those of which that is not known."""

from __future__ import annotations

import onnx.parser
from support.project.each_case import each_case

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators.kept_nodes import KeptNodes
from onnx_lint.loader import load

HEADER = '<ir_version: 9, opset_import: ["": 17, "f": 1]> g (float[4] x, bool k) => (float[n] y) '
FUNCTION = '<domain: "f", opset_import: ["": 17, "f": 1]>'
CHOICE = (
    "y = If(%s) <then_branch = t () => (float[4] a) { a = Sin(x) }, else_branch = e () => (float[4] b) { b = Neg(x) }>"
)


@each_case(
    ("nodes", "functions", "is_kept"),
    [
        ("y = Sin(x)", [], True),
        ("s = Sin(x) y = Relu(s)", [], True),
        ("s = Sin(x) t = Shape(s) y = Expand(x, t)", [], False),
        ("s = Sin(x) t = Size(s) y = Cast<to = 1>(t)", [], False),
        ("s = Sin(x) t = Shape(s) u = Expand(x, t) y = Add(u, s)", [], True),
        ("s = Sin(x) t = Slice(x, s, s) y = Relu(t)", [], False),
        ("s = Sin(x) y = Relu(x)", [], False),
        (CHOICE % "k", [], True),
        ("c = Identity(k) " + CHOICE % "c", [], True),
        ("c = Constant<value = bool {1}>() " + CHOICE % "c", [], False),
        ("c = Constant<value = bool {1}>() d = And(c, k) " + CHOICE % "d", [], True),
        ("t = Size(x) c = Cast<to = 9>(t) " + CHOICE % "c", [], False),
        ("y = f.A(x)", ["A (x) => (y) { y = Sin(x) }"], True),
        ("y = f.B(x)", ["A (x) => (y) { y = Sin(x) }", "B (x) => (y) { y = f.A(x) }"], True),
        ("s = f.A(x) t = Shape(s) y = Expand(x, t)", ["A (x) => (y) { y = Sin(x) }"], False),
        ("y, z = f.A(x)", ["A (x) => (y, z) { y = Relu(x) z = Sin(x) }"], False),
        ("s = Sin(x) y = f.A(s)", ["A (x) => (y) { y = Relu(x) }"], True),
        ("s = Sin(x) y = f.A(s)", ["A (x) => (y) { t = Shape(x) y = Cast<to = 1>(t) }"], False),
        ("y = f.A(x, k)", [f"A (x, k) => (y) {{ {CHOICE % 'k'} }}"], False),
    ],
)
def test_a_node_remains_if_an_output_needs_it_as_data(nodes: str, functions: list[str], is_kept: bool) -> None:
    bodies = " ".join(f"{FUNCTION} {each}" for each in functions)
    proto = onnx.parser.parse_model(f"{HEADER} {{ {nodes} }} {bodies}")
    model = load(BytesSource(proto.SerializeToString()), "model.onnx")
    (node,) = [node for graph in model.graphs for node in graph.nodes if node.op_type == "Sin"]
    assert KeptNodes(model.graphs, model.calls).is_kept(node) is is_kept


def test_a_node_that_hands_on_its_input_may_go() -> None:
    proto = onnx.parser.parse_model(f"{HEADER} {{ y = Dropout(x) }}")
    model = load(BytesSource(proto.SerializeToString()), "model.onnx")
    assert not KeptNodes(model.graphs, model.calls).is_kept(model.main_graph.nodes[0])


def test_of_the_default_of_an_attribute_nothing_is_known() -> None:
    body = onnx.parser.parse_graph("t () => (float[4] a) { a = Sin(x) }")
    proto = onnx.parser.parse_model(f"{HEADER} {{ y = f.A(x) }} {FUNCTION} A (x) => (y) {{ y = Relu(x) }}")
    proto.functions[0].attribute_proto.add(name="g", type=5).g.CopyFrom(body)
    model = load(BytesSource(proto.SerializeToString()), "model.onnx")
    (node,) = [node for graph in model.graphs for node in graph.nodes if node.op_type == "Sin"]
    assert not KeptNodes(model.graphs, model.calls).is_kept(node)
    assert model.uses.is_needed(node)
