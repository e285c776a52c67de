# SPDX-License-Identifier: Apache-2.0
"""The memos of the forms of nodes in the inference."""

from __future__ import annotations

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto

BOOL, FLOAT, DOUBLE, BFLOAT16 = 9, 1, 11, 16


def _add_if(graph: Proto, output: str, then_branch: str, else_branch: str) -> Proto:
    """A node that returns one of two values."""
    node = graph.node.add(op_type="If", input=["condition"], output=[output])
    for name, value in (("then_branch", then_branch), ("else_branch", else_branch)):
        branch = node.attribute.add(name=name, type=5).g
        branch.name = f"{name}_of_{output}"
        branch.node.add(op_type="Neg", input=[value], output=[f"{name}_{output}"])
        branch.output.add(name=f"{name}_{output}")
    return node


def _graph() -> tuple[Proto, Proto]:
    model = schema.message("ModelProto")(ir_version=10)
    model.opset_import.add(domain="", version=21)
    model.graph.name = "g"
    for name, code in (("condition", BOOL), ("x", FLOAT), ("w", DOUBLE)):
        model.graph.input.add(name=name).type.tensor_type.elem_type = code
    return model, model.graph


def _load(proto: Proto) -> Model:
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def test_an_if_with_branches_like_those_of_another_has_its_own_findings():
    proto, graph = _graph()
    for output, then_branch, else_branch in (("a", "x", "w"), ("b", "x", "x"), ("c", "x", "w"), ("d", "x", "x")):
        _add_if(graph, output, then_branch, else_branch)
    found = _load(proto).value_flow
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("a",), ("c",)]
    assert [found.types.get(name) for name in "abcd"] == [None, "tensor(float)", None, "tensor(float)"]


def test_a_function_with_another_operator_set_shares_no_memo_with_the_graph():
    proto, graph = _graph()
    graph.input[1].type.tensor_type.elem_type = BFLOAT16
    body = proto.functions.add(domain="l", name="F", input=["x"], output=["y"])
    body.opset_import.add(domain="", version=15)  # LeakyRelu takes bfloat16 from operator set 16 on
    proto.opset_import.add(domain="l", version=1)
    for nodes, output in ((graph.node, "a"), (body.node, "y")):
        nodes.add(op_type="LeakyRelu", input=["x"], output=[output]).attribute.add(name="alpha", type=1, f=0.5)
    graph.node.add(op_type="F", domain="l", input=["x"], output=["b"])
    found = _load(proto).value_flow
    assert [each.node.outputs for each in found.operands] == [("y",)]
