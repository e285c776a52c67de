# SPDX-License-Identifier: Apache-2.0
"""Decides how many walks over function bodies are made, by what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

from onnx_lint.inference.types.argument import Protos
from onnx_lint.ir.graph import Function, Graph

REPEATED_WALK_BUDGET: Final = 50_000
"""The budget for repeated walks, in nodes. The first walk over each body is free.

There are two budgets of this size. One pays for walks with new argument types and for repeated walks over passed
graphs, the other for walks with new argument shapes. After a budget is used up, further calls get the output types of
an earlier call with the same input types, or unknown outputs.
"""

BudgetKind = Literal["types", "shapes"]
"""Which budget pays for a walk."""

_OPERANDS_PER_NODE: Final = 20
"""The number of operands, parameters or declared values that counts as one more node; most nodes have two or three."""

_ATTRIBUTE_ELEMENTS_PER_NODE: Final = 200
"""The elements and characters of a call's attributes, which each walk reads anew, that count as one more node."""

_TYPE_BYTES_PER_DECLARATION: Final = 50
"""The bytes of a declared type, or the dimensions of initializers, that count as one more declared value. Most types
have fewer bytes."""


class WalkBudget:
    """Decides whether a walk may be made. The first one over each body, and over each graph of a call, is free."""

    def __init__(self) -> None:
        self._left_for_types = self._left_for_shapes = REPEATED_WALK_BUDGET
        self._charged_functions: set[int] = set()
        """The functions that have been walked, by index."""
        self._charged_graphs: set[int] = set()
        """The identities of the graphs of calls that have been walked."""
        self._costs: dict[int, int] = {}
        """The costs of walks over functions, by index."""

    def is_charged(self, function: Function) -> bool:
        """Return whether a walk over the body has been charged."""
        return function.index in self._charged_functions

    def mark_walked(self, function: Function) -> None:
        """Record a walk over a body, if it is the first: further walks are not free."""
        self._charged_functions.add(function.index)

    def try_charge_body(self, function: Function, bound: Protos, budget: BudgetKind) -> bool:
        """Charge a walk over a body; return False if it must not be made.

        `bound`: the call's attributes. `budget`: which budget pays if this is not the first walk over the body.
        """
        if function.index not in self._charged_functions:
            self.mark_walked(function)
            return True
        cost = 1 + self._function_cost(function) + _attribute_cost(filter(None, bound.values()))
        if budget == "types":
            return self._charge_for_types(cost)
        self._left_for_shapes -= cost
        return self._left_for_shapes >= 0

    def try_charge_graph(self, graph: Graph) -> bool:
        """Charge a walk over a graph that a call passes; return False if it must not be made."""
        if id(graph) not in self._charged_graphs:
            self._charged_graphs.add(id(graph))
            return True
        return self._charge_for_types(1 + _graph_cost(graph))

    def _charge_for_types(self, cost: int) -> bool:
        self._left_for_types -= cost
        return self._left_for_types >= 0

    def _function_cost(self, function: Function) -> int:
        """Return the cost of a walk in nodes: hundreds of operands or parameters cost as much as further nodes."""
        if function.index not in self._costs:
            parameters = len(function.body.input_names) + len(function.attribute_names)
            parameters += len(function.attribute_defaults) + len(function.body.proto.opset_import)
            attributes = _attribute_cost(function.attribute_defaults)
            self._costs[function.index] = parameters // _OPERANDS_PER_NODE + attributes + _graph_cost(function.body)
        return self._costs[function.index]


def _graph_cost(graph: Graph) -> int:
    """Return the cost of a walk over a graph in nodes, with those of nested graphs, operands and declarations."""
    operands = sum(map(len, graph.node_inputs)) + sum(map(len, graph.node_outputs))
    declared = len(graph.output_names) + len(graph.value_info_names)
    type_bytes = sum(len(each) for columns in graph.value_infos.values() for each in columns.types)
    declared += type_bytes // _TYPE_BYTES_PER_DECLARATION
    if not graph.is_function:
        declared += sum(map(len, graph.initializers.shapes)) // _TYPE_BYTES_PER_DECLARATION
        declared += len(graph.input_names) + len(graph.initializer_names) + len(graph.sparse_initializer_names) + 1
    return len(graph.forms) + (operands + declared) // _OPERANDS_PER_NODE + sum(map(_graph_cost, graph.nested))


def _attribute_cost(attributes: Iterable[Any]) -> int:
    """Return the cost of reading attributes, in nodes."""
    elements = sum(len(each.ints) + len(each.floats) + len(each.strings) + len(each.s) for each in attributes)
    return elements // _ATTRIBUTE_ELEMENTS_PER_NODE
