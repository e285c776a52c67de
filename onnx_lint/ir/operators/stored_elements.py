# SPDX-License-Identifier: Apache-2.0
"""Finds what gives a value its elements: tensors, or the nodes that compute it, also through calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Definition, Graph, Node
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.spec.releases import normalized_domain

MAX_STEPS: Final = 1_000
"""The limit on the values that are looked at for one input: functions can call each other in very many ways."""


class _SourceValue(Record):
    """A value on the way back from an input to the tensors."""

    graph: Graph
    name: str
    calls: tuple[Node, ...]
    """The calls into whose functions the way leads, the innermost last."""
    element_types: frozenset[int]
    """The element types to which nodes on the way cast."""


class StoredElements:
    """The tensors that give values their elements without a computation."""

    def __init__(self, calls: Calls, main_graph: Graph) -> None:
        self._calls = calls
        self._main_graph = main_graph

    def tensors_of(self, graph: Graph, name: str) -> Iterator[Any]:
        """Yield the tensors that the value may have the elements of.

        An input of a function has those of all calls that run. An input of the main graph has none, also if it has a
        default.
        """
        for step, found in self._walk(graph, name, self._before):
            tensor = _tensor(found)
            if tensor is not None and step.element_types <= {tensor.data_type}:
                yield tensor

    def definitions_behind(
        self, graph: Graph, name: str, inputs_behind: Callable[[Node, str], Sequence[str]]
    ) -> Iterator[Definition]:
        """Return the definitions at which a value begins: nodes, initializers, and inputs without a known argument.

        `inputs_behind`: the inputs of a node at which to go on for one of its outputs.
        """

        def before(step: _SourceValue, found: Definition) -> list[_SourceValue]:
            passed = [*self._through_calls(step, found)]
            if passed or found.node is None:
                return passed
            names = inputs_behind(found.node, step.name)
            return [_SourceValue(found.graph, each, step.calls, step.element_types) for each in names if each]

        return (found for _, found in self._walk(graph, name, before))

    def _walk(
        self, graph: Graph, name: str, before: Callable[[_SourceValue, Definition], Iterable[_SourceValue]]
    ) -> Iterator[tuple[_SourceValue, Definition]]:
        """Yield the definitions at which `before` returns no values at which to go on, each with its step."""
        pending = [_SourceValue(graph, name, (), frozenset())]
        for _ in range(MAX_STEPS):
            if not pending:
                return
            step = pending.pop()
            found = step.graph.definition_of(step.name) if step.name else None
            if found is None:
                continue
            following = [*before(step, found)]
            if following:
                pending += following
            else:
                yield step, found

    def _before(self, step: _SourceValue, found: Definition) -> Iterator[_SourceValue]:
        """Yield the values that a value is the same as; none if a tensor defines it. `found`: its definition."""
        node = found.node
        if _tensor(found) is not None:
            return
        if node is None or self._calls.function_of(node) is not None:
            yield from self._through_calls(step, found)
        elif self._is_removed(node, step.name):
            wanted = {each.i for each in node.attribute_protos if node.op_type == "Cast" and each.name == "to"}
            yield _SourceValue(found.graph, node.inputs[0], step.calls, step.element_types | wanted)

    def _through_calls(self, step: _SourceValue, found: Definition) -> Iterator[_SourceValue]:
        """Yield the output of a function that a call gives, or the arguments for a parameter of a function."""
        if found.node is None:
            yield from self._arguments(step, found)
            return
        function = self._calls.function_of(found.node)
        outputs = function.body.output_names if function is not None else ()
        if function is not None and found.index < len(outputs):
            yield _SourceValue(function.body, outputs[found.index], (*step.calls, found.node), step.element_types)

    def _is_removed(self, node: Node, output: str) -> bool:
        """Return whether a node may be removed, unless it casts to another type. Outputs of the main graph remain."""
        if normalized_domain(node.domain) or node.op_type not in ("Identity", "Cast") or not node.inputs:
            return False
        return node.graph is not self._main_graph or output not in self._main_graph.output_names

    def _arguments(self, step: _SourceValue, found: Definition) -> Iterator[_SourceValue]:
        """Yield the arguments for a parameter of a function."""
        function = found.graph.function
        if function is None or found.field != "input" or found.graph is not function.body:
            return
        known = step.calls[-1:] or self._calls.running.get(function.index, ())
        for call in known:
            if found.index < len(call.inputs):
                yield _SourceValue(call.graph, call.inputs[found.index], step.calls[:-1], step.element_types)


def _tensor(found: Definition) -> Any:
    """Return the tensor that defines a value: an initializer, or the value of a Constant."""
    if found.field == "initializer":
        return found.graph.message_at("initializer", found.index)
    node = found.node
    if node is None or normalized_domain(node.domain) or node.op_type != "Constant":
        return None
    return next((each.t for each in node.attribute_protos if each.name == "value" and each.HasField("t")), None)
