# SPDX-License-Identifier: Apache-2.0
"""Edits that make C90 identifiers of the names inside a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
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


_Only = Mapping[Graph, Set[str]] | None
"""The names of each graph that may be changed; None for all of them."""


def has_c90_edits(graphs: Iterable[Graph], only: _Only = None) -> bool:
    """Return true if a name can be changed, see `c90_edits`. No new name is made for that: it could take long."""
    return any(_has_edits(graph, only) for graph in graphs)


def _has_edits(graph: Graph, only: _Only) -> bool:
    names = chain(graph.node_names, () if graph.is_function else (graph.name,))
    return any(_is_changed(name, graph, only) for name in names) or bool(_renamable(graph, only))


def _is_changed(name: str, graph: Graph, only: _Only) -> bool:
    return bool(name) and (only is None or name in only.get(graph, ())) and not is_c90(name)


def c90_edits(graphs: Iterable[Graph], only: _Only = None) -> Iterator[Assign]:
    """Yield the edits that make C90 identifiers of the names of values, nodes and graphs.

    The inputs and outputs of main graphs and functions keep their names, as do functions, operators and attributes.
    `only`: the names of each graph to change, if not all.
    """
    from onnx_lint.ir.names.renaming import FreshNames

    of_scope: dict[int | None, list[Graph]] = {}
    for graph in graphs:
        of_scope.setdefault(graph.function_index, []).append(graph)
    graph_names: FreshNames | None = None
    for scope in of_scope.values():
        yield from _nodes(scope, only)
        yield from _values(scope, only)
        for graph in scope:
            if not graph.is_function and _is_changed(graph.name, graph, only):
                everything = (each.name for graphs in of_scope.values() for each in graphs)
                graph_names = graph_names or FreshNames(everything)
                yield Assign(graph.at("name"), graph_names.like(as_c90(graph.name)))


def _nodes(graphs: list[Graph], only: _Only) -> Iterator[Assign]:
    from onnx_lint.ir.names.renaming import FreshNames

    fresh: FreshNames | None = None
    for graph in graphs:
        for index, name in enumerate(graph.node_names):
            if _is_changed(name, graph, only):
                fresh = fresh or FreshNames(name for each in graphs for name in each.node_names)
                yield Assign(graph.at("node", index).at("name"), fresh.like(as_c90(name)))


def _values(graphs: list[Graph], only: _Only) -> Iterator[Assign]:
    from onnx_lint.ir.names.renaming import FreshNames, renaming, value_names

    fresh: FreshNames | None = None
    for graph in graphs:
        wrong = _renamable(graph, only)
        if wrong:
            fresh = fresh or FreshNames(value_names(graphs))
            names: Mapping[str, str] = {name: fresh.like(as_c90(name)) for name in wrong}
            yield from renaming(graph, names)


def _renamable(graph: Graph, only: _Only) -> list[str]:
    """Return the values of a graph whose names are no identifiers; none if these cannot all be changed."""
    kept = () if graph.kind is GraphKind.NESTED else {*graph.input_names, *graph.output_names}
    chosen = graph.positions if only is None else [name for name in graph.positions if name in only.get(graph, ())]
    wrong = [name for name in not_c90(chosen) if name not in kept]
    if not wrong:
        return []
    from onnx_lint.ir.names.renaming import can_be_renamed

    return wrong if can_be_renamed(graph, dict.fromkeys(wrong, "")) else []
