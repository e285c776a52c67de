# SPDX-License-Identifier: Apache-2.0
"""Which values are unknown because something is wrong before them, so that one fault stays one finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.ir.graph import BEFORE_NODES, Graph

_NONE: Final[frozenset[str]] = frozenset()


class FaultyValues:
    """The outputs of nodes that have a finding, by graph, and what follows from them."""

    def __init__(self) -> None:
        self._names: dict[int, set[str]] = {}
        self._sound: dict[int, set[str]] = {}
        """Values of unknown type that were followed back and come from no faulty one."""

    def begin(self, graph: Graph) -> None:
        """Forget what was followed back in an earlier walk over the graph, in which other types were known."""
        if self._sound:
            self._sound.pop(id(graph), None)

    def add(self, graph: Graph, names: Iterable[str]) -> None:
        """Note values of a graph that come from a fault."""
        self._names.setdefault(id(graph), set()).update(names)

    def are_behind(self, graph: Graph, index: int, known: Mapping[str, Fact]) -> bool:
        """Whether a node has an output that is noted, or an input whose type is unknown since it follows from one.

        Each value is followed back once in a walk over a graph.
        """
        if not self._names:
            return False
        own, sound = self._names.get(id(graph), _NONE), self._sound.setdefault(id(graph), set())
        if not own.isdisjoint(graph.node_outputs[index]):
            return True
        pile, seen = list(graph.node_inputs[index]), set[str]()
        while pile:
            name = pile.pop()
            if name in sound or name in seen or known.get(name, UNKNOWN).kind is not None:
                continue
            seen.add(name)
            if self._is_noted(graph, name):
                self.add(graph, graph.node_outputs[index])
                return True
            maker = graph.positions.get(name, BEFORE_NODES)
            # Only nodes before this one: a model whose nodes stand in no order has another finding.
            if BEFORE_NODES < maker < index:
                pile += graph.node_inputs[maker]
        sound |= seen
        return False

    def _is_noted(self, graph: Graph, name: str) -> bool:
        at: Graph | None = graph
        while at is not None:
            if name in at.positions:
                return name in self._names.get(id(at), _NONE)
            at = at.parent
        return False
