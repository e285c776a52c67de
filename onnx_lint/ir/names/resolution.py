# SPDX-License-Identifier: Apache-2.0
"""Resolves the name of each node input: is it defined before the node, after it, in a cycle with it, or nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import BEFORE_NODES, Graph, Node, Nodes
from onnx_lint.ir.places.place import Place

if TYPE_CHECKING:
    from onnx_lint.ir.names.digraph import Digraph
    from onnx_lint.ir.places.edits import Fix


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
    """A cycle of nodes of one graph: each uses an output of the one before it, and the first one of the last."""

    nodes: Nodes
    values: tuple[str, ...]
    """For each node the name of the output that the next node uses."""
    use: Use
    """The use, by the first node, of an output of the last one."""


class UndefinedName(Record):
    """A name that a graph uses and nothing defines."""

    graph: Graph
    name: str
    numbers: tuple[int, ...]
    """The node inputs that use the name, each as one number."""

    @property
    def count(self) -> int:
        """The number of node inputs that use the name."""
        return len(self.numbers)

    def uses(self, most: int | None = None) -> Sequence[Use]:
        """Return the node inputs that use the name, or the first ones."""
        nodes = self.graph.nodes
        return [Use(nodes[each >> _OPERAND_BITS], each & (1 << _OPERAND_BITS) - 1) for each in self.numbers[:most]]


class _Late(Record):
    """A late use, as the graph of the use and numbers of nodes and operands."""

    user: Graph
    node: int
    operand: int
    holder: int
    producer: int


_OPERAND_BITS: Final = 32


class Resolution:
    """The faults of the names that nodes use."""

    def __init__(self) -> None:
        self._undefined: dict[Graph, dict[str, int]] = {}
        """The first use of each name, as one number: that of the node, then that of the input."""
        self._used_again: dict[Graph, dict[str, list[int]]] = {}
        """The other uses of names that are used more than once."""
        self._unordered: dict[Graph, list[_Late]] = {}
        self._cyclic: dict[Graph, list[_Late]] = {}
        self.order_fixes: dict[Graph, Fix | str] = {}
        """The fixes of the order of nodes that rules have asked for, see `fix_of_order`."""

    @property
    def undefined(self) -> Iterator[UndefinedName]:
        """The names that nothing defines, of each graph in the order of their first uses."""
        for graph, names in self._undefined.items():
            for name, first in names.items():
                others = self._used_again.get(graph, {}).get(name, [])
                yield UndefinedName(graph, name, (first, *others))

    @property
    def undefined_names(self) -> Iterator[str]:
        """The names that nothing defines. A name that several graphs use occurs several times."""
        return chain.from_iterable(self._undefined.values())

    @property
    def has_undefined_names(self) -> bool:
        """True if a node uses a name that nothing defines."""
        return bool(self._undefined)

    @property
    def unordered(self) -> Iterator[LateUse]:
        """The late uses that another order of the nodes would fix."""
        return (_late_use(graph, late) for graph, uses in self._unordered.items() for late in uses)

    @property
    def unordered_graphs(self) -> Iterable[Graph]:
        """The graphs whose nodes another order would fix."""
        return self._unordered.keys()

    @property
    def cycles(self) -> Iterator[Cycle]:
        """One cycle for each set of nodes that depend on one another."""
        for graph, uses in self._cyclic.items():
            followers = _followers(graph)
            for late in uses:
                yield _cycle(graph, late, followers)

    @property
    def has_late_uses(self) -> bool:
        """True if a node uses a value that only a later node defines, or that depends on its own outputs."""
        return bool(self._unordered or self._cyclic)

    def note_undefined(self, graph: Graph, name: str, node: int, operand: int) -> None:
        """Record the use of a name that nothing defines."""
        use = node << _OPERAND_BITS | operand
        if self._undefined.setdefault(graph, {}).setdefault(name, use) != use:
            self._used_again.setdefault(graph, {}).setdefault(name, []).append(use)

    def split(self, graph: Graph, uses: Iterable[_Late]) -> None:
        """Divide the late uses of definitions in a graph into cycles and nodes that are only out of order."""
        from onnx_lint.ir.names.digraph import strong_components

        component = strong_components(_followers(graph))
        reported: set[int] = set()
        for late in uses:
            group = component[late.holder]
            if component[late.producer] != group:
                self._unordered.setdefault(graph, []).append(late)
            elif group not in reported:
                reported.add(group)
                self._cyclic.setdefault(graph, []).append(late)


def resolve(graphs: Iterable[Graph]) -> Resolution:
    """Resolve every node input of `graphs`."""
    resolution = Resolution()
    late: dict[Graph, list[_Late]] = {}
    for graph in graphs:
        inputs, position = graph.node_inputs, graph.positions.get
        for own in graph.early_uses:
            for operand, name in enumerate(inputs[own]):
                # A name that the graph does not define before the node may still be visible from outside.
                if not name or position(name, own) < own or graph.sees(name):
                    continue
                found = _late(graph, own, operand, name)
                if found is None:
                    resolution.note_undefined(graph, name, own, operand)
                else:
                    late.setdefault(found[0], []).append(found[1])
    for producing, uses in late.items():
        resolution.split(producing, uses)
    return resolution


def _late(user: Graph, index: int, operand: int, name: str) -> tuple[Graph, _Late] | None:
    """Return the graph whose later definition a use without an earlier definition refers to, and the late use.

    None if no graph around the use has such a definition.
    """
    graph, holder = user, index
    while True:
        if name in graph.positions:
            producer = graph.positions[name]
            return (graph, _Late(user, index, operand, holder, producer)) if producer != BEFORE_NODES else None
        if graph.parent is None or graph.position >= len(graph.parent.nodes):
            return None
        graph, holder = graph.parent, graph.position


def _late_use(graph: Graph, late: _Late) -> LateUse:
    use = Use(late.user.nodes[late.node], late.operand)
    return LateUse(use, graph.nodes[late.holder], graph.nodes[late.producer])


def _followers(graph: Graph) -> Digraph:
    """Return for each node the nodes that use its outputs, directly or in nested graphs."""
    from onnx_lint.ir.names.digraph import Digraph

    return Digraph(len(graph.nodes), lambda: dependencies(graph))


def dependencies(graph: Graph) -> Iterator[tuple[int, int]]:
    """Yield the numbers of producer and user for each output that another node, or a graph nested in it, uses.

    A nested graph that returns an output uses it as well, unless it is one of the node around it.
    """
    position = graph.positions.get
    for index, names in enumerate(graph.node_inputs):
        for name in names:
            producer = position(name, BEFORE_NODES)
            if producer >= 0:
                yield producer, index
    for nested in graph.nested:
        if nested.position < len(graph.nodes):
            for name in _captured(nested):
                producer = position(name, BEFORE_NODES)
                if producer >= 0:
                    yield producer, nested.position
            for name in _returned(nested):
                producer = position(name, BEFORE_NODES)
                if producer >= 0 and producer != nested.position:
                    yield producer, nested.position


def _captured(graph: Graph) -> Iterator[str]:
    """Yield the names that `graph` and the graphs in it use and do not define."""
    for names in graph.node_inputs:
        for name in names:
            if name and name not in graph.positions:
                yield name
    for nested in graph.nested:
        for name in _captured(nested):
            if name not in graph.positions:
                yield name


def _returned(graph: Graph) -> Iterator[str]:
    """Yield the names that `graph` and the graphs in it return and do not define."""
    for each in (graph.output_names, *map(_returned, graph.nested)):
        for name in each:
            if name and name not in graph.positions:
                yield name


def _cycle(graph: Graph, late: _Late, followers: Digraph) -> Cycle:
    """Return a shortest cycle: from the node that uses the name to the node that defines it."""
    from onnx_lint.ir.names.digraph import shortest_way

    path = shortest_way(followers, late.holder, late.producer)
    values = [
        _value(graph, here, there, graph.nested_by_node.get(there, ()))
        for here, there in zip(path, [*path[1:], path[0]], strict=True)
    ]
    return Cycle(Nodes(graph, path), tuple(values), _late_use(graph, late).use)


def _value(graph: Graph, producer: int, user: int, nested: Iterable[Graph]) -> str:
    """Return the name of an output of `producer` that `user`, or a graph nested in it, uses."""
    inside = [names for each in nested for names in (_captured(each), _returned(each))]
    names = chain(graph.node_inputs[user], *inside)
    return next(name for name in names if graph.positions.get(name) == producer)
