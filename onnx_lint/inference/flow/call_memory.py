# SPDX-License-Identifier: Apache-2.0
"""The results of function calls so far, so that a body is walked once for everything that its values depend on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onnx_lint.inference.shapes.fact import Fact, Facts, fact
from onnx_lint.inference.types.argument import Arguments
from onnx_lint.inference.types.typed_operator import TypedOperator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph

REPEATED_NODES: Final = 50_000
"""The budget, in nodes of function bodies, for walks with further tuples of argument types, after the first walk over
each body; and once more for walks with further shapes. In a model with more distinct calls, the rest of them have
unknown types, or unknown shapes."""

FEW: Final = 20
"""The number of operands, parameters or declared values that counts as one more node; most nodes have two or three."""

CallAttributes = tuple[tuple[str, bytes | int | None], ...]
"""The serialized attributes of a call, None for an unknown one, the number of a graph: what shapes may depend on."""


class CallMemory:
    """The outputs of calls, by the facts of their arguments and the attributes that types and shapes depend on."""

    def __init__(self, operator_of: Callable[[Graph, NodeForm], TypedOperator | None]) -> None:
        self._operator_of = operator_of
        self._outputs: dict[tuple[int, Facts, CallAttributes], Facts] = {}
        self._typed: dict[tuple[int, Facts, Arguments], Facts] = {}
        """The types of the outputs, by the types of the arguments."""
        self._deciding: dict[int, frozenset[str]] = {}
        self._entered: set[int] = set()
        self._sizes: dict[int, int] = {}
        self._open: dict[int, None] = {}
        """The functions that are being walked, from the outermost one on."""
        self._run: set[int] = set()
        self._type_budget = self._shape_budget = REPEATED_NODES

    def outputs(self, function: Function, inputs: Facts, given: CallAttributes) -> Facts | None:
        """Return the outputs of a call with these arguments; None if there was none yet."""
        return self._outputs.get((function.index, inputs, given))

    def typed_outputs(self, function: Function, inputs: Facts, arguments: Arguments) -> Facts | None:
        """Return the output types of a call with arguments of these types; None if there was none yet."""
        return self._typed.get((function.index, types_only(inputs), arguments))

    def remember(
        self, function: Function, inputs: Facts, given: CallAttributes, arguments: Arguments, outputs: Facts
    ) -> None:
        """Store the outputs of a call."""
        self._outputs[function.index, inputs, given] = outputs
        self._typed.setdefault((function.index, types_only(inputs), arguments), types_only(outputs))

    def was_entered(self, function: Function) -> bool:
        """Return whether the body has been walked."""
        return function.index in self._entered

    def may_enter(self, function: Function, *, for_types: bool) -> bool:
        """Return whether the body may be walked: not inside of itself, and within the budget. The first walk is free.

        `for_types`: whether it has not been walked yet for arguments of these types.
        """
        if function.index in self._open:
            return False
        if function.index not in self._entered:
            self._entered.add(function.index)
            return True
        size = 1 + self._size(function)
        if for_types:
            self._type_budget -= size
            return self._type_budget >= 0
        self._shape_budget -= size
        return self._shape_budget >= 0

    def may_run(self, graph: Graph) -> bool:
        """Return whether a graph that a call hands over may be walked, within the budget for types."""
        if id(graph) not in self._run:
            self._run.add(id(graph))
            return True
        self._type_budget -= 1 + _size(graph)
        return self._type_budget >= 0

    def _size(self, function: Function) -> int:
        """Return the cost of a walk in nodes: hundreds of operands or parameters cost as much as further nodes."""
        if function.index not in self._sizes:
            parameters = len(function.body.input_names) + len(function.attribute_names)
            parameters += len(function.attribute_defaults)
            self._sizes[function.index] = parameters // FEW + _size(function.body)
        return self._sizes[function.index]

    @property
    def depth(self) -> int:
        """The number of functions that are being walked."""
        return len(self._open)

    def enter(self, *functions: int) -> None:
        """Record that walks over these bodies begin."""
        self._open.update(dict.fromkeys(functions))

    def leave(self, function: Function) -> None:
        """Record that the walk over a body has ended."""
        self._open.pop(function.index, None)

    def leave_after(self, depth: int) -> list[int]:
        """Record that only the first walks go on; return the functions of the others, to enter them again."""
        later = list(self._open)[depth:]
        for index in later:
            del self._open[index]
        return later

    def deciding(self, function: Function) -> frozenset[str]:
        """Return the attribute parameters that types in the body, or in bodies that it calls, may depend on."""
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


def types_only(facts: Facts) -> Facts:
    """Return the facts reduced to their types."""
    return tuple(map(_type_only, facts))


def _type_only(each: Fact) -> Fact:
    return each if each.shape is None and each.content is None and each.inside is None else fact(each.kind)


def _size(graph: Graph) -> int:
    operands = sum(map(len, graph.node_inputs)) + sum(map(len, graph.node_outputs))
    declared = len(graph.output_names) + len(graph.value_info_names)
    if not graph.is_function:
        declared += len(graph.input_names) + len(graph.initializer_names) + len(graph.sparse_initializer_names) + 1
    return len(graph.forms) + (operands + declared) // FEW + sum(map(_size, graph.nested))
