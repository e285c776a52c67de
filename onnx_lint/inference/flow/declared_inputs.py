# SPDX-License-Identifier: Apache-2.0
"""Other declared types of the inputs of a model with which the types of a node may fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.types.problem import Differing
from onnx_lint.inference.types.type_string import FLOATS, TENSORS, ValueType
from onnx_lint.ir.graph import Definition, GraphKind, Node
from onnx_lint.ir.operators.proposals import Proposal, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.value_flow import ValueFlow

MAX_STEPS: Final = 16
"""The most nodes between an input of the model and the node with the conflict."""


def other_inputs(conflict: OperandConflict, flow: ValueFlow) -> Iterator[Proposal]:
    """Yield the declaration of an input of the model as the floating-point type of the other operand.

    It is a fallback. A model of which one input alone is converted has such a conflict at each reader of that input.
    """
    problem, kinds = conflict.problem, conflict.inputs
    if not isinstance(problem, Differing):
        return
    for index, wanted in ((problem.index, kinds[problem.other]), (problem.other, kinds[problem.index])):
        kind = kinds[index]
        source = _source(conflict.node, conflict.node.inputs[index], kind, flow)
        if source is None or kind not in FLOATS or wanted not in FLOATS or wanted is None:
            continue
        name = source.graph.input_names[source.index]
        place = source.place.at("type").at("tensor_type").at("elem_type")
        text = f"input {quote(name)} of the graph declared as {wanted}"
        change = ready(text, Assign(place, TENSORS.index(wanted)))
        yield replace(change, is_fallback=True, must_add_no_finding=True)


def _source(node: Node, name: str, kind: ValueType | None, flow: ValueFlow) -> Definition | None:
    """Return the input of the main graph that a value follows from through nodes that keep its type; None without."""
    graph = node.graph
    for _ in range(MAX_STEPS):
        definition = graph.definition_of(name)
        if definition is None or definition.graph.kind is not GraphKind.MAIN:
            return None
        if definition.node is None:
            has_default = name in definition.graph.initializer_names
            return definition if definition.field == "input" and not has_default else None
        graph, before = definition.graph, definition.node.inputs[:1]
        if not before or flow.fact_of(before[0], graph).kind != kind:
            return None
        (name,) = before
    return None
