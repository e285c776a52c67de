# SPDX-License-Identifier: Apache-2.0
"""Strongly connected components and shortest ways of a directed graph, given as the followers of each number."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, MutableSequence, Sequence
from itertools import accumulate
from typing import overload


def _numbers(count: int, number: int) -> MutableSequence[int]:
    """Return an array with that many copies of the number, in eight bytes each."""
    return array("q", [number]) * count


class Digraph(Sequence[Collection[int]]):
    """The followers of each number, in the order of the edges.

    They are in two arrays, since a list for each number would take ten times as much memory.
    """

    __slots__ = ("ends", "followers")

    def __init__(self, count: int, edges: Callable[[], Iterable[tuple[int, int]]]) -> None:
        """`edges`: returns the edges, the same at each call, each from a number below `count` to its follower."""
        counts = _numbers(count, 0)
        for start, _ in edges():
            counts[start] += 1
        self.ends = _numbers(count, 0)
        """The end of the followers of each number; they begin at the end of those of the number before it."""
        free = counts  # from here on the next free position for a follower of each number, in the same memory
        for number, end in enumerate(accumulate(counts)):
            self.ends[number] = end
            free[number] = end - counts[number]
        self.followers = _numbers(self.ends[-1] if count else 0, 0)
        for start, follower in edges():
            self.followers[free[start]] = follower
            free[start] += 1

    def begin(self, number: int) -> int:
        """Return the index of the first follower of a number."""
        return self.ends[number - 1] if number else 0

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> Collection[int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Collection[int]]: ...
    def __getitem__(self, index: int | slice) -> Collection[int] | Sequence[Collection[int]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self.followers[self.begin(index) : self.ends[index]]


def digraph(followers: Sequence[Collection[int]]) -> Digraph:
    """Return the graph with these followers."""
    return Digraph(len(followers), lambda: ((start, end) for start, ends in enumerate(followers) for end in ends))


def strong_components(graph: Digraph) -> Sequence[int]:
    """Return the number of the strongly connected component of each node (Tarjan's algorithm, without recursion).

    An edge to another component leads to a lower number.
    """
    count, ends, followers = len(graph), graph.ends, graph.followers
    order, low, component = _numbers(count, -1), _numbers(count, 0), _numbers(count, -1)
    upcoming = _numbers(count, 0)
    """The position, for each node, of the next follower to visit."""
    open_nodes: list[int] = []
    visited = components = 0
    for root in range(count):
        work = [root] if order[root] < 0 else []
        while work:
            node = work[-1]
            if order[node] < 0:
                order[node] = low[node] = visited
                upcoming[node] = graph.begin(node)
                visited += 1
                open_nodes.append(node)
            position, end = upcoming[node], ends[node]
            while position < end and order[followers[position]] >= 0:
                position += 1
            upcoming[node] = position
            if position < end:
                work.append(followers[position])
                continue
            work.pop()
            for other in graph[node]:
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
    """Return the nodes of a shortest way from `start` to `goal`, both included; empty if there is none.

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
