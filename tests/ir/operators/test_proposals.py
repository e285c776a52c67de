# SPDX-License-Identifier: Apache-2.0
"""Edits of the changes that findings propose."""

from __future__ import annotations

import onnx.parser
from onnx import helper

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators.proposals import attribute_edit, exchange_edits, fresh_names, only, ready
from onnx_lint.ir.places.edits import Assign, Insert
from onnx_lint.loader import load

TEXT = """
<ir_version: 10, opset_import: ["": 21]>
g (float[4] x, bool c) => (float[4] y) {
    h = LeakyRelu<alpha = 0.1>(x)
    y = If(c) <then_branch = t () => (float[4] inner) { inner = Neg(h) },
               else_branch = e () => (float[4] other) { other = Add(h, x) }>
}
"""


def _graph():
    return load(BytesSource(onnx.parser.parse_model(TEXT).SerializeToString())).main_graph


def test_an_attribute_takes_the_place_of_the_one_of_its_name():
    node = _graph().nodes[0]
    kinds = {
        name: (type(edit), str(edit.place))
        for name in ("alpha", "beta")
        for edit in [attribute_edit(node, helper.make_attribute(name, 1.0))]
    }
    assert kinds == {"alpha": (Assign, "graph.node[0].attribute[0]"), "beta": (Insert, "graph.node[0].attribute[1]")}


def test_two_inputs_are_exchanged():
    [*_, branch] = _graph().nested
    node = branch.nodes[0] if branch.nodes[0].op_type == "Add" else _graph().nested[0].nodes[0]
    edits = [(edit.place.index, edit.value) for edit in exchange_edits(node, (0, 1)) if isinstance(edit, Assign)]
    assert edits == [(0, "x"), (1, "h")]


def test_a_new_name_differs_from_those_of_all_graphs_around():
    graph = _graph()
    names = fresh_names(graph.nested[0])
    assert [names.like(each) for each in ("h", "inner", "other", "new", "new")] == [
        "h_1",
        "inner_1",
        "other_1",
        "new",
        "new_1",
    ]


def test_one_change_is_the_whole_sentence():
    proposals = only(ready("with group=2 the shapes fit"))
    assert (proposals.sentence, [each.text for each in proposals.options()]) == ("{}", ["with group=2 the shapes fit"])
