# SPDX-License-Identifier: Apache-2.0
"""The number of known shapes, where knowledge ended for the others, and what reports say of it."""

from __future__ import annotations

import io
import json

import onnx.parser
import pytest
from support.project.each_case import each_case

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.inference.flow import walk_budget
from onnx_lint.inference.flow.knowledge import MAX_CAUSES, has_known_shape
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.report.not_verified import not_verified_in_words
from onnx_lint.reporters import write_report

HEAD = '<ir_version: 10, opset_import: ["" : 21, "d" : 1, "com.example" : 1]>'


def _bytes(text: str) -> bytes:
    return onnx.parser.parse_model(HEAD + text).SerializeToString()


def _knowledge(text: str):
    return load(BytesSource(_bytes(text)), "model.onnx").value_flow.knowledge


def _causes(text: str) -> dict[tuple[str, str], int]:
    return dict(_knowledge(text).causes)


# --- what counts as known


@each_case(
    ("known", "expected"),
    [
        (fact("tensor(float)", ()), True),
        (fact("tensor(float)", (None, "N")), True),
        (fact("tensor(float)"), False),
        (fact("sparse_tensor(float)"), False),
        (fact(None), False),
        (fact(""), True),
        (fact("map(string,float)"), True),
        (fact("seq(map(string,float))"), True),
        (fact("seq(tensor(float))"), False),
        (fact("seq(tensor(float))", inside=fact("tensor(float)")), False),
        (fact("seq(tensor(float))", inside=fact("tensor(float)", (2,))), True),
        (fact("optional(seq(tensor(float)))", inside=fact("seq(tensor(float))")), False),
    ],
)
def test_what_counts_as_known(known, expected):
    assert has_known_shape(known) is expected


# --- where knowledge ends


def test_a_dynamic_model_is_known():
    found = _knowledge("g (float[N, M] x, int64[K] i) => (float[A, B] y) { z = Relu(x) y = Gather(z, i) }")
    assert (found.values, found.unknown, found.causes) == (4, 0, ())


def test_behind_an_unknown_operator_all_is_its():
    text = "g (float[2] x) => (float[2] y) { a = com.example.Odd(x) b = Relu(a) c = Add(b, x) y = Identity(x) }"
    found = _knowledge(text)
    assert (found.values, found.unknown) == (5, 3)
    assert found.causes == ((("operator-without-signature", "com.example::Odd"), 3),)


def test_an_operator_whose_domain_is_not_imported_has_that_as_the_cause():
    text = "g (float[2] x) => (float[2] y) { a = ai.onnx.ml.Binarizer(x, x) y = Relu(a) }"
    assert _causes(text) == {("operator-without-import", "ai.onnx.ml::Binarizer"): 1}


def test_a_declaration_ends_what_is_not_known():
    text = "g (float[2] x) => (float[3] y) { a = com.example.Odd(x) y = Relu(b) b = Relu(a) }"
    assert _causes("g (float[2] x) => (float[3] y) { y = com.example.Odd(x) }") == {}
    assert _causes(text.replace("y = Relu(b) b = Relu(a)", "b = Relu(a) y = Relu(b)")) == {
        ("operator-without-signature", "com.example::Odd"): 2
    }


def test_an_input_without_a_shape():
    assert _causes("g (float[] x, float[2] w) => (float[] y) { z = Relu(x) y = Add(z, w) }") == {("input", "x"): 3}


def test_of_many_inputs_without_a_shape_those_are_told_that_most_values_come_from():
    inputs = [f"x{index:03}" for index in range(MAX_CAUSES + 20)]
    outputs = ["a", "b", "c"]
    found = _knowledge(
        f"g ({', '.join(f'float[] {name}' for name in inputs)}) => (float[] c)"
        f" {{ a = Relu({inputs[-1]}) b = Relu(a) c = Relu({inputs[-2]}) }}"
    )
    assert (found.values, found.unknown) == (len(inputs) + len(outputs),) * 2
    assert found.causes == (
        (("input", inputs[-1]), 3),
        (("input", inputs[-2]), 2),
        *((("input", name), 1) for name in inputs[: MAX_CAUSES - 2]),
    )


def test_an_input_of_a_function_has_a_name_of_its_own():
    text = """g (float[] x, float[2] w) => (float[] y) { y = Relu(x) }
    <domain: "d", opset_import: ["" : 21]> f (x) => (z) { z = Relu(x) }"""
    assert _causes(text) == {("input", "x"): 2 + 2}


def test_an_operator_whose_values_decide():
    text = "g (float[2] x, int64[n] s) => (float[] y) { z = Reshape(x, s) y = Relu(z) }"
    assert _causes(text) == {("undecided", "Reshape"): 2}


