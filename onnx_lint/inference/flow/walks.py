# SPDX-License-Identifier: Apache-2.0
"""The walks over graphs and function bodies, with what each brought."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.cell import Cell
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph, Node


class Call(Record):
    """A call of a function that was followed."""

    node: Node
    arguments: Facts
    """What is known of the inputs of the node, without those at the end that are left out."""
    around: Call | None
    """The call that led into the function body in which the node stands."""


class Walked(Record):
    """A graph or function body as it was walked once."""

    graph: Graph
    facts: Mapping[str, Fact]
    """What is known of the values that the graph defines."""
    unknown: Collection[str]
    """The values whose shape is not known."""
    cells: Mapping[NodeForm, Cell]
    call: Call | None
    """The call that led into the function body in which the graph stands."""

    def fact(self, name: str) -> Fact:
        """What is known of a value that the graph defines."""
        return self.facts.get(name, UNKNOWN)


class Walks:
    """The first walk over each graph or function body; where every one is kept, the later ones too."""

    def __init__(self) -> None:
        self._first: dict[int, Walked] = {}
        self._later: list[Walked] = []
        self._of_calls: dict[tuple[int, int], Walked] = {}
        self._of_arguments: dict[tuple[int, Facts], Walked] = {}
        """The first walk over a function body with such arguments, for calls that brought nothing new."""

    def __iter__(self) -> Iterator[Walked]:
        """The first walk over each graph, then the others."""
        return chain(self._first.values(), self._later)

    def __contains__(self, graph: Graph) -> bool:
        return id(graph) in self._first

    @property
    def first(self) -> list[Walked]:
        """The first walk over each graph."""
        return list(self._first.values())

    def add(self, walked: Walked) -> None:
        """Keep a walk."""
        key = id(walked.graph)
        if key in self._first:
            self._later.append(walked)
        else:
            self._first[key] = walked
        if walked.call is not None:
            self._of_calls[key, id(walked.call)] = walked
            if walked.graph.is_function:
                self._of_arguments.setdefault((key, walked.call.arguments), walked)

    def first_over(self, graph: Graph) -> Walked:
        """The first walk over a graph; raises KeyError where there was none."""
        return self._first[id(graph)]

    def of(self, graph: Graph, call: Call | None) -> Walked | None:
        """The walk over a graph that was part of a call; the first one where that was not kept."""
        return self._of_calls.get((id(graph), id(call))) or self._first.get(id(graph))

    def of_arguments(self, body: Graph, arguments: Facts) -> Walked | None:
        """The walk over a function body with such arguments; the first one where that was not kept."""
        return self._of_arguments.get((id(body), arguments)) or self._first.get(id(body))

    def scope(self, walked: Walked, name: str) -> Walked | None:
        """The walk over the graph that defines a name which a node of a graph uses: that one, or one around it."""
        graph: Graph | None = walked.graph
        while graph is not None and name not in graph.positions:
            graph = graph.parent
        return None if graph is None else self.of(graph, walked.call)

    def fact(self, walked: Walked, name: str) -> Fact:
        """What is known of a name that a node of a graph uses."""
        if not name:
            return ABSENT
        scope = self.scope(walked, name)
        return UNKNOWN if scope is None else scope.fact(name)

    def inputs(self, walked: Walked, node: Node) -> Facts:
        """What is known of the inputs of a node."""
        return tuple([self.fact(walked, name) for name in node.inputs])


def arguments_for(function: Function, inputs: Facts) -> Facts:
    """The inputs of a node that calls a function, without those at the end that are left out.

    It is as if the call ended before them: a function may have thousands of inputs, of which thousands of calls leave
    out all but a few.
    """
    count = min(len(inputs), len(function.body.input_names))
    while count and inputs[count - 1] is ABSENT:
        count -= 1
    return inputs[:count]
