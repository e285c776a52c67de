# SPDX-License-Identifier: Apache-2.0
"""Finds the values that are unknown because of an earlier fault, so that one fault is one finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.ir.graph import BEFORE_NODES, Graph

_NONE: Final[frozenset[str]] = frozenset()


class _Inner(set[str]):
    """The values of a nested graph whose shape is lost to a fault, together with those of enclosing graphs.

    Those are not copied: a fault before thousands of subgraphs would take memory with the square of their number.
    """

    def __init__(self, outer: set[str]) -> None:
        super().__init__()
        self._outer = outer

    def __bool__(self) -> bool:
        return True

    def isdisjoint(self, names: Iterable[object], /) -> bool:
        """Return whether none of the names is a value of this graph, or of an enclosing one, with a lost shape."""
        values: set[str] = self
        while isinstance(values, _Inner):
            if not set.isdisjoint(values, names):
                return False
            values = values._outer
        return values.isdisjoint(names)


class FaultyValues:
    """The outputs of nodes with a finding, by graph, and the values that follow from them."""

    def __init__(self) -> None:
        self._names: dict[int, set[str]] = {}
        self._sound: dict[int, set[str]] = {}
        """Values of unknown type that do not follow from a faulty one."""
        self._shapeless: dict[int, set[str]] = {}
        """By graph, the values whose shape is unknown, in full or in part, because of an earlier fault."""

    def begin_shapes(self, graph: Graph) -> set[str]:
        """Return the set for values of a graph whose shape is lost to a fault, with those of enclosing graphs."""
        outer = self._shapeless.get(id(graph.parent))
        found = self._shapeless[id(graph)] = _Inner(outer) if outer else set()
        return found

    def reach_outputs(self, graphs: Iterable[Graph]) -> bool:
        """Return whether an output of one of the walked graphs has lost its shape to a fault."""
        return any(not self._shapeless.get(id(graph), _NONE).isdisjoint(graph.output_names) for graph in graphs)

    def begin(self, graph: Graph) -> None:
        """Discard the results of an earlier walk over the graph, in which other types were known."""
        if self._sound:
            self._sound.pop(id(graph), None)

    def add(self, graph: Graph, names: Iterable[str]) -> None:
        """Record values of a graph that follow from a fault."""
        self._names.setdefault(id(graph), set()).update(names)

    def are_affected(self, graph: Graph, index: int, known: Mapping[str, Fact]) -> bool:
        """Return whether an output of a node is recorded, or an input has an unknown type that follows from a fault.

        Each value is followed back once per walk over a graph.
        """
        if not self._names:
            return False
        own, sound = self._names.get(id(graph), _NONE), self._sound.setdefault(id(graph), set())
        if not own.isdisjoint(graph.node_outputs[index]):
            return True
        stack, seen = list(graph.node_inputs[index]), set[str]()
        while stack:
            name = stack.pop()
            if name in sound or name in seen or known.get(name, UNKNOWN).kind is not None:
                continue
            seen.add(name)
            if self._is_noted(graph, name):
                self.add(graph, graph.node_outputs[index])
                return True
            position = graph.positions.get(name, BEFORE_NODES)
            # Follow only nodes before this one: a model with unordered nodes has another finding.
            if BEFORE_NODES < position < index:
                stack += graph.node_inputs[position]
        sound |= seen
        return False

    def _is_noted(self, graph: Graph, name: str) -> bool:
        at: Graph | None = graph
        while at is not None:
            if name in at.positions:
                return name in self._names.get(id(at), _NONE)
            at = at.parent
        return False