@pytest.mark.parametrize(
    ("node", "operator"),
    [
        ("Sqrt(i)", "Sqrt"),
        ("MatMul(x, m)", "MatMul"),
        ("Transpose<perm=[0, 0]>(m)", "Transpose"),
    ],
)
def test_a_node_with_a_finding(node: str, operator: str):
    text = f"g (int64[2] i, float[3] x, float[5,7] m) => (float[] y) {{ z = {node} y = Relu(z) }}"
    assert _causes(text) == {("finding", operator): 2}


def test_the_first_operand_that_is_not_known_is_the_cause_of_a_node_with_two():
    text = "g (float[] x, float[] v) => (float[] y) { a = com.example.Odd(x) y = Add(v, a) }"
    assert _causes(text) == {
        ("input", "x"): 1,
        ("input", "v"): 2,
        ("operator-without-signature", "com.example::Odd"): 1,
    }


def test_through_a_branch_and_out_of_it():
    text = """g (bool c, float[2] x) => (float[] y) {
        a = com.example.Odd(x)
        b = If (c) <then_branch = t () => (float[] o) { o = Relu(a) },
            else_branch = e () => (float[] p) { p = Relu(x) }>
        y = Relu(b)
    }"""
    assert _causes(text) == {("operator-without-signature", "com.example::Odd"): 4}


def test_through_a_function_once_for_all_its_calls():
    function = (
        '<domain: "d", opset_import: ["" : 21, "com.example" : 1]> f (p) => (q) { m = com.example.Odd(p) q = Relu(m) }'
    )
    calls = "a = d.f(x) b = d.f(z) y = Relu(b)"
    text = f"g (float[2] x, float[3] z) => (float[] y) {{ {calls} }} {function}"
    # m, q, a, b and y.
    assert _causes(text) == {("operator-without-signature", "com.example::Odd"): 5}


def test_an_argument_of_unknown_shape():
    function = '<domain: "d", opset_import: ["" : 21]> f (p) => (q) { q = Relu(p) }'
    assert _causes(f"g (float[] x) => (float[] y) {{ y = d.f(x) }} {function}") == {("input", "x"): 4}


def test_calls_beyond_the_budget(monkeypatch):
    monkeypatch.setattr(walk_budget, "REPEATED_WALK_BUDGET", 0)
    function = '<domain: "d", opset_import: ["" : 21]> f (p) => (q) { q = Relu(p) }'
    text = f"g (float[1] x, float[2] z) => (float[] y, float[] w) {{ y = d.f(x) w = d.f(z) }} {function}"
    assert _causes(text) == {("budget", "d::f"): 1}


def test_a_function_that_calls_itself_ends():
    function = '<domain: "d", opset_import: ["" : 21, "d" : 1]> f (p) => (q) { m = d.f(p) q = Relu(m) }'
    assert sum(_causes(f"g (float[2] x) => (float[] y) {{ y = d.f(x) }} {function}").values()) == 3


def test_a_long_chain_costs_what_it_is_long():
    nodes = " ".join(f"v{index + 1} = Relu(v{index})" for index in range(5_000))
    assert _causes(f"g (float[] v0) => (float[] v5000) {{ {nodes} }}") == {("input", "v0"): 5_001}


# --- reports

UNKNOWN_OPERATOR = "g (float[2] x) => (float[] y) { a = com.example.Odd(x) y = Relu(a) }"


def _report(text: str, *rules: str):
    return lint_source(BytesSource(_bytes(text)), "model.onnx", Settings(select=rules))


def test_people_are_told_of_operators_only():
    of_shapes = [what for what in not_verified_in_words(_report(UNKNOWN_OPERATOR)) if "shapes" in what]
    assert of_shapes == ["the shapes of 2 of 3 values: the shapes that 'com.example::Odd' produces are unknown"]
    for quiet in (
        "g (float[] x) => (float[] y) { y = Relu(x) }",
        "g (float[2] x, int64[n] s) => (float[] y) { y = Reshape(x, s) }",
    ):
        report = _report(quiet)
        assert list(not_verified_in_words(report)) == []
        assert report.shapes is not None
        assert report.shapes.unknown > 0


def test_json_has_all():
    settings = Settings()
    stream = io.StringIO()
    write_report("json", report_of([_report(UNKNOWN_OPERATOR)], settings), stream)
    assert json.loads(stream.getvalue())["files"][0]["shapes"] == {
        "values": 3,
        "known": 1,
        "unknown": 2,
        "causes": [{"kind": "operator-without-signature", "name": "com.example::Odd", "values": 2}],
    }


def test_nothing_is_followed_for_the_numbers_alone():
    assert _report(UNKNOWN_OPERATOR, "missing-ir-version").shapes is None


def test_an_input_of_a_subgraph_in_the_first_node_is_for_the_operator_to_give():
    text = """g (seq(float[]) x) => (seq(float[]) y) {
        y = SequenceMap<body = b (float[] e) => (float[] f) { f = Relu(e) }>(x) }"""
    assert ("undecided", "SequenceMap") in _causes(text)
