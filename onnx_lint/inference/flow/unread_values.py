# SPDX-License-Identifier: Apache-2.0
"""Finds the value that a node was meant to read in place of one of a wrong type: one that nothing else reads."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.joining import joined_shapes
from onnx_lint.inference.flow.repairs.casts import wanted_types
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.types.problem import Differing
from onnx_lint.ir.graph import BEFORE_NODES, Graph, Node
from onnx_lint.ir.names.meant_values import MAX_UNUSED, is_weight
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.ir.operators.proposals import Proposal, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.value_flow import ValueFlow

MAX_POSSIBLE: Final = 1
"""The most values that one node may be meant to read. If there are more, nothing says which one is meant."""


class UnreadValues(Record):
    """The values that no node reads and that have the type which an input of a node needs."""

    proposals: tuple[Proposal, ...] = ()
    """The one that the node may be meant to read, in place of an input."""
    are_undecided: bool = False
    """True if one may be meant, but it cannot be decided which one, or whether."""


def unread_values_for(conflict: OperandConflict, flow: ValueFlow, uses: ValueUses) -> UnreadValues:
    """Return the values that may be meant by an input of a wrong type. None is meant in place of a constant."""
    node = conflict.node
    found = [
        (index, name)
        for index, kinds in wanted_types(conflict).items()
        if kinds and not is_weight(node.inputs[index], node.graph)
        for name in _unread_before(node, uses, is_output_read=len(kinds) > 1 or isinstance(conflict.problem, Differing))
        if flow.fact_of(name, node.graph).kind in kinds and _has_shape_of(node.inputs[index], name, node.graph, flow)
    ]
    if len(found) == MAX_POSSIBLE:
        ((index, name),) = found
        if _is_unused(name, node, index):
            return UnreadValues((_in_place_of(node, index, name),))
    return UnreadValues(are_undecided=bool(found))


def _unread_before(node: Node, uses: ValueUses, *, is_output_read: bool) -> list[str]:
    """Return the values of its graph that no node reads and that are defined before a node; none if they are many.

    Weights are not among them. `is_output_read`: whether an output of the graph counts as read.
    """
    graph = node.graph
    read = set(chain.from_iterable(graph.node_inputs)).union(*map(uses.used_in, graph.nested))
    if is_output_read:
        read.update(graph.output_names)
    unread = [each for each, position in graph.positions.items() if position < node.index and each not in read]
    if len(unread) > MAX_UNUSED:
        return []
    return [each for each in unread if each and not is_weight(each, graph)]


def _has_shape_of(name: str, other: str, graph: Graph, flow: ValueFlow) -> bool:
    """Return whether another value may have the shape of a value. Another output of its node has its own shape."""
    positions = graph.positions
    is_sibling = positions.get(name, BEFORE_NODES) == positions[other] != BEFORE_NODES
    return is_sibling or not joined_shapes(flow.fact_of(name, graph).shape, flow.fact_of(other, graph).shape)[1]


def _is_unused(name: str, node: Node, index: int) -> bool:
    """Return whether a value is of no use at all, or an output of the node that makes the wrong one.

    A further output of another node, such as the mask of Dropout, is unread in most models.
    """
    graph = node.graph
    position = graph.positions[name]
    if name in graph.output_names:
        return False
    if position == BEFORE_NODES or position == graph.positions.get(node.inputs[index]):
        return True
    return len([each for each in graph.node_outputs[position] if each]) == 1


def _in_place_of(node: Node, index: int, name: str) -> Proposal:
    definition = node.graph.definition_of(name)
    assert definition is not None
    text = f"{quote(name)} in place of input {index} {quote(node.inputs[index])}"
    note = definition.place, f"{quote(name)} is {definition.describe()}, which nothing uses"
    change = ready(text, Assign(node.place.at("input", index), name))
    return replace(change, note=note, must_add_no_finding=True)
