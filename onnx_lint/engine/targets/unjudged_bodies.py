# SPDX-License-Identifier: Apache-2.0
"""The nodes of If, Loop and Scan whose conversion may fail for what is in their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.engine.targets.node_to_convert import NodeToConvert
from onnx_lint.model import Graph, Model, Node
from onnx_lint.spec.releases import normalized_domain


def branches_may_fail(node: NodeToConvert) -> bool:
    """Return whether the condition of an If may have dimensions, or a branch returns what no node of it computes."""
    condition = node.shape(0)
    return condition is None or len(condition) > 1 or not _return_what_they_compute(_bodies(node.node))


def loop_may_fail(node: NodeToConvert) -> bool:
    """Return whether a state of a Loop may change its shape, or its body may fail.

    The body may fail if it returns what no node of it computes, or if it reads a condition that it only passes on.
    """
    bodies = _bodies(node.node)
    if not _return_what_they_compute(bodies) or any(_reads_passed_condition(node.model, body) for body in bodies):
        return True
    return any(_state_may_change_shape(node, body) for body in bodies)


def _state_may_change_shape(node: NodeToConvert, body: Graph) -> bool:
    """Return whether the body of a Loop may return a state with another shape than the node passes."""
    for name, output in zip(node.node.inputs[2:], body.output_names[1:], strict=False):
        before, after = node.model.shape_of(name, node.node.graph), node.model.shape_of(output, body)
        if before is None or after is None or [*before] != [*after]:
            return True
    return False


def scan_may_fail(node: NodeToConvert) -> bool:
    """Return whether the body of a Scan reads outer values or has another Scan, or has the form of operator set 8."""
    own = {*_bodies(node.node)}
    names = {name for body in own for inputs in body.node_inputs for name in inputs if name}
    found = [body.definition_of(name) for body in own for name in names]
    if node.version < _WITHOUT_BATCH or any(each is None or each.graph not in own for each in found):
        return True
    nodes = [each for body in own for each in body.nodes if _is(each, "Scan")]
    return any(map(node.model.uses.is_needed, nodes))


_WITHOUT_BATCH: Final = 9
"""The first version of Scan without a dimension for the batch."""


def _bodies(node: Node) -> Sequence[Graph]:
    return node.graph.nested_by_node.get(node.index, [])


def _is(node: Node, name: str) -> bool:
    """Return whether a node has the operator of this name in the default domain."""
    return node.op_type == name and not normalized_domain(node.domain)


def _return_what_they_compute(bodies: Sequence[Graph]) -> bool:
    """Return whether a node of a body computes each of its outputs. Dropout does not: its conversion removes it."""
    returned = [(graph, graph.definition_of(name)) for graph in bodies for name in graph.output_names]
    return all(
        each is not None and each.graph is graph and each.node is not None and each.node.op_type != "Dropout"
        for graph, each in returned
    )


def _reads_passed_condition(model: Model, body: Graph) -> bool:
    """Return whether one Identity makes the condition of a Loop's body its first output, and anything else reads it.

    OpenVINO deletes the input of the body then. It does not with two Identities, or with any other operator.
    """
    if len(body.input_names) < 2 or not body.output_names:
        return False
    condition, output = body.input_names[1], body.output_names[0]
    found = body.definition_of(output)
    passing = found.node if found is not None else None
    if passing is None or not _is(passing, "Identity") or passing.inputs != (condition,):
        return False
    if output in body.output_names[1:]:
        return True
    readers = _readers(body, {condition, output})
    return any(node != passing and model.uses.is_needed(node) for node in readers)


def _readers(body: Graph, names: set[str]) -> Iterator[Node]:
    """Yield the nodes of a body, and of the graphs nested in it, that read one of these values of the body."""
    pending = [body]
    while pending:
        graph = pending.pop()
        pending += graph.nested
        found = ((name, graph.definition_of(name)) for name in names)
        seen = {name for name, each in found if each is not None and each.graph is body}
        yield from (node for node in graph.nodes if not seen.isdisjoint(node.inputs))
