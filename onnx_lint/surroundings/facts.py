# SPDX-License-Identifier: Apache-2.0
"""The known types and shapes of the inputs of a node, for findings about types or shapes."""

from __future__ import annotations

from typing import Final

from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.inference.types.type_string import tensor_element
from onnx_lint.model import Model
from onnx_lint.report import ContextLine, Diagnostic
from onnx_lint.surroundings.lines import Site
from onnx_lint.surroundings.sheet import CUT
from onnx_lint.wording import describe_shape, typed

_TOPICS: Final = frozenset({"shape", "shapes", "type", "types", "operand", "extent", "dimension"})
"""The words in the names of rules that are about types or shapes."""

_MOST_VALUES: Final = 8


def types_line(diagnostic: Diagnostic, site: Site, model: Model) -> ContextLine | None:
    """Return a comment with the types of the inputs of a node, in their order: `# (float[N, 64], float[64, 10])`.

    None if the finding is not about types or shapes. Nothing is inferred unless a rule has already needed it.
    """
    if _TOPICS.isdisjoint(diagnostic.rule.split("-")) or "value_flow" not in vars(model):
        return None
    if site.step is None or site.step[0] != "node" or site.element is None:
        return None
    graph = next((graph for graph in model.graphs if graph.place.key == site.key), None)
    names = site.element[1].input[:_MOST_VALUES]
    known = [type_of(model.value_flow.fact_of(name, graph)) if name else "-" for name in names]
    if set(known) <= {"", "-"}:
        return None
    more = [CUT] * (len(site.element[1].input) > _MOST_VALUES)
    return ContextLine("", f"# ({', '.join([each or '?' for each in known] + more)})")


def type_of(fact: Fact) -> str:
    """Return the type of a value with its shape, such as `float[2, N]`; empty if it is unknown."""
    element = tensor_element(fact.kind)
    if element is not None:
        return typed(element, fact.shape)
    return fact.kind or ("" if fact.shape is None else describe_shape(fact.shape))
