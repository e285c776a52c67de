# SPDX-License-Identifier: Apache-2.0
"""The control-flow operators of the default domain and how many inputs they supply to their subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.ir.operators.imports import Imports
from onnx_lint.schema import Proto
from onnx_lint.spec.releases import DEFAULT_DOMAIN, normalized_domain

CONTROL_FLOW_OPERATORS = frozenset({"If", "Loop", "Scan", "SequenceMap"})

LAST_IR_VERSION_WITH_DEFAULTS = 3
"""Up to this IR version, a subgraph may have further inputs with initializers as defaults."""

_SCAN_WITH_LENGTHS: Final = 8
"""The operator set in which the first input of Scan has the lengths of the sequences."""


class ControlFlow(Record):
    """The control-flow nodes of a model."""

    calls: Calls
    imports: Imports
    ir_version: int

    def node_of(self, graph: Graph) -> Node | None:
        """Return the control-flow node whose attribute holds the nested graph; None if there is none.

        A node that calls a function of the model is not a control-flow node, even with the op_type of one.
        """
        if graph.parent is None or graph.position >= len(graph.parent.forms):
            return None
        is_one = self.is_control_flow(graph.parent.forms[graph.position])
        return graph.parent.nodes[graph.position] if is_one else None

    def is_control_flow(self, form: NodeForm) -> bool:
        """Return whether nodes of a form are control-flow nodes."""
        if form.op_type not in CONTROL_FLOW_OPERATORS:
            return False
        if form.domain and normalized_domain(form.domain) != DEFAULT_DOMAIN:
            return False
        return not (form.op_type in self.calls.names and self.calls.namesakes(form))

    def supplied_inputs(self, node: Node) -> int | None:
        """Return how many inputs a control-flow node supplies to the graphs in its attributes; None if that is unknown.

        - `If`: none.
        - `Loop`: the iteration number, the condition, and each loop-carried value.
        - `Scan`, `SequenceMap`: one for each input of the node. In operator set 8, the first input of `Scan`, the
          lengths of the sequences, is not one of them.
        """
        count = len(node.inputs)
        match node.op_type:
            case "If":
                return 0
            case "Loop":
                return count if count >= 2 else None
            case "Scan":
                version = self.imports.versions(node.graph.function).get(DEFAULT_DOMAIN)
                if version is None:
                    return None
                return count - 1 if version == _SCAN_WITH_LENGTHS else count
            case _:
                return count

    def required_subgraph_inputs(self, graph: Graph, supplied: int) -> list[str]:
        """Return the inputs that the operator must supply. The subgraph is valid if there are exactly `supplied`.

        These are the first `supplied` inputs, and those after them that have no default.
        """
        names = graph.input_names
        if self.ir_version > LAST_IR_VERSION_WITH_DEFAULTS:
            return names
        initializers = {*graph.initializer_names, *graph.sparse_initializer_names}
        return names[:supplied] + [name for name in names[supplied:] if name not in initializers]


def attribute_name(protos: Sequence[Proto], graph: Graph) -> str:
    """Return the name of the attribute in `protos` that holds a graph; empty if it is in a list of graphs."""
    attribute = graph.place.parent
    if attribute is None or attribute.index is None or graph.place.field != "g":
        return ""
    return str(protos[attribute.index].name)


def subgraph_output_count(node: Node) -> int:
    """Return how many outputs each subgraph of a control-flow node must have; the body of a Loop has one more."""
    count = len(node.outputs)
    return count + 1 if node.op_type == "Loop" else count
