# SPDX-License-Identifier: Apache-2.0
"""Quick tests that nearly all graphs and names pass, so that the full checks are skipped."""

from __future__ import annotations

from collections.abc import Collection
from itertools import filterfalse

from onnx_lint.ir.graph import Graph, GraphKind


def is_c90(name: str) -> bool:
    """Return whether the name is a C90 identifier. These are the identifiers of Python that are ASCII."""
    return name.isidentifier() and name.isascii()


def not_c90(names: Collection[str]) -> list[str]:
    """Return the names that are not C90 identifiers, in order, without empty ones."""
    wrong = filterfalse(str.isidentifier if all(map(str.isascii, names)) else is_c90, names)
    return list(filter(None, wrong))


def has_plain_names(graph: Graph) -> bool:
    """Return whether no list of the graph repeats a name, no two nodes share a name, and no value is defined twice.

    The lists are inputs, initializers, outputs and value_info. The names in value_info must be values of the graph.
    False for a file without a graph, and for a training algorithm, which shares names with the inference graph.
    """
    kind = graph.kind
    if kind is GraphKind.FILE or kind is GraphKind.ALGORITHM:
        return False
    if graph.table.has_redefinitions or graph.has_repeated_node_names:
        return False
    # A function has no initializers. Most have no value_info either, so that no names need to be read.
    value_infos = graph.value_info_names if not graph.is_function or graph.proto.value_info else []
    lists = [graph.input_names, graph.output_names, value_infos]
    if not graph.is_function:
        sparse = graph.sparse_initializer_names
        lists.append([*graph.initializer_names, *sparse] if sparse else graph.initializer_names)
    for names in lists:
        if names and (len(set(names)) != len(names) or "" in names):
            return False
    return not value_infos or graph.positions.keys() >= set(value_infos)


def repeats_outputs(graph: Graph) -> bool:
    """Return whether a graph lists an output twice, or a training algorithm lists one of the inference graph."""
    names = graph.output_names
    if graph.kind is GraphKind.ALGORITHM and graph.parent is not None:
        names = [*graph.parent.output_names, *names]
    return len(set(names)) != len(names)
