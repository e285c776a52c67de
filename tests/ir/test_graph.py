# SPDX-License-Identifier: Apache-2.0
"""Graphs, and the names that are visible in them."""

from __future__ import annotations

import sys

import pytest
from support.models import exhaustive_walk as walked
from support.models.model_samples import GRAPHS, from_text

from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.settings import Settings
from onnx_lint.ir.graph import Graph
from onnx_lint.model import Model


def _graph(model: Model, name: str):
    return next(graph for graph in model.graphs if graph.name == name)


@pytest.mark.parametrize(
    ("graph", "visible", "hidden"),
    [
        ("main", "", "a b x w s y"),
        ("then", "x c w s a", "b y t deep e"),
        ("body", "x c w s a", "b y t deep"),
        ("else", "x c w s a", "b y t"),
        ("F", "", "x a u v"),
        ("in function", "u", "v x a w"),
        ("start", "", "x a w"),
        ("step", "x c w s a b y", "t deep e u loss"),
    ],
)
def test_a_graph_sees_what_is_defined_before_its_node(graph: str, visible: str, hidden: str):
    found = _graph(from_text(GRAPHS), graph)
    names = {name: found.sees(name) for name in (*visible.split(), *hidden.split())}
    assert names == dict.fromkeys(visible.split(), True) | dict.fromkeys(hidden.split(), False)
    assert {name for name in names if found.outer_definition(name) is not None} == set(visible.split())


def test_graphs_share_the_names_of_their_attributes():
    model = from_text(GRAPHS)
    lint_model(model, Settings())
    sharing = object.__new__(Graph)
    sharing.position = 0
    assert {sys.getsizeof(vars(graph)) for graph in model.graphs} == {sys.getsizeof(vars(sharing))}


def test_definitions_come_with_their_places():
    main = _graph(from_text(GRAPHS), "main")
    assert [(name, str(definition.place), definition.describe()) for name, definition in main.definitions()] == [
        ("x", "graph.input[0]", "input 0 of main graph 'main'"),
        ("c", "graph.input[1]", "input 1 of main graph 'main'"),
        ("w", "graph.input[2]", "input 2 of main graph 'main'"),
        ("w", "graph.initializer[0]", "initializer 0 of main graph 'main'"),
        ("s", "graph.sparse_initializer[0]", "sparse initializer 0 of main graph 'main'"),
        ("a", "graph.node[0].output[0]", "output 0 of node 'abs' (Abs)"),
        ("b", "graph.node[1].output[0]", "output 0 of node 'if' (If)"),
        ("y", "graph.node[2].output[0]", "output 0 of node 'relu' (Relu)"),
    ]
    assert main.positions == {"x": -1, "c": -1, "w": -1, "s": -1, "a": 0, "b": 1, "y": 2}
    assert {name: [(node.index, index) for node, index in uses] for name, uses in walked.uses(main).items()} == {
        "x": [(0, 0)],
        "c": [(1, 0)],
        "b": [(2, 0)],
    }
