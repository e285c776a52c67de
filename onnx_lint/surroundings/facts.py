# SPDX-License-Identifier: Apache-2.0
"""The known types and shapes of the inputs of a node, for findings about types or shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.graph import Graph
from onnx_lint.model import Model
from onnx_lint.report import ContextLine, Diagnostic
from onnx_lint.surroundings.lines import MOST_CHARACTERS, Site
from onnx_lint.surroundings.sheet import Sheet, cut_around
from onnx_lint.surroundings.types import write_shape
from onnx_lint.surroundings.words import write_name

_TOPICS: Final = frozenset({"shape", "shapes", "type", "types", "operand", "extent", "dimension"})
"""The words in the names of rules that are about types or shapes."""

_MOST_VALUES: Final = 8


def types_around(diagnostic: Diagnostic, site: Site, model: Model) -> Callable[[str], str] | None:
    """Return a function from the names of values to their types; None if the finding is not about types or shapes.

    Nothing is inferred for it unless a rule has already needed it.
    """
    if _TOPICS.isdisjoint(diagnostic.rule.split("-")) or "value_flow" not in vars(model):
        return None
    if site.step is None or site.step[0] != "node" or site.element is None:
        return None
    graph = next((graph for graph in model.graphs if graph.place.key == site.key), None)

    def type_of(name: str) -> str:
        sheet = Sheet()
        _write_fact(sheet, _fact(name, graph, model))
        return sheet.text

    return type_of


def types_line(site: Site, type_of: Callable[[str], str]) -> ContextLine | None:
    """Return a comment with the types of the inputs of a node; None if all are unknown."""
    sheet = Sheet()
    names = dict.fromkeys(name for name in site.element[1].input[:_MOST_VALUES] if name) if site.element else ()
    for name in names:
        if known := type_of(name):
            sheet.write(f", {known} " if sheet.text else f"# {known} ")
            write_name(sheet, name)
    return cut_around(ContextLine("", sheet.text), MOST_CHARACTERS) if sheet.text else None


def _fact(name: str, graph: Graph | None, model: Model) -> Fact:
    main = graph is None or graph.place.key == model.main_graph.place.key
    return model.value_flow.fact_of(name, None if main else graph)


def _write_fact(sheet: Sheet, fact: Fact) -> None:
    kind = fact.kind or ""
    if kind.startswith("tensor("):
        sheet.write(kind[len("tensor(") : -1])
        if fact.shape is None:
            sheet.write("[]")
        else:
            write_shape(sheet, fact.shape)
    else:
        sheet.write(kind.replace("tensor(", "(") if "sparse" not in kind else kind)
