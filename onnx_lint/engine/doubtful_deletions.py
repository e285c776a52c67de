# SPDX-License-Identifier: Apache-2.0
"""Withdraws the deletion of a declaration that may be right, because what it contradicts follows from a fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.deadline import check_deadline
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import Selection
from onnx_lint.engine.settings import Settings
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.places.edits import Fix
from onnx_lint.ir.places.place import Place
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity, clauses, severity

FOLLOWS: Final = "the value follows from a node or initializer that has another finding"
"""Why a declaration is not deleted."""

IS_READ: Final = "the value is an input of a node that has another finding, and may be what is wrong there"
"""Another reason."""

MAX_FAULTS: Final = 5_000
"""The most findings of a rule that are looked at if the settings leave some out."""

_OF_OPERANDS: Final = frozenset({"NOD-8", "NOD-8a"})
"""The clauses about the types and shapes of operands."""

_OF_DECLARATIONS: Final = frozenset({"SHP-1"})
"""Clauses about the form of a declaration, which says nothing of the value: a negative dimension."""

ClauseAndPlace = tuple[str, Place]
"""The clause and the place of a fault."""


def without_doubtful_deletions(
    diagnostics: Iterable[Diagnostic], model: Model, *, are_all_listed: bool = True
) -> list[Diagnostic]:
    """Return the diagnostics. An entry of value_info is not deleted if its value follows from a fault.

    Nor is it if the value is an operand that may be at fault. It may be the entry that is right. Once the fault is
    fixed, the entry either fits or has its fix again. `are_all_listed`: whether the diagnostics have all errors of the
    usual settings. Otherwise the rules run once more with these.
    """
    items = list(diagnostics)
    faults = {(each.clause, each.at) for each in items if each.severity is Severity.ERROR and _value_of(each) is None}
    if not are_all_listed:
        faults.update(_errors_in(model))
    if not faults:
        return items
    doubtful = _DoubtfulValues(model)
    for clause, place in faults:
        if clause in _OF_DECLARATIONS:
            continue
        doubtful.add(place, is_of_operands=clause in _OF_OPERANDS)
    return [_without_deletion(item, doubtful) for item in items]


def _without_deletion(item: Diagnostic, doubtful: _DoubtfulValues) -> Diagnostic:
    value = _value_of(item)
    reason = None if value is None else doubtful.reason(*value)
    return item if reason is None else item.with_advice(edits=None, no_fix=reason)


def _value_of(item: Diagnostic) -> tuple[Place, str] | None:
    """Return the value whose declaration the fix deletes, as its graph and name; None if it deletes none."""
    return None if item.advice.edits is None else item.advice.edits.trusts


def _errors_in(model: Model) -> Iterator[ClauseAndPlace]:
    """Yield the errors that the usual settings report. Those whose fix deletes a declaration are left out."""
    for entry in Selection(Settings(standard=model.standard), registry()).asked(model):
        check_deadline()
        if entry.plugin is None:
            with model.crashes.at("looking for faults that a declaration may show"):
                yield from _errors_of(entry, model)


def _errors_of(entry: Registered, model: Model) -> Iterator[ClauseAndPlace]:
    for finding in islice(entry.rule.check(model), MAX_FAULTS):
        clause = clauses()[finding.clause or entry.clauses[0]]
        is_of_declaration = isinstance(finding.fix, Fix) and finding.fix.trusts is not None
        if not is_of_declaration and severity(clause, model.standard.edition) is Severity.ERROR:
            yield clause.id, finding.place


class _DoubtfulValues:
    """The values that follow from a node, input or initializer at fault, or that are an operand of such a node.

    They are followed into the subgraphs of nodes and into functions, and out of these.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._graphs = {graph.place: graph for graph in model.graphs}
        self._names: dict[Place, set[str]] = {}
        self._operands: dict[Place, set[str]] = {}
        self._nodes: dict[Place, set[int]] = {}
        """The nodes whose outputs are doubtful."""
        self._pending: list[tuple[Graph, str]] = []
        """The values whose readers are still to be looked at."""

    def reason(self, graph: Place, name: str) -> str | None:
        """Return why the value of a graph is doubtful; None if it is not."""
        self._follow()
        if name in self._names.get(graph, ()):
            return FOLLOWS
        return IS_READ if name in self._operands.get(graph, ()) else None

    def add(self, place: Place, *, is_of_operands: bool) -> None:
        """Add the place of a fault. `is_of_operands`: whether an input of the node may be wrong."""
        for each in place.ancestors():
            graph = None if each.parent is None else self._graphs.get(each.parent)
            if graph is None or each.index is None:
                continue
            if each.field == "node":
                self._add_node(graph, each.index)
                if is_of_operands:
                    self._add_operands(graph, each.index)
                return  # those around it follow
            if each.field in ("initializer", "input"):
                names = graph.initializer_names if each.field == "initializer" else graph.input_names
                self._add_value(graph, names[each.index])

    def _add_operands(self, graph: Graph, index: int) -> None:
        for name in graph.node_inputs[index]:
            owner = _owner(graph, name)
            if owner is not None:
                self._operands.setdefault(owner.place, set()).add(name)

    def _add_value(self, graph: Graph, name: str) -> None:
        known = self._names.setdefault(graph.place, set())
        if name and name not in known:
            known.add(name)
            self._pending.append((graph, name))

    def _add_node(self, graph: Graph, index: int) -> None:
        """Add the outputs of a node, of the nodes around it, and of the calls of the functions that have these."""
        nodes = [(graph, index)]
        for own, position in nodes:
            check_deadline()
            known = self._nodes.setdefault(own.place, set())
            if position in known:
                continue
            known.add(position)
            for name in own.node_outputs[position]:
                self._add_value(own, name)
            if own.kind is GraphKind.NESTED and own.parent is not None:
                nodes.append((own.parent, own.position))
            elif own.is_function:
                nodes += self._callers.get(own.place, ())

    def _follow(self) -> None:
        """Add what follows from the values."""
        while self._pending:
            check_deadline()
            graph, name = self._pending.pop()
            for reader, index in self._readers.get(graph.place, {}).get(name, ()):
                self._add_node(reader, index)
                for nested in reader.nested_by_node.get(index, ()):
                    for each in nested.input_names:
                        self._add_value(nested, each)
                body = self._bodies.get((reader.place, index))
                if body is not None:
                    pairs = zip(reader.node_inputs[index], body.input_names, strict=False)
                    for _, parameter in (pair for pair in pairs if pair[0] == name):
                        self._add_value(body, parameter)

    @cached_property
    def _readers(self) -> dict[Place, dict[str, list[tuple[Graph, int]]]]:
        """The nodes that read each value, by its graph and name. Nodes in subgraphs read values of graphs around."""
        found: dict[Place, dict[str, list[tuple[Graph, int]]]] = {}
        for graph in self._graphs.values():
            check_deadline()
            for index, names in enumerate(graph.node_inputs):
                for name in dict.fromkeys(names):
                    owner = _owner(graph, name)
                    if owner is not None:
                        found.setdefault(owner.place, {}).setdefault(name, []).append((graph, index))
        return found

    @cached_property
    def _bodies(self) -> dict[tuple[Place, int], Graph]:
        """The body of the function that a node calls, by the graph and the index of the node."""
        bodies = {graph.function_index: graph for graph in self._graphs.values() if graph.is_function}
        calls = self._model.calls.all
        return {(node.graph.place, node.index): bodies[function.index] for node, function in calls}

    @cached_property
    def _callers(self) -> dict[Place, list[tuple[Graph, int]]]:
        """The calls of a function, by the place of its body."""
        found: dict[Place, list[tuple[Graph, int]]] = {}
        for (place, index), body in self._bodies.items():
            found.setdefault(body.place, []).append((self._graphs[place], index))
        return found


def _owner(graph: Graph, name: str) -> Graph | None:
    """Return the innermost graph that defines a name which is visible in a graph; None without one."""
    each: Graph | None = graph
    while each is not None and name not in each.positions:
        each = each.parent
    return each if name else None
