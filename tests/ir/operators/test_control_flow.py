# SPDX-License-Identifier: Apache-2.0
"""The inputs that control-flow nodes supply to the graphs in their attributes."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text

from onnx_lint.ir.operators.control_flow import subgraph_output_count
from onnx_lint.model import Model


def _model(node: str, version: int = 21, more: str = "") -> Model:
    body = 'attribute { name: "body" type: GRAPH g { name: "b" input { name: "i" } input { name: "j" } %s } }'
    initializer = 'initializer { name: "j" data_type: 1 float_data: 1 }'
    return from_text(f"opset_import {{ version: {version} }} graph {{ node {{ {node} {body % initializer} }} }} {more}")


@pytest.mark.parametrize(
    ("node", "version", "supplied", "outputs"),
    [
        ('op_type: "If" input: "c" output: "y"', 21, 0, 1),
        ('op_type: "Loop" input: "m" input: "c" input: "x" output: "y"', 21, 3, 2),
        ('op_type: "Loop" input: "m" output: "y"', 21, None, 2),
        ('op_type: "Scan" input: "" input: "x" output: "y"', 8, 1, 1),
        ('op_type: "Scan" input: "x" input: "z" output: "y"', 9, 2, 1),
        ('op_type: "SequenceMap" input: "s" input: "t" output: "y"', 21, 2, 1),
    ],
)
def test_how_many_inputs_are_supplied(node: str, version: int, supplied: int | None, outputs: int):
    model = _model(node, version)
    found = model.control_flow.node_of(model.nested_graphs[0])
    assert found is model.main_graph.nodes[0] or found is not None
    assert model.control_flow.supplied_inputs(found) == supplied
    assert subgraph_output_count(found) == outputs


def test_a_graph_in_another_node_has_no_control_flow_node():
    for node in ('op_type: "Blur"', 'op_type: "If" domain: "com.example"'):
        model = _model(node)
        assert model.control_flow.node_of(model.nested_graphs[0]) is None
    assert model.control_flow.node_of(model.main_graph) is None


def test_a_function_of_the_name_of_an_operator_is_called():
    function = 'functions { name: "If" domain: "" opset_import { version: 21 } }'
    model = _model('op_type: "If" input: "c" output: "y"', more=function)
    assert model.control_flow.node_of(model.nested_graphs[0]) is None


def test_an_input_with_an_initializer_is_awaited_from_ir_version_4_on():
    model = _model('op_type: "Loop" input: "m" input: "c" output: "y"')
    assert model.control_flow.required_subgraph_inputs(model.nested_graphs[0], 1) == ["i", "j"]
    older = type(model.control_flow)(model.calls, model.imports, 3)
    assert older.required_subgraph_inputs(model.nested_graphs[0], 1) == ["i"]
    assert older.required_subgraph_inputs(model.nested_graphs[0], 2) == ["i", "j"]
