# SPDX-License-Identifier: Apache-2.0
"""The graphs that control-flow nodes run."""

from __future__ import annotations

from support.models.model_samples import from_text

from onnx_lint.model.subgraphs import control_flow_graphs

BRANCHES = """
  attribute { name: "then_branch" type: GRAPH g { name: "then" output { name: "a" } } }
  attribute { name: "else_branch" type: GRAPH g { name: "else" output { name: "b" } } }
"""
OF_OWN_OPERATOR = 'node { op_type: "Call" domain: "own" attribute { name: "body" type: GRAPH g { name: "body" } } }'
CALLED = """
functions {
  name: "f" domain: "d" input: "c" output: "y" attribute: "graph" opset_import { version: 21 }
  node { op_type: "If" input: "c" output: "y"
    attribute { name: "then_branch" type: GRAPH ref_attr_name: "graph" }
    attribute { name: "else_branch" type: GRAPH ref_attr_name: "graph" } }
}
"""
CALL = 'node { op_type: "f" domain: "d" attribute { name: "graph" type: GRAPH g { name: "given" } } }'


IMPORTS = """
opset_import { version: 21 } opset_import { domain: "own" version: 1 } opset_import { domain: "d" version: 1 }
"""


def _found(graph: str, functions: str = "") -> list[tuple[str, str, str]]:
    model = from_text(f"{IMPORTS} {functions} graph {{ {graph} }}")
    return [(name, graph.name, node.op_type) for name, graph, node in control_flow_graphs(model)]


def test_only_the_graphs_of_control_flow_are_found():
    node = f'node {{ op_type: "If" input: "c" output: "y" {BRANCHES} }}'
    assert _found(node + OF_OWN_OPERATOR) == [("then_branch", "then", "If"), ("else_branch", "else", "If")]


def test_a_graph_that_a_call_gives_to_a_node_of_a_function_is_found():
    assert _found(CALL, CALLED) == [("then_branch", "given", "If"), ("else_branch", "given", "If")]
    assert _found("", CALLED) == []
