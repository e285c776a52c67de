# SPDX-License-Identifier: Apache-2.0
"""What undefined names may mean, as changes to try."""

from __future__ import annotations

from functools import partial

import onnx.parser
import pytest
from onnx import helper

from onnx_lint import lint
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.meant_values import WantedValue
from onnx_lint.ir.operators.undefined_names import MAX_EXPLAINED, UndefinedNames
from onnx_lint.loader import load

HEAD = '<ir_version: 10, opset_import: ["": 21, "com.l": 1], producer_name: "me"> '


def _names(text: str):
    model = load(BytesSource(onnx.parser.parse_model(HEAD + text).SerializeToString()))
    names = UndefinedNames(model.graphs, model.resolution, model.uses, lambda *_: None)
    return names, model


def test_a_misspelt_name_comes_alone_where_more_values_are_unused():
    names, model = _names("g (float[4] x, float[4] z) => (float[4] y) { hidden = Relu(x) a = Neg(x) y = Tanh(hiden) }")
    proposals = names.proposals("hiden", model.main_graph, WantedValue())
    options = proposals.options()
    found = [(each.text, each.is_preferred) for each in options]
    assert found == [("'hidden'", True)]
    edits = list(options[0].edits(model.operators))
    assert [(str(edit.place), getattr(edit, "value", None)) for edit in edits] == [("graph.node[2].input[0]", "hidden")]


def test_outputs_and_inputs_of_one_name_change_together():
    names, model = _names("g (float[4] x) => (float[4] y, float[4] z) { a = Relu(x) z = Neg(y) }")
    proposals = names.proposals("y", model.main_graph, WantedValue())
    edits = [str(edit.place) for edit in proposals.options()[0].edits(model.operators)]
    assert edits == ["graph.node[1].input[0]", "graph.output[0].name"]


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("a = com.l.F(x) y = Neg(own)", "only function 'com.l::F' defines; functions and their callers do not share"),
        ("a = com.l.F(x) y = Neg(lost)", None),
    ],
)
def test_a_name_of_another_graph_is_said(text: str, elsewhere: str | None):
    function = '<domain: "com.l", opset_import: ["": 21]> F (p) => (q) { own = Relu(p) q = Relu(own) }'
    names, model = _names(f"g (float[4] x) => (float[4] y) {{ {text} }} {function}")
    [undefined] = model.resolution.undefined
    said = names.elsewhere(undefined.name, model.main_graph)
    assert (said if elsewhere is None else said and said[: len(elsewhere)]) == elsewhere


def test_names_of_a_function_have_their_own_prefix():
    text = """g (float[4] x, float[4] m_a, float[4] m_b) => (float[4] y, float[4] z) {
        i = Add(a, b) y = com.l.F(x, i) z = Relu(x) }
        <domain: "com.l", opset_import: ["": 21]> F (n_c, n_d) => (q) { e = Add(c, d) q = Relu(e) }"""
    messages = [each.message for each in lint(onnx.parser.parse_model(HEAD + text)).diagnostics]
    assert [each.partition("nothing defines; ")[2] for each in messages] == [
        "do 2 names lack the prefix 'm_'? 1 more fault has this cause",
        "do 2 names lack the prefix 'n_'? 1 more fault has this cause",
    ]


def test_a_prefix_is_not_suggested_if_the_values_do_not_fit():
    text = "g (float[4] x, float[3] m_a, float[4] m_b) => (float[4] y) { h = Add(x, a) y = Add(h, b) }"
    report = lint(onnx.parser.parse_model(HEAD + text))
    assert ["prefix" in each.message for each in report.diagnostics if each.rule == "undefined-name"] == [False, False]


def test_a_renamed_input_of_a_function_is_suggested_though_another_function_has_its_old_name():
    text = """
    <ir_version: 10, opset_import: ["": 21, "com.l": 1], producer_name: "me">
    g (float[4] x) => (float[4] y) { h = com.l.F(x) y = com.l.G(h) }
    <domain: "com.l", opset_import: ["": 21]> F (a) => (c) { c = Relu(a) }
    <domain: "com.l", opset_import: ["": 21]> G (value) => (c) { c = Neg(a) }"""
    (found,) = lint(onnx.parser.parse_model(text)).diagnostics
    assert "'a', which only function 'com.l::F' defines" in found.message
    assert found.message.endswith("; did you mean 'value'?")


@pytest.mark.parametrize(
    ("lost", "counts"),
    [
        ({"bn1.mean", "bn1.var", "bn2.mean", "bn2.var"}, [4]),
        ({"bn1.mean", "bn2.mean"}, [2]),
        ({"bn1.mean", "bn2.var"}, [1, 1]),
        ({"bn1.mean"}, [1]),
    ],
)
def test_weights_that_were_lost_together_are_one_finding(lost: set[str], counts: list[int]):
    names = ["scale", "mean", "var"]
    nodes = [
        helper.make_node(
            "BatchNormalization", [x, *(f"{bn}.{each}" for each in ("scale", "scale", "mean", "var"))], [y]
        )
        for x, y, bn in (("x", "h", "bn1"), ("h", "y", "bn2"))
    ]
    tensors = [
        helper.make_tensor(f"{bn}.{each}", 1, [4], [1.0] * 4)
        for bn in ("bn1", "bn2")
        for each in names
        if f"{bn}.{each}" not in lost
    ]
    value = partial(helper.make_tensor_value_info, elem_type=1, shape=[1, 4, 2, 2])
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    found = [each for each in lint(model).diagnostics if each.rule == "undefined-name"]
    assert [each.count for each in found] == counts
    assert found[0].hint == f"nothing produces {found[0].subject!r}: a node, an initializer or an input is missing"


@pytest.mark.parametrize(("more", "is_explained"), [(0, True), (1, False)])
def test_of_too_many_undefined_names_none_is_explained(more: int, is_explained: bool):
    others = ", ".join(f"n{index}" for index in range(MAX_EXPLAINED - 1 + more))
    names, model = _names(f"g (float[2] values_of_x) => (float[2] y) {{ y = Sum(valuez_of_x, {others}) }}")
    proposals = names.proposals("valuez_of_x", model.main_graph, WantedValue())
    assert (proposals is not None) is is_explained
