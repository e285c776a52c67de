# SPDX-License-Identifier: Apache-2.0
"""Strongly connected components and shortest ways of a directed graph, given as the followers of each number."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate
from typing import overload


class Digraph(Sequence[Collection[int]]):
    """The followers of each number, in the order of the edges.

    They stand in two arrays, since a list for each number takes up ten times as much.
    """

    __slots__ = ("_ends", "_followers")

    def __init__(self, count: int, edges: Callable[[], Iterable[tuple[int, int]]]) -> None:
        """`edges`: gives the edges, each from a number below `count` to its follower, and the same each time."""
        from array import array  # late, as few models have nodes out of order

        numbers = array("q", bytes(8 * count))
        for start, _ in edges():
            numbers[start] += 1
        self._ends = array("q", accumulate(numbers))
        self._followers = array("q", bytes(8 * (self._ends[-1] if count else 0)))
        free = array("q", (end - number for end, number in zip(self._ends, numbers, strict=True)))
        for start, follower in edges():
            self._followers[free[start]] = follower
            free[start] += 1

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> Collection[int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Collection[int]]: ...
    def __getitem__(self, index: int | slice) -> Collection[int] | Sequence[Collection[int]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._followers[self._ends[index - 1] if index else 0 : self._ends[index]]


def strong_components(followers: Sequence[Collection[int]]) -> list[int]:
    """The number of the strongly connected component of each node (Tarjan's algorithm, without recursion)."""
    count = len(followers)
    order, low, component = [-1] * count, [0] * count, [-1] * count
    open_nodes: list[int] = []
    visited = components = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        if not followers[root]:
            # Most functions call none; a component of its own, and none of the work below.
            order[root], component[root] = visited, components
            visited += 1
            components += 1
            continue
        work = [(root, iter(followers[root]))]
        while work:
            node, following = work[-1]
            if order[node] < 0:
                order[node] = low[node] = visited
                visited += 1
                open_nodes.append(node)
            child = next((other for other in following if order[other] < 0), None)
            if child is not None:
                work.append((child, iter(followers[child])))
                continue
            work.pop()
            for other in followers[node]:
                if component[other] < 0:
                    low[node] = min(low[node], low[other])
            if low[node] == order[node]:
                while True:
                    member = open_nodes.pop()
                    component[member] = components
                    if member == node:
                        break
                components += 1
    return component


def shortest_way(followers: Sequence[Collection[int]], start: int, goal: int) -> list[int]:
    """The nodes of a shortest way from `start` to `goal`, both included; empty when there is none.

    A way from a node to itself is that one node.
    """
    came_from: dict[int, int] = {start: start}
    queue = deque([start])
    while goal not in came_from:
        if not queue:
            return []
        node = queue.popleft()
        for other in followers[node]:
            if other not in came_from:
                came_from[other] = node
                queue.append(other)
    way = [goal]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    way.reverse()
    return way
