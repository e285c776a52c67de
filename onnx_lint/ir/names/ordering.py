# SPDX-License-Identifier: Apache-2.0
"""Finds the topological order of a graph's nodes that moves the fewest of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.digraph import Digraph
from onnx_lint.ir.names.resolution import Resolution, dependencies
from onnx_lint.ir.places.edits import Fix, Move

NodeMove = tuple[int, int]
"""The number of a node, and that of the node before which it moves; the number of all nodes moves it to the end."""


def moves_into_order(graph: Graph) -> list[NodeMove] | None:
    """Return the moves that put the nodes of the graph into topological order; all other nodes stay.

    None if the nodes form a cycle, and if a name has more than one definition, so that the order decides its meaning.
    """
    order = topological_order(graph)
    if order is None:
        return None
    needs = Digraph(len(order), lambda: ((user, producer) for producer, user in dependencies(graph)))
    # Each order may move few nodes while the other one moves many.
    return min(_moves(_producers_earlier(needs)), _moves(order), key=len)


def fix_of_order(graph: Graph, resolution: Resolution) -> Fix | str:
    """Return the fix that puts the nodes of the graph into topological order, or why there is none.

    `resolution`: that of the model. Rules get the same fix for a graph: if one of its findings is suppressed, it is not
    made for another one.
    """
    known = resolution.order_fixes
    if graph not in known:
        known[graph] = _fix_of_order(graph)
    return known[graph]


def _fix_of_order(graph: Graph) -> Fix | str:
    moves = moves_into_order(graph)
    if not moves:
        return "the nodes form a cycle, or the order decides what a name means that is defined twice"
    nodes = "1 node" if len(moves) == 1 else f"{len(moves):,} nodes"
    return Fix.of_many(
        f"move {nodes} of {graph.describe()} into topological order",
        len(moves),
        lambda: (Move(graph.at("node", node), before) for node, before in moves),
    )


def topological_order(graph: Graph) -> list[int] | None:
    """Return the numbers of the nodes in topological order; None as for `moves_into_order`."""
    if not _has_one_meaning_for_each_name(graph):
        return None
    users = Digraph(len(graph.nodes), lambda: dependencies(graph))
    order = _users_later(users)
    return order if len(order) == len(users) else None


def _has_one_meaning_for_each_name(graph: Graph) -> bool:
    if graph.has_redefinitions:
        return False
    own = graph.positions
    for outer, position in graph.scopes():
        # What a later node around the graph defines is not visible in it, unless that node moves.
        last = len(outer.nodes) if outer.early_uses else position
        if any(outer.positions.get(name, last) < last for name in own):
            return False
    pending = [(nested, nested.position) for nested in graph.nested]
    while pending:
        nested, holder = pending.pop()
        # A node stays before its own outputs.
        if any(own.get(name, holder) != holder for name in nested.positions):
            return False
        pending += [(inner, holder) for inner in nested.nested]
    return True


def _users_later(users: Digraph) -> list[int]:
    """Return an order in which a node that is too early comes as soon as all its inputs are defined.

    Nodes that are part of a cycle, or come after one, are left out.
    """
    missing = [0] * len(users)
    for user in users.followers:
        missing[user] += 1
    ready = [node for node, count in enumerate(missing) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        node = heappop(ready)
        order.append(node)
        for user in users[node]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready, user)
    return order


def _producers_earlier(needs: Digraph) -> list[int]:
    """Return an order in which a node that is too late comes right before the first node that uses it."""
    order: list[int] = []
    done = bytearray(len(needs))
    for first in range(len(needs)):
        pending = [first]
        while pending:
            node = pending[-1]
            missing = [] if done[node] else sorted({need for need in needs[node] if not done[need]}, reverse=True)
            if missing:
                pending += missing
                continue
            pending.pop()
            if not done[node]:
                done[node] = True
                order.append(node)
    return order


def _moves(order: Sequence[int]) -> list[NodeMove]:
    """Return the fewest moves that turn 0, 1, 2, ... into the order, each to be made after the one before it."""
    stay = _longest_ascent(order)
    moves: list[NodeMove] = []
    before = len(order)
    for node in reversed(order):
        if node in stay:
            before = node
        else:
            moves.append((node, before))
    moves.reverse()
    return moves


def _longest_ascent(numbers: Iterable[int]) -> set[int]:
    """Return a longest ascending subsequence of distinct numbers."""
    ends: list[int] = []
    """For each length, the least number at the end of an ascent of that length."""
    previous: dict[int, int] = {}
    for number in numbers:
        length = bisect_left(ends, number)
        if length:
            previous[number] = ends[length - 1]
        ends[length : length + 1] = [number]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = previous.get(last)
    return found
