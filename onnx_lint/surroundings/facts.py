# SPDX-License-Identifier: Apache-2.0
"""The known types and shapes of the inputs of a node, for findings about types or shapes."""

from __future__ import annotations

from typing import Final

from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.graph import Graph
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic
from onnx_lint.surroundings.lines import MOST_CHARACTERS, Site
from onnx_lint.surroundings.sheet import Sheet, cut_around
from onnx_lint.surroundings.types import write_shape
from onnx_lint.surroundings.words import write_name

_TOPICS: Final = frozenset({"shape", "shapes", "type", "types", "operand", "extent", "dimension"})
"""The words in the names of rules that are about types or shapes."""

_MOST_VALUES: Final = 8


def known_types(diagnostic: Diagnostic, site: Site, model: Model) -> str | None:
    """Return a comment with the known types of the node's inputs; None if the finding is not about types or shapes.

    Nothing is inferred for it unless a rule has already needed it.
    """
    if _TOPICS.isdisjoint(diagnostic.rule.split("-")) or "value_flow" not in vars(model):
        return None
    if site.step is None or site.step[0] != "node" or site.element is None:
        return None
    graph = next((graph for graph in model.graphs if graph.place.key == site.key), None)
    names = dict.fromkeys(name for name in site.element[1].input[:_MOST_VALUES] if name)
    facts = ((name, _fact(name, graph, model)) for name in names)
    known = [(name, fact) for name, fact in facts if fact.kind is not None]
    if not known:
        return None
    sheet = Sheet()
    sheet.write("# ")
    for index, (name, fact) in enumerate(known):
        if index:
            sheet.write(", ")
        _write_fact(sheet, name, fact)
    return cut_around(sheet.text, None, MOST_CHARACTERS)[0]


def _fact(name: str, graph: Graph | None, model: Model) -> Fact:
    main = graph is None or graph.place.key == model.main_graph.place.key
    return model.value_flow.fact_of(name, None if main else graph)


def _write_fact(sheet: Sheet, name: str, fact: Fact) -> None:
    kind = fact.kind or ""
    if kind.startswith("tensor("):
        sheet.write(kind[len("tensor(") : -1])
        if fact.shape is None:
            sheet.write("[]")
        else:
            write_shape(sheet, fact.shape)
    else:
        sheet.write(kind.replace("tensor(", "(") if "sparse" not in kind else kind)
    sheet.write(" ")
    write_name(sheet, name)
