# SPDX-License-Identifier: Apache-2.0
"""The order of nodes that moves the fewest: what stays, what moves, and when there is none."""

from __future__ import annotations

import random

import pytest
from support.models.model_samples import from_text

from onnx_lint.ir.names.ordering import moves_into_order
from onnx_lint.model import Graph


def _graph(nodes: str, rest: str = "") -> Graph:
    """A graph of nodes such as `a,b->c`."""
    texts = []
    for node in nodes.split():
        inputs, _, outputs = node.partition("->")
        names = [f'input: "{name}"' for name in inputs.split(",") if name]
        names += [f'output: "{name}"' for name in outputs.split(",") if name]
        texts.append(f'node {{ op_type: "Op" {" ".join(names)} }}')
    model = from_text(f'graph {{ input {{ name: "x" }} {" ".join(texts)} {rest} }}')
    return next(iter(model.graphs))


def _moved(count: int, moves: list[tuple[int, int]]) -> list[int]:
    """The numbers of the nodes after the moves."""
    order = [number for number in range(count) if number not in dict(moves)]
    for node, before in moves:
        order.insert(order.index(before) if before < count else len(order), node)
    return order


@pytest.mark.parametrize(
    ("nodes", "moves"),
    [
        ("x->a a->b b->c", []),
        ("a->b x->a", [(1, 0)]),
        # The producer moves where all else would have to follow the user,
        ("a->b b->c x->d c->e x->a", [(4, 0)]),
        # the user where all that the producer needs would have to come along.
        ("a->b x->c c->d x->e d->f x->g f->a", [(0, 7)]),
        ("b->c a->b x->a", [(2, 0), (1, 0)]),
        ("a->a1 x->z b->b1 x->b x->a", [(4, 0), (3, 2)]),
    ],
)
def test_the_fewest_nodes_move(nodes: str, moves: list[tuple[int, int]]):
    assert moves_into_order(_graph(nodes)) == moves


def test_random_graphs_come_into_order_and_what_is_in_order_stays():
    choose = random.Random(30)
    for _ in range(200):
        count = choose.randrange(1, 12)
        place = choose.sample(range(count), count)
        nodes = [""] * count
        for number in range(count):
            inputs = choose.sample(range(number), choose.randrange(min(number, 3) + 1))
            nodes[place[number]] = f"{','.join(f'v{each}' for each in inputs)}->v{number}"
        moves = moves_into_order(_graph(" ".join(nodes)))
        assert moves is not None
        order = _moved(count, moves)
        assert sorted(order) == list(range(count))
        assert moves_into_order(_graph(" ".join(nodes[index] for index in order))) == []


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ("b->a a->b", "a cycle"),
        ("a->a", "a cycle of one"),
        ("a->b x->a x->a", "two definitions of a name"),
        ("x->b a->x", "a definition of an input"),
    ],
)
def test_there_is_no_order(nodes: str, why: str):
    assert moves_into_order(_graph(nodes)) is None, why


def test_a_name_that_a_nested_graph_defines_too_means_either():
    """The node order decides whether the nested graph sees the outer value, or waits for its own."""
    nested = """node { op_type: "If" input: "x" output: "z" attribute { name: "then_branch" type: GRAPH g { name: "t"
        node { op_type: "Relu" input: "a" output: "q" } node { op_type: "Relu" input: "q" output: "a" } } } }"""
    assert moves_into_order(_graph("a->b x->a")) is not None
    assert moves_into_order(_graph("a->b x->a", nested)) is None


def test_a_node_waits_for_what_its_nested_graphs_use():
    nested = """node { op_type: "If" input: "x" output: "z" attribute { name: "then_branch" type: GRAPH g { name: "t"
        node { op_type: "Relu" input: "late" output: "q" } } } } node { op_type: "Abs" input: "x" output: "late" }"""
    assert moves_into_order(_graph("x->a", nested)) == [(2, 1)]
