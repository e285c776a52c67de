# SPDX-License-Identifier: Apache-2.0
"""What calls of functions have brought so far, so that a body is walked once for what its types depend on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.graph import Function, Graph
from onnx_lint.model.types.argument import Arguments
from onnx_lint.model.types.type_string import ValueType
from onnx_lint.model.types.typed_operator import Inputs, TypedOperator

Outputs = tuple[ValueType | None, ...]

REPEATED_NODES: Final = 50_000
"""How many nodes of function bodies are visited for further tuples of argument types, when each body has been visited
once. Whoever writes a model that has more distinct calls than that gets unknown types for the rest of them."""

FEW: Final = 20
"""So many operands, parameters or declared values count as one node more; most nodes have two or three."""


class CallMemory:
    """The outputs of calls by the types of their arguments and the attributes that types depend on."""

    def __init__(self, operator_of: Callable[[Graph, NodeForm], TypedOperator | None]) -> None:
        self._operator_of = operator_of
        self._outputs: dict[tuple[int, Inputs, Arguments], Outputs] = {}
        self._deciding: dict[int, frozenset[str]] = {}
        self._entered: set[int] = set()
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()
        self._budget = REPEATED_NODES

    def outputs(self, function: Function, inputs: Inputs, arguments: Arguments) -> Outputs | None:
        """What a call with these types brought; None if there was none yet."""
        return self._outputs.get((function.index, inputs, arguments))

    def remember(self, function: Function, inputs: Inputs, arguments: Arguments, outputs: Outputs) -> None:
        """Keep what a call brought."""
        self._outputs[function.index, inputs, arguments] = outputs

    def was_entered(self, function: Function) -> bool:
        """Whether the body has been walked."""
        return function.index in self._entered

    def may_enter(self, function: Function) -> bool:
        """Whether the body may be walked: not inside of itself, and not too often; the first time is free."""
        if function.index in self._open:
            return False
        if function.index not in self._entered:
            self._entered.add(function.index)
            return True
        self._budget -= 1 + self._size(function)
        return self._budget >= 0

    def _size(self, function: Function) -> int:
        """How much a walk takes, in nodes: lists of hundreds of operands or parameters cost as much as a node does."""
        if function.index not in self._sizes:
            parameters = len(function.body.input_names) + len(function.attribute_names)
            parameters += len(function.attribute_defaults)
            self._sizes[function.index] = parameters // FEW + _size(function.body)
        return self._sizes[function.index]

    def enter(self, function: Function) -> None:
        """Note that the body is being walked."""
        self._open.add(function.index)

    def leave(self, function: Function) -> None:
        """Note that it is no longer."""
        self._open.discard(function.index)

    def deciding(self, function: Function) -> frozenset[str]:
        """The attribute parameters of a function that types in its body, or in bodies that it calls, may depend on."""
        if function.index not in self._deciding:
            self._deciding[function.index] = frozenset(self._references(function.body))
        return self._deciding[function.index]

    def _references(self, graph: Graph) -> list[str]:
        found: list[str] = []
        for form in graph.form_counts:
            references = [(proto.name, proto.ref_attr_name) for proto in form.attributes if proto.ref_attr_name]
            if references:
                operator = self._operator_of(graph, form)
                found += [name for own, name in references if operator is None or own in operator.attributes]
        for nested in graph.nested:
            found += self._references(nested)
        return found


def _size(graph: Graph) -> int:
    operands = sum(map(len, graph.node_inputs)) + sum(map(len, graph.node_outputs))
    declared = len(graph.output_names)
    if not graph.is_function:
        declared += len(graph.input_names) + len(graph.initializer_names) + len(graph.sparse_initializer_names)
        declared += len(graph.value_info_names) + 1
    return len(graph.forms) + (operands + declared) // FEW + sum(map(_size, graph.nested))
