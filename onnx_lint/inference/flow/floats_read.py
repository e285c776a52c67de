# SPDX-License-Identifier: Apache-2.0
"""Finds the values whose floating-point elements may decide a shape, so that those of weights are not followed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Set
from typing import Final

from onnx_lint.inference.shapes.attribute_values import READ_FLOAT_ELEMENTS
from onnx_lint.inference.shapes.contents import CONTENT_RULES, ContentRule
from onnx_lint.ir.columns.nodes import NodeForm, NodeTable
from onnx_lint.ir.graph import Graph

_ALL: Final = ContentRule(lambda node, shapes: (), sys.maxsize, 0)
"""Any input may decide a shape, and any output may have known elements."""

_ALL_READ: Final = READ_FLOAT_ELEMENTS | {
    *("ConcatFromSequence", "Optional", "OptionalGetElement", "SequenceAt", "SequenceConstruct", "SequenceInsert")
}
"""Operators whose shapes depend on elements, and those that return what was put into a sequence or an optional."""


def floats_read(roots: Iterable[Graph], called: Set[str]) -> set[str]:
    """Return the values whose elements a node of these graphs, or of those nested in them, may read to decide a shape.

    An operation on elements makes known ones only of known ones: a bias that is added to an activation decides nothing.
    `called` are the names of functions. Values with one name count as one, wherever they are.
    """
    read: set[str] = set()
    known = {""}
    graphs = list(roots)
    reading = _ALL_READ | called
    for graph in graphs:
        graphs += graph.nested
        known.update(graph.initializer_names)
        if graph.early_uses and graph.parent is None:
            read.update(graph.initializer_names)  # the nodes have another order
        if graph.parent is not None or graph.is_function:
            known.update(graph.input_names)
        table = graph.table
        kinds = {
            form: _ALL if form.op_type in reading else CONTENT_RULES.get(form.op_type) for form in graph.form_counts
        }
        kinds.update({table.forms[index]: _ALL for index in graph.nested_by_node if index < len(table.forms)})
        _follow_nodes(table, kinds, known, read)
    return read


def _follow_nodes(
    table: NodeTable, kinds: Mapping[NodeForm, ContentRule | None], known: set[str], read: set[str]
) -> None:
    """Add to `known` the values that may have known elements after the nodes of a graph, and to `read` those they read.

    `kinds` are the forms of the nodes, each with what its operator makes of elements.
    """
    for form, inputs, outputs in zip(table.forms, table.inputs, table.outputs, strict=True):
        contents = kinds[form]
        if contents is None:
            continue
        given = inputs[: contents.reads]
        if contents.needs_all:
            if not known.issuperset(given):
                continue
        elif contents is not _ALL and given and known.isdisjoint(given):
            continue
        read.update(given)
        known.update(outputs)


def constants_among(read: Set[str], roots: Iterable[Graph]) -> set[NodeForm]:
    """Return the forms of the Constants in these graphs, or in those nested in them, that have one of the outputs."""
    found: set[NodeForm] = set()
    graphs = list(roots) if read else []
    for graph in graphs:
        graphs += graph.nested
        table = graph.table
        pairs = zip(table.forms, table.outputs, strict=True)
        found.update([form for form, outputs in pairs if form.op_type == "Constant" and not read.isdisjoint(outputs)])
    return found
