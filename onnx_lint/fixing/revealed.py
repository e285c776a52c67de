# SPDX-License-Identifier: Apache-2.0
"""Decides whether a fix has revealed a finding: whether the value that the finding is about was unknown before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.operators import OperatorStatus
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold

_Gap = tuple[str, tuple[str, ...]]
"""Values that stay unknown: the rule of the finding that is the cause, or "" for an unknown operator; their names."""


def revealed_by(before: Model, old: FileReport, after: Model, new: FileReport) -> Callable[[Diagnostic], bool]:
    """Return a function that decides whether a finding about values of `after` could not be found in `before`.

    Nothing is inferred from a node with a violation, or of an unknown operator. If a fix closes such a gap, the values
    that follow from the node become known, and their faults are reported. Values of one name in several graphs are
    taken for one value.
    """
    gaps = set(_gaps(before, old))
    closed = gaps.difference(_gaps(after, new))
    known_since = _following(after, {name for _, outputs in closed for name in outputs})
    graphs = {graph.place.key: graph for graph in after.graphs}
    return lambda finding: not known_since.isdisjoint(_values_at(finding.at.key, graphs))


def _gaps(model: Model, report: FileReport) -> Iterator[_Gap]:
    graphs = {graph.place.key: graph for graph in model.graphs}
    for item in unfold(report.diagnostics):
        placed = (item, *item.related) if item.collective else (item,)
        if item.is_violation:
            yield from ((item.rule, tuple(_values_at(each.at.key, graphs))) for each in placed)
    for graph in model.graphs:
        for form in graph.form_counts:
            status = model.operators.operator_in(graph, form).status
            if status not in (OperatorStatus.KNOWN, OperatorStatus.FUNCTION):
                yield from (("", node.outputs) for node in graph.nodes_of((form,)))


def _values_at(key: PlaceKey, graphs: dict[PlaceKey, Graph]) -> Iterable[str]:
    """Return the values that a finding is about: the outputs of its node, or what an entry of a graph declares."""
    depth = next((depth for depth in range(len(key) - 1, -1, -1) if key[:depth] in graphs), None)
    if depth is None:
        return ()
    graph, (field, index) = graphs[key[:depth]], key[depth]
    if index is None:
        return ()
    if field == "node":
        return filter(None, graph.node_outputs[index]) if index < len(graph.node_outputs) else ()
    names = graph.value_infos[field].names if field in graph.value_infos else ()
    inner = names[index : index + 1]
    holder = _holder(graph) if field != "value_info" else None
    return (*inner, *(holder.outputs if holder is not None else ()))


def _holder(graph: Graph) -> Node | None:
    """Return the node that has the graph in an attribute, if there is one."""
    around = graph.parent.nodes if graph.parent is not None else ()
    return around[graph.position] if graph.position < len(around) else None


def _following(model: Model, seeds: set[str]) -> set[str]:
    """Return the names of the values that depend on `seeds`, through all nodes, subgraphs and functions."""
    found = set(seeds)
    size = 0
    while found and len(found) > size:
        size = len(found)
        for graph in model.graphs:
            for inputs, outputs in zip(graph.node_inputs, graph.node_outputs, strict=True):
                if not found.isdisjoint(inputs):
                    found.update(outputs)
            if (holder := _holder(graph)) is not None:
                _pass_on(found, holder, graph)
        for node, function in model.calls.all:
            _pass_on(found, node, function.body)
        found.discard("")
    return found


def _pass_on(found: set[str], node: Node, graph: Graph) -> None:
    """Add the graph's inputs if `found` has a value of the node, and the node's outputs if it has one of the graph."""
    if not found.isdisjoint((*node.inputs, *node.outputs)):
        found.update(graph.input_names)
    if not found.isdisjoint(graph.output_names):
        found.update(node.outputs)
