# SPDX-License-Identifier: Apache-2.0
"""The memos that nodes of different forms share in the inference."""

from __future__ import annotations

from onnx_lint import schema
from onnx_lint.inference.flow import subgraph_walk
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto

BOOL, FLOAT, DOUBLE, INT8, INT16, BFLOAT16 = 9, 1, 11, 3, 5, 16


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


def _memos(model: Model) -> list[object]:
    walked = model.value_flow.walks.of(model.main_graph, None)
    assert walked is not None
    return [walked.memos[form] for form in model.main_graph.forms]


def test_nodes_that_hold_different_graphs_share_a_memo_and_no_values():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "w", "w")
    _add_if(graph, "c", "x", "w")
    model = _load(proto)
    found = model.value_flow
    assert [found.types["a"], found.types["b"]] == ["tensor(float)", "tensor(double)"]
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("c",)]
    first, second, third = _memos(model)
    assert first is second is third


def test_nodes_that_differ_in_more_than_graphs_share_none():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "x", "x").attribute.add(name="number", type=2, i=1)
    _add_if(graph, "c", "x", "x").output.append("d")
    _add_if(graph, "e", "x", "x").attribute[1].name = "branch"
    _add_if(graph, "f", "x", "x").domain = "com.example"
    _add_if(graph, "g", "x", "x").attribute[1].type = 4
    memos = _memos(_load(proto))
    assert len(set(map(id, memos))) == len(memos)


def test_an_if_with_branches_like_those_of_another_has_its_own_findings():
    proto, graph = _graph()
    for output, then_branch, else_branch in (("a", "x", "w"), ("b", "x", "x"), ("c", "x", "w"), ("d", "x", "x")):
        _add_if(graph, output, then_branch, else_branch)
    found = _load(proto).value_flow
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("a",), ("c",)]
    assert [found.types.get(name) for name in "abcd"] == [None, "tensor(float)", None, "tensor(float)"]


def test_what_branches_make_is_told_once_where_it_is_the_same(monkeypatch):
    asked: list[object] = []
    outputs_of = subgraph_walk.outputs_of
    monkeypatch.setattr(
        subgraph_walk, "outputs_of", lambda subgraphs, found: asked.append(found) or outputs_of(subgraphs, found)
    )
    proto, graph = _graph()
    for value, code in ((graph.input[1], INT8), (graph.input[2], INT16)):
        value.type.tensor_type.elem_type = code  # which no test before this one has branches of
    for output, name in zip("abcd", "xwxw", strict=True):
        _add_if(graph, output, name, name)
    assert _load(proto).value_flow.types["d"] == "tensor(int16)"
    assert len(asked) == 2


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
