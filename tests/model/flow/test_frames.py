# SPDX-License-Identifier: Apache-2.0
"""What nodes of different forms share when values are followed through them."""

from __future__ import annotations

from onnx_lint import schema
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.source import BytesSource

BOOL, FLOAT, DOUBLE = 9, 1, 11


def _add_if(graph: Proto, output: str, then_branch: str, else_branch: str) -> Proto:
    """A node that hands on one of two values."""
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


def _cells(model: Model) -> list[object]:
    walked = model.value_flow.walks.first_over(model.main_graph)
    return [walked.cells[form] for form in model.main_graph.forms]


def test_nodes_that_hold_different_graphs_share_a_cell_and_no_values():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "w", "w")
    _add_if(graph, "c", "x", "w")
    model = _load(proto)
    found = model.value_flow
    assert [found.types["a"], found.types["b"]] == ["tensor(float)", "tensor(double)"]
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("c",)]
    first, second, third = _cells(model)
    assert first is second is third


def test_nodes_that_differ_in_more_than_graphs_share_none():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "x", "x").attribute.add(name="number", type=2, i=1)
    _add_if(graph, "c", "x", "x").output.append("d")
    _add_if(graph, "e", "x", "x").attribute[1].name = "branch"
    _add_if(graph, "f", "x", "x").domain = "com.example"
    _add_if(graph, "g", "x", "x").attribute[1].type = 4
    cells = _cells(_load(proto))
    assert len(set(map(id, cells))) == len(cells)
