# SPDX-License-Identifier: Apache-2.0
"""Tells graphs whose lists of names need no closer look from others; nearly all are such."""

from __future__ import annotations

from onnx_lint.ir.graph import Graph, GraphKind


def has_plain_names(graph: Graph) -> bool:
    """Whether each list of the graph names each of its values once, and nodes have names of their own, or none.

    The lists are inputs, initializers, outputs and value_info; what the last names has to be a value of the graph. What
    stands in no graph, and a training algorithm, which shares names with the inference graph, is not plain.
    """
    kind = graph.kind
    if kind is GraphKind.FILE or kind is GraphKind.ALGORITHM:
        return False
    if graph.table.has_redefinitions or graph.has_repeated_node_names:
        return False
    # Most functions have no value_info, nor may they have initializers.
    value_infos = graph.value_info_names if not graph.is_function or graph.proto.value_info else []
    lists = [graph.input_names, graph.output_names, value_infos]
    if not graph.is_function:
        sparse = graph.sparse_initializer_names
        lists.append([*graph.initializer_names, *sparse] if sparse else graph.initializer_names)
    for names in lists:
        if names and (len(set(names)) != len(names) or "" in names):
            return False
    return not value_infos or graph.positions.keys() >= set(value_infos)
