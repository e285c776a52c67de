# SPDX-License-Identifier: Apache-2.0
"""Finds the graphs that are nested in the attributes of nodes, up to the limits of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.input.limits import Limits
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.parts import Attribute
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto


class TooManyPartsError(Exception):
    """A model has more nodes, or more graphs and functions, than the limit of that name allows."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class TooDeepError(Exception):
    """Graphs are nested deeper than Protocol Buffers parses messages; only a message with nodes as bytes can be."""


_MAX_DEPTH: Final = 100


class Budget:
    """Counts how many nodes, and how many graphs and functions, a model may still have before the limits."""

    __slots__ = ("graphs", "nodes")

    def __init__(self, limits: Limits) -> None:
        self.nodes = limits.nodes
        self.graphs = limits.graphs

    def ask(self, graphs: int) -> None:
        """Raise TooManyPartsError when so many graphs and functions are more than are left."""
        if graphs > self.graphs:
            raise TooManyPartsError("graphs")

    def take(self, nodes: int) -> None:
        """Take a graph with so many nodes; raises TooManyPartsError when there are more than are left."""
        self.ask(1)
        self.graphs -= 1
        if nodes > self.nodes:
            raise TooManyPartsError("nodes")
        self.nodes -= nodes


def with_nested(graph: Graph, index: AttributeIndex, budget: Budget) -> Iterator[Graph]:
    """The graph, and the graphs nested in it at any depth, each before those in it; all go into the index.

    Raises TooManyPartsError and TooDeepError.
    """
    pile: list[Iterator[Graph]] = [iter((graph,))]
    while pile:
        inner = next(pile[-1], None)
        if inner is None:
            pile.pop()
            continue
        # Before the nodes are made: each takes up a hundred times what an empty one does in the file.
        budget.take(len(inner.proto.node))
        if inner.depth > _MAX_DEPTH:
            raise TooDeepError
        yield inner
        holding = index.add(inner)
        if holding:
            pile.append(_graphs_in(inner, holding, budget))


def _graphs_in(graph: Graph, holding: Iterable[Attribute], budget: Budget) -> Iterator[Graph]:
    for attribute in holding:
        budget.ask(len(attribute.proto.graphs))
        # A default graph runs wherever a node of the body refers to it, so it may see all of the body's names.
        position = len(graph.nodes) if attribute.node is None else attribute.node.index
        yield from _graphs_of(attribute.proto, attribute.place, graph, position)


def _graphs_of(attribute: Proto, place: Place, graph: Graph, position: int) -> Iterator[Graph]:
    protos = [(attribute.g, place.at("g"))] if attribute.HasField("g") else []
    protos += [(proto, place.at("graphs", index)) for index, proto in enumerate(attribute.graphs)]
    for proto, nested_place in protos:
        nested = Graph(GraphKind.NESTED, proto, nested_place, parent=graph, position=position, function=graph.function)
        graph.nested.append(nested)
        yield nested
