# SPDX-License-Identifier: Apache-2.0
"""The control-flow operators of the default domain and how many inputs they supply to their subgraphs."""

from __future__ import annotations

from onnx_lint.model.graph import Graph, Node
from onnx_lint.model.model import Model
from onnx_lint.spec.releases import DEFAULT_DOMAIN, normalized_domain

CONTROL_FLOW_OPERATORS = frozenset({"If", "Loop", "Scan", "SequenceMap"})

LAST_IR_VERSION_WITH_DEFAULTS = 3
"""Up to here further inputs may follow those that the operator supplies, each with an initializer."""


def control_flow_node(model: Model, graph: Graph) -> Node | None:
    """The control-flow node in whose attribute the nested graph stands; None where another node or none holds it.

    A node that calls a function of the model is none, whatever it is called.
    """
    if graph.parent is None or graph.position >= len(graph.parent.forms):
        return None
    node = graph.parent.nodes[graph.position]
    if node.op_type not in CONTROL_FLOW_OPERATORS or normalized_domain(node.domain) != DEFAULT_DOMAIN:
        return None
    return None if model.calls.namesakes(node) else node


def supplied_inputs(model: Model, node: Node) -> int | None:
    """How many inputs a control-flow node supplies to the graphs in its attributes; None where that cannot be told.

    If none; Loop the iteration number, the condition, and each loop-carried value; Scan and SequenceMap one for each
    input of the node, of which Scan's first is no such input in operator set 8 (it gives the lengths of the sequences).
    """
    count = len(node.inputs)
    if node.op_type == "If":
        return 0
    if node.op_type == "Loop":
        return count if count >= 2 else None
    if node.op_type == "SequenceMap":
        return count
    version = _default_opset_version(model, node)
    return None if version is None else count - (version == 8)


def awaited_inputs(model: Model, graph: Graph, supplied: int) -> list[str]:
    """The inputs of a subgraph that its operator has to supply, `supplied` of them if the subgraph fits."""
    names = graph.input_names
    if model.effective_ir_version > LAST_IR_VERSION_WITH_DEFAULTS:
        return names
    initializers = {*graph.initializer_names, *graph.sparse_initializer_names}
    return names[:supplied] + [name for name in names[supplied:] if name not in initializers]


def handed_on_outputs(node: Node) -> int:
    """How many outputs each subgraph of a control-flow node has to have: the body of Loop one more, the condition."""
    return len(node.outputs) + (node.op_type == "Loop")


def _default_opset_version(model: Model, node: Node) -> int | None:
    """The version of the default domain that the model, or the function around the node, imports: the highest."""
    function = node.graph.function
    imports = (model.proto if function is None else function.proto).opset_import
    versions = [entry.version for entry in imports if normalized_domain(entry.domain) == DEFAULT_DOMAIN]
    return max(versions, default=None)
