# SPDX-License-Identifier: Apache-2.0
"""Proposes an unread value of the right type for an input whose type is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.joining import shapes_contradict
from onnx_lint.inference.flow.repairs.casts import wanted_types
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.types.problem import Differing
from onnx_lint.ir.graph import BEFORE_NODES, Node
from onnx_lint.ir.names.meant_values import MAX_UNUSED, is_weight
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.ir.operators.proposals import Proposal, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.value_flow import ValueFlow


class UnreadValues(Record):
    """The values that no node reads and that have the type which an input of a node needs."""

    proposals: tuple[Proposal, ...] = ()
    """The proposal to read the only such value in place of the input."""
    are_undecided: bool = False
    """True if there are such values, but nothing decides whether one is meant, or which one."""


class _UnreadValue(Record):
    """An unread value that a node may have been meant to read, and the index of the input in whose place."""

    node: Node
    index: int
    name: str

    @property
    def replaced(self) -> str:
        """The name of the value that the node reads."""
        return self.node.inputs[self.index]


def unread_values_for(conflict: OperandConflict, flow: ValueFlow, uses: ValueUses) -> UnreadValues:
    """Return the proposal to read the only unread value that fits an input of a wrong type; none for a constant."""
    found = list(_candidates(conflict, flow, uses))
    # Of several candidates, nothing says which one is meant.
    if len(found) == 1 and _is_useless(found[0]):
        return UnreadValues((_proposal_to_read(found[0]),))
    return UnreadValues(are_undecided=bool(found))


def _candidates(conflict: OperandConflict, flow: ValueFlow, uses: ValueUses) -> Iterator[_UnreadValue]:
    """Yield the unread values of a type, and of a shape, that an input of the node needs."""
    node = conflict.node
    for index, kinds in wanted_types(conflict).items():
        if not kinds or is_weight(node.inputs[index], node.graph):
            continue
        # If several types fit, or either input may be the wrong one, an output of the graph fits by chance.
        is_ambiguous = len(kinds) > 1 or isinstance(conflict.problem, Differing)
        for name in _unread_before(node, uses, is_output_read=is_ambiguous):
            candidate = _UnreadValue(node, index, name)
            if flow.fact_of(name, node.graph).kind in kinds and _may_have_its_shape(candidate, flow):
                yield candidate


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


def _may_have_its_shape(candidate: _UnreadValue, flow: ValueFlow) -> bool:
    """Return whether the candidate may have the shape of the value that it replaces.

    Another output of the node that defines that value may have any shape.
    """
    graph = candidate.node.graph
    position = graph.positions[candidate.name]
    if position != BEFORE_NODES and position == graph.positions.get(candidate.replaced):
        return True
    replaced, shape = (flow.fact_of(name, graph).shape for name in (candidate.replaced, candidate.name))
    return not shapes_contradict(replaced, shape)


def _is_useless(candidate: _UnreadValue) -> bool:
    """Return whether the candidate is of no use at all, or an output of the node that defines the wrong value.

    A further output of another node, such as the mask of Dropout, is unread in most models.
    """
    graph = candidate.node.graph
    position = graph.positions[candidate.name]
    if candidate.name in graph.output_names:
        return False
    if position == BEFORE_NODES or position == graph.positions.get(candidate.replaced):
        return True
    return len([each for each in graph.node_outputs[position] if each]) == 1


def _proposal_to_read(candidate: _UnreadValue) -> Proposal:
    node, index, name = candidate.node, candidate.index, candidate.name
    definition = node.graph.definition_of(name)
    assert definition is not None
    text = f"{quote(name)} in place of input {index} {quote(candidate.replaced)}"
    note = definition.place, f"{quote(name)} is {definition.describe()}, which nothing uses"
    change = ready(text, Assign(node.place.at("input", index), name))
    return replace(change, note=note, must_add_no_finding=True)
