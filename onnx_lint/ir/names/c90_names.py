# SPDX-License-Identifier: Apache-2.0
"""Edits that make C90 identifiers of the names inside a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Final

from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.names.plain_names import is_c90, not_c90
from onnx_lint.ir.places.edits import Assign

if TYPE_CHECKING:
    from onnx_lint.ir.names.renaming import FreshNames

_OTHER: Final = "[^A-Za-z0-9_]"
"""What most runs do not need is not compiled at the import."""


def as_c90(name: str) -> str:
    """Return a name with underscores for all other characters, and with a letter before a leading digit."""
    found = re.sub(_OTHER, "_", name)
    return f"n{found}" if found[:1].isdigit() else found


def has_c90_edits(graphs: Iterable[Graph]) -> bool:
    """Return true if a name can be changed, see `c90_edits`. No new name is made for that: it could take long."""
    return any(map(_has_edits, graphs))


def _has_edits(graph: Graph) -> bool:
    names = chain(graph.node_names, () if graph.is_function else (graph.name,))
    return any(not is_c90(name) for name in names if name) or bool(_renamable(graph))


def c90_edits(graphs: Iterable[Graph]) -> Iterator[Assign]:
    """Yield the edits that make C90 identifiers of the names of values, nodes and graphs.

    The inputs and outputs of main graphs and functions keep their names, as do functions, operators and attributes.
    """
    from onnx_lint.ir.names.renaming import FreshNames

    of_scope: dict[int | None, list[Graph]] = {}
    for graph in graphs:
        of_scope.setdefault(None if graph.function is None else graph.function.index, []).append(graph)
    graph_names: FreshNames | None = None
    for scope in of_scope.values():
        yield from _nodes(scope)
        yield from _values(scope)
        for graph in scope:
            if not graph.is_function and graph.name and not is_c90(graph.name):
                everything = (each.name for graphs in of_scope.values() for each in graphs)
                graph_names = graph_names or FreshNames(everything)
                yield Assign(graph.at("name"), graph_names.like(as_c90(graph.name)))


def _nodes(graphs: list[Graph]) -> Iterator[Assign]:
    from onnx_lint.ir.names.renaming import FreshNames

    fresh: FreshNames | None = None
    for graph in graphs:
        for index, name in enumerate(graph.node_names):
            if name and not is_c90(name):
                fresh = fresh or FreshNames(name for each in graphs for name in each.node_names)
                yield Assign(graph.at("node", index).at("name"), fresh.like(as_c90(name)))


def _values(graphs: list[Graph]) -> Iterator[Assign]:
    from onnx_lint.ir.names.renaming import FreshNames, renaming, value_names

    fresh: FreshNames | None = None
    for graph in graphs:
        wrong = _renamable(graph)
        if wrong:
            fresh = fresh or FreshNames(value_names(graphs))
            names: Mapping[str, str] = {name: fresh.like(as_c90(name)) for name in wrong}
            yield from renaming(graph, names)


def _renamable(graph: Graph) -> list[str]:
    """Return the values of a graph whose names are no identifiers; none if these cannot all be changed."""
    kept = () if graph.kind is GraphKind.NESTED else {*graph.input_names, *graph.output_names}
    wrong = [name for name in not_c90(graph.positions) if name not in kept]
    if not wrong:
        return []
    from onnx_lint.ir.names.renaming import can_be_renamed

    return wrong if can_be_renamed(graph, dict.fromkeys(wrong, "")) else []
