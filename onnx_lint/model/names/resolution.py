# SPDX-License-Identifier: Apache-2.0
"""Resolves the name of each node input: is it defined before the node, after it, in a cycle with it, or nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx_lint.model.graph import Graph, Node
from onnx_lint.model.names.digraph import shortest_way, strong_components
from onnx_lint.model.places.place import Place
from onnx_lint.record import Record


class Use(Record):
    """A node input, by node and index."""

    node: Node
    index: int

    @property
    def name(self) -> str:
        """The value name that is used."""
        return self.node.inputs[self.index]

    @property
    def place(self) -> Place:
        """The place of the name."""
        return self.node.place.at("input", self.index)


class LateUse(Record):
    """A use of a name that only a later node of the same or of an enclosing graph defines."""

    use: Use
    holder: Node
    """The node in the graph of the definition that uses the name, itself or in a graph nested in it."""
    producer: Node


class Cycle(Record):
    """Nodes of one graph of which each uses an output of the one before it, and the first one of the last."""

    nodes: tuple[Node, ...]
    values: tuple[str, ...]
    """The name by which each node's output reaches the next node."""
    use: Use
    """The use, by the first node, of what the last one defines."""


class Resolution:
    """What is wrong with the names that nodes use."""

    def __init__(self) -> None:
        self.undefined: list[Use] = []
        self.unordered: list[LateUse] = []
        """Late uses that putting the nodes into another order would mend."""
        self.cycles: list[Cycle] = []
        """One cycle for each set of nodes that depend on one another."""


def resolve(graphs: Iterable[Graph]) -> Resolution:
    """Resolve every node input of `graphs`."""
    resolution = Resolution()
    late: dict[int, list[LateUse]] = {}
    for graph in graphs:
        for use in _suspects(graph):
            found = _late(use)
            if found is not None:
                late.setdefault(id(found.producer.graph), []).append(found)
            elif not graph.sees(use.name):
                resolution.undefined.append(use)
    for uses in late.values():
        _split(uses, resolution)
    return resolution


def _suspects(graph: Graph) -> Iterator[Use]:
    """The uses of names that this graph does not define before the node; they may still be visible from outside."""
    position = graph.positions.get
    for own in graph.early_uses:
        node = graph.nodes[own]
        for index, name in enumerate(node.inputs):
            if position(name, own) >= own and name:
                yield Use(node, index)


def _late(use: Use) -> LateUse | None:
    """The later definition that `use` must mean, when no earlier one is visible."""
    graph = use.node.graph
    if graph.sees(use.name):
        return None
    holder: Node = use.node
    while True:
        if use.name in graph.positions:
            producer = graph.first_definitions[use.name].node
            return LateUse(use, holder, producer) if producer is not None else None
        if graph.parent is None or graph.position >= len(graph.parent.nodes):
            return None
        holder = graph.parent.nodes[graph.position]
        graph = graph.parent


def _split(uses: list[LateUse], resolution: Resolution) -> None:
    """Tell the late uses of one graph apart into cycles and nodes that are merely out of order."""
    graph = uses[0].producer.graph
    followers = _followers(graph)
    component = strong_components(followers)
    reported: set[int] = set()
    for late in uses:
        group = component[late.holder.index]
        if component[late.producer.index] != group:
            resolution.unordered.append(late)
        elif group not in reported:
            reported.add(group)
            resolution.cycles.append(_cycle(graph, late, followers))


def _followers(graph: Graph) -> list[dict[int, str]]:
    """For each node the nodes that use its outputs, directly or in nested graphs, and one name that they use."""
    followers: list[dict[int, str]] = [{} for _ in graph.nodes]
    for node in graph.nodes:
        for name in node.inputs:
            producer = graph.positions.get(name, -1)
            if producer >= 0:
                followers[producer].setdefault(node.index, name)
    for nested in graph.nested:
        for name in _captured(nested):
            producer = graph.positions.get(name, -1)
            if producer >= 0 and nested.position < len(graph.nodes):
                followers[producer].setdefault(nested.position, name)
    return followers


def _captured(graph: Graph) -> Iterator[str]:
    """The names that `graph` and the graphs in it use and do not define."""
    for node in graph.nodes:
        for name in node.inputs:
            if name and name not in graph.positions:
                yield name
    for nested in graph.nested:
        for name in _captured(nested):
            if name not in graph.positions:
                yield name


def _cycle(graph: Graph, late: LateUse, followers: list[dict[int, str]]) -> Cycle:
    """A shortest way from the node that uses the name to the node that defines it."""
    path = shortest_way(followers, late.holder.index, late.producer.index)
    values = [followers[here][there] for here, there in zip(path, [*path[1:], path[0]], strict=True)]
    return Cycle(tuple(graph.nodes[index] for index in path), tuple(values), late.use)
