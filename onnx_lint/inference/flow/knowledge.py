# SPDX-License-Identifier: Apache-2.0
"""How many values have a known shape, and where knowledge ended for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.walks import Walked, Walks, arguments_for
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.types.type_string import optional_element, sequence_element
from onnx_lint.ir.graph import BEFORE_NODES, Graph, GraphKind, Node
from onnx_lint.ir.operators.operators import Operators

Kind = Literal["operator-without-signature", "operator-without-rule", "budget", "input", "undecided"]
"""Why a shape is not known: nothing is known of an operator, or not what it makes of shapes; a function has more calls
than are followed; an input has no shape; values of the run decide it, or a finding stands before it."""

Cause = tuple[Kind, str]
"""Where knowledge ended: the kind, and the name of the operator, function or input."""


class Knowledge(Record):
    """How many values there are, of how many the shape is not known, and why."""

    values: int
    unknown: int
    causes: tuple[tuple[Cause, int], ...]
    """Where knowledge ended, each with the number of values of which that is so: the MOST_CAUSES with most values."""


_FEW_VALUES: Final = 4
"""So few are found in a tuple as quickly as in a set, which takes up 200 bytes, for each graph."""


def unknown_shapes(graph: Graph, known: Mapping[str, Fact]) -> Collection[str]:
    """The values that a graph defines and whose rank is not known, where they have one."""
    names = graph.positions
    facts = list(map(known.get, names))
    # Facts are interned: there are far fewer of them than values.
    without = {each for each in set(facts) if not has_known_shape(each or UNKNOWN)}
    if not without:
        return ()
    found = [name for name, each in zip(names, facts, strict=True) if each in without]
    return tuple(found) if len(found) <= _FEW_VALUES else frozenset(found)


def have_known_shapes(names: Iterable[str], known: Mapping[str, Fact]) -> bool:
    """Whether the shapes of these values are known, as far as values of their types have one."""
    return all(has_known_shape(each or UNKNOWN) for each in set(map(known.get, names)))


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


MOST_CAUSES: Final = 100
"""So many causes are told, those of most values."""

_Place = tuple[Walked, str]


class Origins:
    """Finds for each value of unknown shape where knowledge ended: each step leads to one value before it."""

    def __init__(self, walks: Walks, operators: Operators) -> None:
        self._walks = walks
        self._operators = operators
        self._of_nodes: dict[tuple[int, int], _Place | Cause] = {}
        """Of nodes with several outputs, which have one cause and may have many inputs."""
        self._found: dict[int, dict[str, Cause | None]] = {}
        """By the walk over their graph, the causes of values; None while one is looked for."""
        self._causes: dict[Cause, Cause] = {}
        self._nested: dict[int, dict[int, list[Graph]]] = {}
        self._parameters: dict[int, dict[str, int]] = {}

    def knowledge(self) -> Knowledge:
        """The numbers for the whole model, those of a function for its first call."""
        from heapq import nsmallest  # late, as all shapes of most models are known

        first = self._walks.first
        values = sum(len(walked.graph.positions) for walked in first)
        unknown = sum(len(walked.unknown) for walked in first)
        causes: Counter[Cause] = Counter()
        for walked in first:
            causes.update(self.cause(walked, name) for name in walked.unknown if not _is_main_input(walked, name))
        # Each of these is its own cause. There may be as many as names in the file, so they are not kept.
        inputs = {name for kind, name in causes if kind == "input"}
        for walked in first:
            own = (name for name in inputs.intersection(walked.unknown) if _is_main_input(walked, name))
            causes.update(("input", name) for name in own)
        others: Iterator[tuple[Cause, int]] = (
            (("input", name), 1)
            for walked in first
            for name in walked.unknown
            if name not in inputs and _is_main_input(walked, name)
        )
        ordered = nsmallest(MOST_CAUSES, chain(causes.items(), others), key=lambda item: (-item[1], item[0]))
        return Knowledge(values, unknown, tuple(ordered))

    def cause(self, walked: Walked, name: str) -> Cause:
        """Where knowledge ended for a value of unknown shape."""
        passed: list[_Place] = []
        place: _Place = walked, name
        while True:
            known = self._found.setdefault(id(place[0]), {})
            if place[1] in known:
                # One that is under way: a function that calls itself, or nodes in a circle, which has a finding.
                found = known[place[1]] or (_UNDECIDED, "")
                break
            known[place[1]] = None
            passed.append(place)
            step = self._before(*place)
            if not isinstance(step[0], Walked):
                found = step[0], step[1]
                break
            place = step[0], step[1]
        found = self._causes.setdefault(found, found)
        for at, of in passed:
            self._found[id(at)][of] = found
        return found

    def _before(self, walked: Walked, name: str) -> _Place | Cause:
        graph = walked.graph
        position = graph.positions[name]
        if position != BEFORE_NODES:
            if len(graph.table.outputs[position]) == 1:
                return self._before_node(walked, graph.nodes[position])
            key = id(walked), position
            if key not in self._of_nodes:
                self._of_nodes[key] = self._before_node(walked, graph.nodes[position])
            return self._of_nodes[key]
        if graph.is_function and walked.call is not None:
            node = walked.call.node
            caller = self._walks.of(node.graph, walked.call.around)
            index = self._parameter(graph, name)
            return self._first_unknown(caller, node.inputs[index : index + 1]) or ("input", name)
        if graph.parent is not None and 0 <= graph.position < len(graph.parent.forms):
            return _UNDECIDED, self._operator(graph.parent.nodes[graph.position])
        return "input", name

    def _before_node(self, walked: Walked, node: Node) -> _Place | Cause:
        cell = walked.cells.get(node.form)
        name = self._operator(node)
        if cell is None:
            return _UNDECIDED, name  # the walk ended before it, by a bug
        if cell.operator is None:
            function = self._operators.operator(node).function
            if function is None:
                return "operator-without-signature", name
            arguments = arguments_for(function, self._walks.inputs(walked, node))
            body = self._walks.of_arguments(function.body, arguments)
            inner = self._first_unknown(body, function.body.output_names)
            return inner or self._first_unknown(walked, node.inputs) or ("budget", name)
        if shape_rule(cell.operator.schema) is None:
            return "operator-without-rule", name
        for nested in self._nested_in(node.graph).get(node.index, ()):
            inner = self._first_unknown(self._walks.of(nested, walked.call), nested.output_names)
            if inner is not None:
                return inner
        return self._first_unknown(walked, node.inputs) or (_UNDECIDED, name)

    def _first_unknown(self, walked: Walked | None, names: Sequence[str]) -> _Place | None:
        """The first of these names that stands for a value of unknown shape, in the graph that defines it."""
        if walked is None:
            return None
        for name in names:
            scope = self._walks.scope(walked, name)
            if scope is not None and name in scope.unknown:
                return scope, name
        return None

    def _operator(self, node: Node) -> str:
        found = self._operators.operator(node)
        return f"{found.domain}::{found.op_type}" if found.domain else found.op_type

    def _nested_in(self, graph: Graph) -> dict[int, list[Graph]]:
        if id(graph) not in self._nested:
            self._nested[id(graph)] = nested_by_position(graph)
        return self._nested[id(graph)]

    def _parameter(self, graph: Graph, name: str) -> int:
        if id(graph) not in self._parameters:
            self._parameters[id(graph)] = {each: index for index, each in enumerate(graph.input_names)}
        return self._parameters[id(graph)][name]


def _is_main_input(walked: Walked, name: str) -> bool:
    """Whether the value is there before the nodes of the main graph: nothing decides its shape but what is stated."""
    return walked.graph.kind is GraphKind.MAIN and walked.graph.positions[name] == BEFORE_NODES


def nested_by_position(graph: Graph) -> dict[int, list[Graph]]:
    """The graphs nested in a graph, by the position of the node that holds them."""
    found: dict[int, list[Graph]] = {}
    for nested in graph.nested:
        found.setdefault(nested.position, []).append(nested)
    return found


_UNDECIDED: Final = "undecided"
