# SPDX-License-Identifier: Apache-2.0
"""What is deleted with a node; the fixes themselves are cases of `tests/fixing`, on bytes."""

from __future__ import annotations

import pytest
from onnx import NodeProto
from support.fixes.case import Case, graph
from support.fixes.deleting import LAST, node, whether

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

UNUSED = node("Exp", "a", "b") + node("Neg", "b", "c") + node("Split", "b", "d e") + node("Add", "d e", "f")


@pytest.mark.parametrize(
    ("nodes", "last", "expected"),
    [
        pytest.param(UNUSED, 2, [2], id="another node needs b"),
        pytest.param(UNUSED, 4, [3, 4], id="both outputs of Split"),
        pytest.param(node("Exp", "a", "b") + node("Mul", "b b", "c"), 2, [1, 2], id="b twice"),
        pytest.param(
            node("Split", "a", "b c") + node("Neg", "b", "d") + node("Neg", "c", "e"), 2, [2], id="one output"
        ),
    ],
)
def test_what_only_an_unneeded_node_needs(nodes: str, last: int, expected: list[int]):
    data = Case("", graph(node("Relu", "x", "a") + nodes + LAST), "").models()[0]
    model = load(BytesSource(data), "model.onnx")
    assert model.removals.unused_with_producers(model.main_graph, last) == expected


def test_a_branch_that_reads_a_value_needs_its_node():
    nodes = node("Relu", "x", "a") + node("Exp", "a", "b") + node("Neg", "b", "c") + whether(node("Abs", "b", "t"))
    model = load(BytesSource(Case("", graph(nodes), "").models()[0]), "model.onnx")
    assert model.removals.unused_with_producers(model.main_graph, 2) == [2]


ANNOTATION = 'quantization_annotation { tensor_name: "b" quant_parameter_tensor_names { key: "SCALE" value: "x" } }'


def test_the_producer_of_an_annotated_value_stays():
    nodes = node("Relu", "x", "a") + node("Exp", "a", "b") + node("Neg", "b", "c") + LAST
    model = load(BytesSource(Case("", graph(nodes + ANNOTATION), "").models()[0]), "model.onnx")
    assert model.removals.unused_with_producers(model.main_graph, 2) == [2]
    assert not isinstance(model.removals.delete_nodes("delete", model.main_graph, [2]), str)


def test_a_node_without_its_model_is_not_deleted():
    data = NodeProto(op_type="Relu", input=["x"], output=["y"]).SerializeToString()
    model = load(BytesSource(data), "node.pb", proto="NodeProto", opset_imports={"": 21})
    (only,) = model.graphs
    reason = "the file has only a part of a model, and the rest may need the name"
    assert model.removals.delete_nodes("delete it", only, [0]) == reason


@pytest.mark.parametrize(
    ("deleted", "others", "user", "needed"),
    [
        pytest.param(node("Exp", "a", "b"), whether(node("Abs", "b", "t")), "another node", "b", id="read in a branch"),
        pytest.param(node("Exp", "a", "b"), node("Neg", "b", "y"), "another node", "b", id="read by a node"),
        pytest.param(node("Exp", "a", "y"), "", "an output of the graph", "y", id="output of the graph"),
        pytest.param(node("Exp", "a", "b"), LAST + ANNOTATION, "an annotation", "b", id="annotated"),
        pytest.param(node("Exp", "a", "b"), whether(node("Abs", "a", "b")), "a subgraph", "b", id="name in a branch"),
    ],
)
def test_the_reason_against_a_fix_says_what_needs_which_value(deleted: str, others: str, user: str, needed: str):
    data = Case("", graph(node("Relu", "x", "a") + deleted + others), "").models()[0]
    model = load(BytesSource(data), "model.onnx")
    reason = model.removals.delete_nodes("delete", model.main_graph, [1])
    assert reason == f"{user} needs the name '{needed}'"
