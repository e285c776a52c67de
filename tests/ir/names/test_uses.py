# SPDX-License-Identifier: Apache-2.0
"""The used values and unneeded nodes of a graph agree with a search that visits the graph again for each output."""

from __future__ import annotations

import random

from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

_NODES = 12


def _model(text: str) -> Model:
    proto = text_format.Parse(f'graph {{ name: "g" {text} }}', schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def _needed(makers: dict[str, tuple[int, list[str]]], name: str) -> set[int]:
    if name not in makers:
        return set()
    index, inputs = makers[name]
    return {index}.union(*(_needed(makers, each) for each in inputs))


def test_unneeded_nodes_are_those_that_no_output_reaches():
    rng = random.Random(29)
    for _ in range(100):
        names, makers, nodes = ["x"], {}, []
        for index in range(_NODES):
            inputs = rng.choices(names, k=rng.randrange(3))
            names.append(f"v{index}")
            makers[f"v{index}"] = index, inputs
            listed = " ".join(f'input: "{name}"' for name in inputs)
            nodes.append(f'node {{ op_type: "Op" {listed} output: "v{index}" }}')
        outputs = rng.sample(names, k=rng.randrange(1, 4))
        text = " ".join([*nodes, 'input { name: "x" }', *(f'output {{ name: "{name}" }}' for name in outputs)])
        model = _model(text)
        needed = set[int]().union(*(_needed(makers, name) for name in outputs))
        unneeded = [node.index for node in model.uses.unneeded_nodes(model.main_graph)]
        assert unneeded == sorted(set(range(_NODES)) - needed)
        assert model.uses.used_in(model.main_graph) == set(outputs).union(*(inputs for _, inputs in makers.values()))


def test_an_outer_value_that_only_an_unneeded_inner_node_uses_is_used_and_not_needed():
    inner = (
        'attribute { name: "then_branch" type: GRAPH g { name: "t" node { op_type: "Neg" input: "a" output: "dead" } '
        'node { op_type: "Abs" input: "x" output: "t" } output { name: "t" } } }'
    )
    text = (
        'input { name: "x" } node { op_type: "Exp" input: "x" output: "a" } '
        f'node {{ op_type: "If" input: "x" output: "y" {inner} }} output {{ name: "y" }}'
    )
    model = _model(text)
    assert "a" in model.uses.used_in(model.main_graph)
    assert [node.op_type for node in model.uses.unneeded_nodes(model.main_graph)] == ["Exp"]
    [branch] = model.nested_graphs
    assert [node.op_type for node in model.uses.unneeded_nodes(branch)] == ["Neg"]


def test_a_cycle_that_no_output_needs_is_unneeded():
    text = (
        'node { op_type: "Neg" input: "b" output: "a" } node { op_type: "Abs" input: "a" output: "b" } '
        'node { op_type: "Print" input: "x" } input { name: "x" } output { name: "x" }'
    )
    model = _model(text)
    assert [node.op_type for node in model.uses.unneeded_nodes(model.main_graph)] == ["Neg", "Abs"]
