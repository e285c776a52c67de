# SPDX-License-Identifier: Apache-2.0
"""Finds nodes and values by names, which stay the same when a change moves nodes to other indices."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.model import Model

GraphKey = tuple[object, ...]
"""Identifies a graph before and after a change: the outputs of the nodes around it, and its place in them."""

NodeKey = tuple[GraphKey, tuple[str, ...]]
"""Identifies a node before and after a change: its graph and the names of its outputs. Indices may change."""


class _FoundNode(Record):
    """A node of a model."""

    graph: Graph
    index: int

    @property
    def inputs(self) -> Sequence[str]:
        """The names of the inputs."""
        return self.graph.node_inputs[self.index]


class NodeLookup:
    """The nodes of one model, by the places in them and by their keys."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def key_at(self, place: Place) -> NodeKey | None:
        """Return the key of the innermost node around a place; None outside of nodes."""
        found = self._node_at(place)
        return None if found is None else (_graph_key(found.graph), tuple(found.graph.node_outputs[found.index]))

    def inputs_at(self, place: Place) -> tuple[Fact, ...]:
        """Return the facts of the inputs of the innermost node around a place."""
        found = self._node_at(place)
        return () if found is None else self._facts(found.graph, found.inputs)

    def inputs_of(self, node: NodeKey) -> tuple[Fact, ...]:
        """Return the facts of the inputs of a node; empty if the model does not have it."""
        graph_key, outputs = node
        graph = self._graphs_by_key.get(graph_key)
        if graph is None:
            return ()
        index = next((graph.positions[name] for name in outputs if name in graph.positions), None)
        return () if index is None else self._facts(graph, graph.node_inputs[index])

    def values_at(self, place: Place) -> tuple[GraphKey, Sequence[str]]:
        """Return the graph and the names of the inputs of the innermost node around a place.

        For a place in a declaration outside of nodes, return the name of the declared value.
        """
        found = self._node_at(place)
        if found is not None:
            return _graph_key(found.graph), found.inputs
        steps = place.key
        for length in range(len(steps) - 1, 0, -1):
            field, index = steps[length]
            graph = self._graphs_by_place.get(steps[:length])
            if graph is not None and index is not None and field in graph.value_infos:
                return _graph_key(graph), graph.value_infos[field].names[index : index + 1]
        return (), ()

    def facts_of(self, graph: GraphKey, names: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of values; empty if the model does not have their graph."""
        found = self._graphs_by_key.get(graph)
        return () if found is None else self._facts(found, names)

    def _node_at(self, place: Place) -> _FoundNode | None:
        """Return the innermost node around a place; None outside of nodes."""
        steps = place.key
        for length in range(len(steps) - 1, -1, -1):
            field, index = steps[length]
            graph = self._graphs_by_place.get(steps[:length]) if field == "node" else None
            if graph is not None and index is not None and index < len(graph.node_outputs):
                return _FoundNode(graph, index)
        return None

    def _facts(self, graph: Graph, names: Sequence[str]) -> tuple[Fact, ...]:
        return tuple([self._model.value_flow.fact_of(name, graph) for name in names])

    @cached_property
    def _graphs_by_place(self) -> dict[PlaceKey, Graph]:
        return {graph.place.key: graph for graph in self._model.graphs}

    @cached_property
    def _graphs_by_key(self) -> dict[GraphKey, Graph]:
        return {_graph_key(graph): graph for graph in self._model.graphs}


def _graph_key(graph: Graph) -> GraphKey:
    steps: list[object] = []
    while graph.parent is not None:
        steps += [graph.place.key[-2:], *graph.parent.node_outputs[graph.position : graph.position + 1]]
        graph = graph.parent
    return (*steps, graph.place.key if graph.function is None else graph.function.qualified_name)
