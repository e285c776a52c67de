# SPDX-License-Identifier: Apache-2.0
"""Which domains the nodes have, for the rules that hold imports against them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from onnx_lint.model.graph import Graph
from onnx_lint.spec.releases import normalized_domain


def count_domains(graphs: Iterable[Graph]) -> dict[int | None, Counter[str]]:
    """How many nodes have which domain: for each function by its index, and outside of functions under None.

    Nodes of nested graphs count to the function around them. The default domain is empty, however it is spelt.
    """
    counts: dict[int | None, Counter[str]] = {None: Counter()}
    for graph in graphs:
        owner = counts.setdefault(graph.function.index if graph.function is not None else None, Counter())
        for domain, count in Counter(node.domain for node in graph.nodes).items():
            owner[normalized_domain(domain)] += count
    return counts
