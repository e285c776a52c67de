# SPDX-License-Identifier: Apache-2.0
"""The graphs that control-flow nodes run, for rules that check subgraphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnx_lint.ir.operators.control_flow import attribute_name

if TYPE_CHECKING:
    from onnx_lint.ir.graph import Graph, Node
    from onnx_lint.model.model import Model


def control_flow_graphs(model: Model) -> Iterator[tuple[str, Graph, Node]]:
    """Yield each graph that a control-flow node runs: the attribute of the node, the graph and the node.

    A node of a function may run a graph that a call gives to the function, or the default of a parameter.
    """
    for graph in model.nested_graphs:
        node = model.control_flow.node_of(graph)
        if node is not None:
            yield attribute_name(node.attribute_protos, graph), graph, node
    if model.bound_nodes:
        from onnx_lint.ir.operators.bound_nodes import graphs_given

        given = graphs_given(model.bound_nodes)
        for attribute, graph, node in given:
            if model.control_flow.is_control_flow(node.form):
                yield attribute, graph, node
