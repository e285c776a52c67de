# SPDX-License-Identifier: Apache-2.0
"""Graphs in attributes, in order."""

from __future__ import annotations

from support.models.model_samples import GRAPHS, from_text

from onnx_lint.model import Model


def _graphs(model: Model) -> dict[str, tuple[str, str]]:
    return {graph.name: (graph.kind.value, str(graph.place)) for graph in model.graphs}


def test_every_graph_is_found_in_order():
    branch = "graph.node[1].attribute"
    assert list(_graphs(from_text(GRAPHS)).items()) == [
        ("main", ("main graph", "graph")),
        ("then", ("subgraph", f"{branch}[0].g")),
        ("body", ("subgraph", f"{branch}[0].g.node[0].attribute[0].g")),
        ("else", ("subgraph", f"{branch}[1].g")),
        ("F", ("function body", "functions[0]")),
        ("in function", ("subgraph", "functions[0].node[0].attribute[0].g")),
        ("default", ("subgraph", "functions[0].attribute_proto[0].g")),
        ("start", ("initialization graph", "training_info[0].initialization")),
        ("step", ("training algorithm", "training_info[0].algorithm")),
    ]
