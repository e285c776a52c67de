# SPDX-License-Identifier: Apache-2.0
"""Adds to findings the lines around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import replace
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.inference.types.type_string import tensor_element
from onnx_lint.ir.places.place import place_of
from onnx_lint.model import Model
from onnx_lint.model.model import has_inferred_shapes
from onnx_lint.report.findings import ContextLine, Diagnostic
from onnx_lint.surroundings.line_writer import CUT
from onnx_lint.surroundings.lines import Site, line_of, node_before, site_of
from onnx_lint.wording import describe_shape, typed

PER_RULE: Final = 100
MAX_FINDINGS: Final = 300
"""The number of findings of a file that get surroundings."""

_WORK: Final = "showing the model around a finding"

_MAX_RELATED: Final = 3
"""The number of related places that have a line."""

_TOPICS: Final = frozenset({"shape", "shapes", "type", "types", "operand", "extent", "dimension"})
"""The words in the names of rules that are about types or shapes."""

_MAX_VALUES: Final = 8

_DECLARATIONS: Final = frozenset({"input", "initializer", "sparse_initializer", "value_info", "output"})


def with_surroundings(
    diagnostics: Sequence[Diagnostic], model: Model, without_lines: Set[str]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics, the first ones of each rule and clause with the lines around them.

    `without_lines`: rules whose findings are about bytes.
    """
    chosen = worst_of_each(diagnostics, PER_RULE, MAX_FINDINGS)
    chosen -= {index for index, found in enumerate(diagnostics) if found.rule in without_lines}
    shown = list(diagnostics)
    for index in sorted(chosen):
        check_deadline()
        with model.crashes.at(_WORK, shown[index].at):
            shown[index] = replace(shown[index], context=surroundings(shown[index], model))
    return tuple(shown)


def worst_of_each(diagnostics: Sequence[Diagnostic], per_rule: int, most: int) -> frozenset[int]:
    """Return the indices of the first `per_rule` of each rule and clause, at most `most` in all.

    The first of each come before the second ones, and of these errors before warnings.
    """
    counts: Counter[tuple[str, str]] = Counter()
    order: list[tuple[int, int, int]] = []
    for index in sorted(range(len(diagnostics)), key=lambda index: -diagnostics[index].severity):
        item = diagnostics[index]
        counts[item.rule, item.clause] += 1
        order.append((counts[item.rule, item.clause], -item.severity, index))
    return frozenset(index for number, _, index in sorted(order)[:most] if number <= per_rule)


def surroundings(diagnostic: Diagnostic, model: Model) -> tuple[ContextLine, ...]:
    """Return the lines around a finding and its related places; nothing if the bytes are not a model."""
    if not model.loaded:
        return ()
    site = site_of(diagnostic.at, model)
    related = [site_of(other.at, model) for other in diagnostic.related[:_MAX_RELATED]]
    others = {other.line: other for other in related if other is not None and (site is None or other.line != site.line)}
    is_of_names = diagnostic.at.field == "name"
    lines: list[ContextLine] = []
    if site is not None:
        before = node_before(site, model)
        if before is not None:
            is_related = others.pop(before.line, None) is not None
            lines.append(_unmarked(line_of(before, with_name=is_related and is_of_names)))
        lines.append(line_of(site))
        if (known := _types_line(diagnostic, site, model)) is not None:
            lines.append(known)
            others = {line: other for line, other in others.items() if not _is_declaration(other)}
    lines += [_unmarked(line_of(other, with_name=is_of_names), _elsewhere(other, site)) for other in others.values()]
    return tuple(lines)


def _types_line(diagnostic: Diagnostic, site: Site, model: Model) -> ContextLine | None:
    """Return a comment with the types of the inputs of a node, in their order: `# (float[N, 64], float[64, 10])`.

    None if the finding is not about types or shapes. Nothing is inferred unless a rule has already needed it.
    """
    if _TOPICS.isdisjoint(diagnostic.rule.split("-")) or not has_inferred_shapes(model):
        return None
    if site.step is None or site.step[0] != "node" or site.element is None:
        return None
    graph = next((graph for graph in model.graphs if graph.place.key == site.key), None)
    names = site.element[1].input
    known = [type_of(model.value_flow.fact_of(name, graph)) if name else "-" for name in names[:_MAX_VALUES]]
    if set(known) <= {"", "-"}:
        return None
    types = [each or "?" for each in known]
    if len(names) > _MAX_VALUES:
        types.append(CUT)
    return ContextLine("", f"# ({', '.join(types)})")


def type_of(fact: Fact) -> str:
    """Return the type of a value with its shape, such as `float[2, N]`; empty if it is unknown."""
    element = tensor_element(fact.kind)
    if element is not None:
        return typed(element, fact.shape)
    return fact.kind or ("" if fact.shape is None else describe_shape(fact.shape))


def _unmarked(line: ContextLine, comment: str = "") -> ContextLine:
    return ContextLine(line.label, f"{line.text}{comment}")


def _is_declaration(site: Site) -> bool:
    """Return whether the line has no more than name and type of a value, which the line of types has as well."""
    return site.step is not None and site.step[0] in _DECLARATIONS


def _elsewhere(other: Site, site: Site | None) -> str:
    """Return a comment with the graph of a related line in another graph; empty for a header, which names the graph."""
    if other.step is None or site is None or other.key == site.key or not other.key:
        return ""
    return f"  # in {place_of(other.key)}"
