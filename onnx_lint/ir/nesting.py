# SPDX-License-Identifier: Apache-2.0
"""Finds the graphs that are nested in the attributes of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.parts import Attribute
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto


class TooDeepError(Exception):
    """Graphs are nested deeper than Protocol Buffers parses messages. It was parsed only because nodes stay bytes."""


_MAX_DEPTH: Final = 100


def with_nested(graph: Graph, index: AttributeIndex) -> Iterator[Graph]:
    """Yield the graph, and the graphs nested in it at any depth, containers first, and add all to the index.

    Raises TooDeepError.
    """
    stack: list[Iterator[Graph]] = [iter((graph,))]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
            continue
        if inner.depth > _MAX_DEPTH:
            raise TooDeepError
        yield inner
        attributes_with_graphs = index.add(inner)
        if attributes_with_graphs:
            stack.append(_graphs_in(inner, attributes_with_graphs))


def _graphs_in(graph: Graph, attributes: Iterable[Attribute]) -> Iterator[Graph]:
    """Yield the graphs in attributes of a graph, and add each to the nested graphs of that graph."""
    for attribute in attributes:
        # A default graph runs wherever a node of the body refers to it, see `Graph.sees_before`.
        position = len(graph.nodes) if attribute.node is None else attribute.node.index
        yield from _graphs_of(attribute.proto, attribute.place, graph, position)


def _graphs_of(attribute: Proto, place: Place, graph: Graph, position: int) -> Iterator[Graph]:
    protos = [(attribute.g, place.at("g"))] if attribute.HasField("g") else []
    protos += [(proto, place.at("graphs", index)) for index, proto in enumerate(attribute.graphs)]
    for proto, nested_place in protos:
        nested = Graph(GraphKind.NESTED, proto, nested_place, parent=graph, position=position, function=graph.function)
        graph.nested.append(nested)
        yield nested
