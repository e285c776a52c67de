# SPDX-License-Identifier: Apache-2.0
"""How many values have a known shape, and where knowledge ended for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.flow.call_memory import Call
from onnx_lint.model.graph import BEFORE_NODES, Graph, Node
from onnx_lint.model.operators.operators import Operators
from onnx_lint.model.shapes.fact import UNKNOWN, Fact
from onnx_lint.model.shapes.rules import shape_rule
from onnx_lint.model.types.type_string import optional_element, sequence_element
from onnx_lint.record import Record

if TYPE_CHECKING:
    from onnx_lint.model.flow.cell import Cell

Kind = Literal["operator-without-signature", "operator-without-rule", "budget", "input", "undecided"]
"""Why a shape is not known: nothing is known of an operator, or not what it makes of shapes; a function has more calls
than are followed; an input has no shape; values of the run decide it, or a finding stands before it."""

Cause = tuple[Kind, str]
"""Where knowledge ended: the kind, and the name of the operator, function or input."""


class Walked(Record):
    """A graph or function body as it was walked the first time."""

    graph: Graph
    facts: Mapping[str, Fact]
    """What is known of the values that the graph defines."""
    unknown: frozenset[str]
    """The values whose shape is not known."""
    cells: Mapping[NodeForm, Cell]
    call: Call | None
    """The call that led into a function body."""


class Knowledge(Record):
    """How many values there are, of how many the shape is not known, and why."""

    values: int
    unknown: int
    causes: tuple[tuple[Cause, int], ...]
    """Where knowledge ended, each with the number of values of which that is so, most values first."""


def unknown_shapes(graph: Graph, known: Mapping[str, Fact]) -> frozenset[str]:
    """The values that a graph defines and whose rank is not known, where they have one."""
    names = graph.positions
    facts = list(map(known.get, names))
    # Facts are interned: there are far fewer of them than values.
    without = {each for each in set(facts) if not has_known_shape(each or UNKNOWN)}
    if not without:
        return frozenset()
    return frozenset([name for name, each in zip(names, facts, strict=True) if each in without])


def has_known_shape(fact: Fact) -> bool:
    """Whether the rank of a value is known, or that of what it holds; what has no rank counts as known."""
    while fact.shape is None and fact.kind is not None:
        element = sequence_element(fact.kind) or optional_element(fact.kind)
        if element is None:
            return not fact.kind.startswith(("tensor(", "sparse_tensor("))
        if fact.inside is None:
            return element.startswith("map(")
        fact = fact.inside
    return fact.shape is not None


_Place = tuple[Graph, str]


class Origins:
    """Finds for each value of unknown shape where knowledge ended: each step leads to one value before it."""

    def __init__(self, walked: Iterable[Walked], operators: Operators) -> None:
        self._walked = {id(each.graph): each for each in walked}
        self._operators = operators
        self._of_nodes: dict[tuple[int, int], _Place | Cause] = {}
        self._found: dict[tuple[int, str], Cause] = {}
        self._nested: dict[int, dict[int, list[Graph]]] = {}
        self._parameters: dict[int, dict[str, int]] = {}

    def knowledge(self) -> Knowledge:
        """The numbers for the whole model."""
        causes: Counter[Cause] = Counter()
        for each in self._walked.values():
            causes.update(self.cause(each.graph, name) for name in each.unknown)
        ordered = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
        values = sum(len(each.graph.positions) for each in self._walked.values())
        return Knowledge(values, causes.total(), tuple(ordered))

    def cause(self, graph: Graph, name: str) -> Cause:
        """Where knowledge ended for a value of unknown shape."""
        passed: list[tuple[int, str]] = []
        place: _Place = graph, name
        found: Cause
        seen: set[tuple[int, str]] = set()
        while True:
            key = id(place[0]), place[1]
            if key in seen:
                # A function that calls itself, or nodes in a circle, which has a finding.
                found = _UNDECIDED, ""
                break
            seen.add(key)
            passed.append(key)
            if key in self._found:
                found = self._found[key]
                break
            step = self._before(*place)
            if not isinstance(step[0], Graph):
                found = step[0], step[1]
                break
            place = step[0], step[1]
        for key in passed:
            self._found[key] = found
        return found

    def _before(self, graph: Graph, name: str) -> _Place | Cause:
        position = graph.positions[name]
        if position != BEFORE_NODES:
            key = id(graph), position
            if key not in self._of_nodes:
                self._of_nodes[key] = self._before_node(graph.nodes[position])
            return self._of_nodes[key]
        call = self._walked[id(graph)].call
        if graph.is_function and call is not None:
            index = self._parameter(graph, name)
            return self._first_unknown(call[0].graph, call[0].inputs[index : index + 1]) or ("input", name)
        if graph.parent is not None and 0 <= graph.position < len(graph.parent.forms):
            return _UNDECIDED, self._operator(graph.parent.nodes[graph.position])
        return "input", name

    def _before_node(self, node: Node) -> _Place | Cause:
        graph = node.graph
        cell = self._walked[id(graph)].cells[node.form]
        name = self._operator(node)
        if cell.operator is None:
            function = self._operators.operator(node).function
            if function is None:
                return "operator-without-signature", name
            inner = self._first_unknown(function.body, function.body.output_names)
            return inner or self._first_unknown(graph, node.inputs) or ("budget", name)
        if shape_rule(cell.operator.schema) is None:
            return "operator-without-rule", name
        for nested in self._nested_in(graph).get(node.index, ()):
            inner = self._first_unknown(nested, nested.output_names)
            if inner is not None:
                return inner
        return self._first_unknown(graph, node.inputs) or (_UNDECIDED, name)

    def _first_unknown(self, graph: Graph, names: Sequence[str]) -> _Place | None:
        """The first of these names that stands for a value of unknown shape, in the graph that defines it."""
        for name in names:
            scope: Graph | None = graph
            while scope is not None and name not in scope.positions:
                scope = scope.parent
            walked = self._walked.get(id(scope))
            if scope is not None and walked is not None and name in walked.unknown:
                return scope, name
        return None

    def _operator(self, node: Node) -> str:
        found = self._operators.operator(node)
        return f"{found.domain}::{found.op_type}" if found.domain else found.op_type

    def _nested_in(self, graph: Graph) -> dict[int, list[Graph]]:
        if id(graph) not in self._nested:
            found: dict[int, list[Graph]] = {}
            for nested in graph.nested:
                found.setdefault(nested.position, []).append(nested)
            self._nested[id(graph)] = found
        return self._nested[id(graph)]

    def _parameter(self, graph: Graph, name: str) -> int:
        if id(graph) not in self._parameters:
            self._parameters[id(graph)] = {each: index for index, each in enumerate(graph.input_names)}
        return self._parameters[id(graph)][name]


_UNDECIDED: Final = "undecided"
