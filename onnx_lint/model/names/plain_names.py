# SPDX-License-Identifier: Apache-2.0
"""Tells graphs whose lists of names need no closer look from others; nearly all are such."""

from __future__ import annotations

from onnx_lint.model.graph import Graph, GraphKind


def has_plain_names(graph: Graph) -> bool:
    """Whether each list of the graph names each of its values once, and nodes have names of their own, or none.

    The lists are inputs, initializers, outputs and value_info; what the last names has to be a value of the graph. What
    stands in no graph, and a training algorithm, which shares names with the inference graph, is not plain.
    """
    if graph.kind in _SPECIAL or graph.has_repeated_node_names or graph.has_redefinitions:
        return False
    # Most functions have no value_info, nor may they have initializers.
    value_infos = graph.value_info_names if graph.proto.value_info else []
    return (
        all(map(_is_plain, (graph.input_names, graph.output_names, value_infos)))
        and (graph.is_function or _is_plain([*graph.initializer_names, *graph.sparse_initializer_names]))
        and graph.positions.keys() >= set(value_infos)
    )


_SPECIAL = frozenset({GraphKind.FILE, GraphKind.ALGORITHM})


def _is_plain(names: list[str]) -> bool:
    return len(set(names)) == len(names) and "" not in names
