# SPDX-License-Identifier: Apache-2.0
"""Components of directed graphs, and the shortest way through one."""

from __future__ import annotations

from onnx_lint.ir.names.digraph import digraph, shortest_way, strong_components


def test_components_and_ways():
    followers = [[1], [2], [0, 3], [4], [3], []]
    component = strong_components(digraph(followers))
    assert [[component[a] == component[b] for b in range(6)] for a in range(6)] == [
        [a == b or {a, b} <= {0, 1, 2} or {a, b} <= {3, 4} for b in range(6)] for a in range(6)
    ]
    assert shortest_way(followers, 0, 4) == [0, 1, 2, 3, 4]
    assert shortest_way(followers, 4, 0) == []
    assert shortest_way(followers, 5, 5) == [5]
