# SPDX-License-Identifier: Apache-2.0
"""Withdraws the deletion of a declaration that may be right, because what it contradicts follows from a fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.place import Place, Step
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity

NO_FIX: Final = "the value follows from a node or initializer that has another finding"
"""Why a declaration is not deleted."""

_SOURCES: Final = frozenset({"initializer", "input", "node"})
"""The lists of a graph with what values are made of."""


def without_doubtful_deletions(diagnostics: Iterable[Diagnostic], model: Model) -> list[Diagnostic]:
    """Return the diagnostics. An entry of value_info is not deleted if its value follows from a fault.

    It may be the entry that is right. Once the fault is mended, the entry either fits or has its fix again.
    """
    items = list(diagnostics)
    faulty: dict[Place, set[Step]] = {}
    for item in items:
        if item.severity is Severity.ERROR and _value_of(item) is None:
            for place in item.at.ancestors():
                if place.field in _SOURCES and place.parent is not None:
                    faulty.setdefault(place.parent, set()).add((place.field, place.index))
    if not faulty:
        return items
    doubtful = _DoubtfulValues(model.graphs, faulty)
    return [item.with_advice(edits=None, no_fix=NO_FIX) if doubtful.has(_value_of(item)) else item for item in items]


def _value_of(item: Diagnostic) -> tuple[Place, str] | None:
    """Return the value whose declaration the fix deletes, as its graph and name; None if it deletes none."""
    return None if item.advice.edits is None else item.advice.edits.trusts


class _DoubtfulValues:
    """The values that follow from a node, input or initializer at fault."""

    def __init__(self, graphs: Iterable[Graph], faulty: Mapping[Place, Set[Step]]) -> None:
        self._graphs = {graph.place: graph for graph in graphs}
        self._faulty = faulty
        self._names: dict[Place, Set[str]] = {}

    def has(self, value: tuple[Place, str] | None) -> bool:
        """Return whether a value, given by its graph and name, is one of them."""
        graph = None if value is None else self._graphs.get(value[0])
        return graph is not None and value is not None and value[1] in self._names_in(graph)

    def _names_in(self, graph: Graph) -> Set[str]:
        """Return their names in a graph, with those in the graphs around it."""
        if graph.place not in self._names:
            around = frozenset() if graph.parent is None else self._names_in(graph.parent)
            self._names[graph.place] = self._followed(graph, set(around))
        return self._names[graph.place]

    def _followed(self, graph: Graph, names: set[str]) -> Set[str]:
        """Return the names with those that follow from them, and from what is at fault in the graph itself."""
        faulty = self._faulty.get(graph.place, frozenset())
        for field, own in (("input", graph.input_names), ("initializer", graph.initializer_names)):
            names.update(name for index, name in enumerate(own) if (field, index) in faulty)
        pairs = zip(graph.node_inputs, graph.node_outputs, strict=True)
        for index, (inputs, outputs) in enumerate(pairs):
            check_deadline()
            if ("node", index) in faulty or not names.isdisjoint(inputs):
                names.update(outputs)
        return names - {""}
