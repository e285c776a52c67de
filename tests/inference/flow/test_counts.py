# SPDX-License-Identifier: Apache-2.0
"""The numbers of elements of sequences and of iterations of loops, and what follows for shapes."""

from __future__ import annotations

import onnx
import pytest
from support.project.each_case import each_case

from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

LOOP = "body = b (int64 i, bool c) => (bool d, float[2] o) { %s o = Constant<value_floats = [1.0, 2.0]>() }"


def flow(nodes: str) -> ValueFlow:
    """Return the facts about a graph with these nodes and an output y."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[2, N] x, float[2, N] z, int64 unknown, bool whether) => (y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 five = {{5}}, bool yes = {{1}}, bool no = {{0}},
         int64[3] parts = {{1, 0, 1}}>
        {{ {nodes} }}
    """)
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            node.input[index] = name.replace("left_out", "")
    return load(BytesSource(model.SerializeToString())).value_flow


@each_case(
    ("nodes", "count", "shape"),
    [
        ("s = SequenceConstruct(x, z)", 2, (4, "N")),
        ("s = SequenceEmpty()", 0, None),
        ("e = SequenceEmpty()  s = SequenceInsert(e, x)", 1, (2, "N")),
        ("e = SequenceConstruct(x, z)  s = SequenceInsert(e, x, zero)", 3, (6, "N")),
        ("e = SequenceConstruct(x, z)  s = SequenceErase(e)", 1, (2, "N")),
        ("e = SequenceConstruct(x, z)  f = Identity(e)  s = SequenceErase(f, zero)", 1, (2, "N")),
        ("s = SplitToSequence<axis = 1>(x)", "N", ("2*N", 1)),
        ("s = SplitToSequence(x, parts)", 3, (2, "N")),
        ("s = SplitToSequence<axis = 1>(x, five)", "((N + 4)//5)", ("2*((N + 4)//5)", None)),
        ("s = SplitToSequence(x, one)", 2, (2, "N")),
        ("e = SequenceConstruct(x, z)  s = If(whether) <then_branch = a () => (o) { o = Identity(e) },"
         " else_branch = b () => (p) { p = Identity(e) }>", 2, (4, "N")),
        ("e = SequenceConstruct(x, z)  s = If(whether) <then_branch = a () => (o) { o = Identity(e) },"
         " else_branch = b () => (p) { p = SequenceErase(e) }>", None, (None, "N")),
        ("e = SequenceConstruct(x, z)"
         "  s = SequenceMap(e) <body = b (float[2, N] i) => (o) { o = Identity(i) }>", 2, (4, "N")),
    ],
)  # fmt: skip
def test_how_many_elements_a_sequence_has(nodes: str, count: int | str | None, shape: tuple[object, ...] | None):
    found = flow(f"{nodes}  n = SequenceLength(s)  y = ConcatFromSequence<axis = 0>(s)")
    content = found.facts["n"].content
    assert (None if content is None else content[0]) == count
    assert found.shape_of("y") == shape


def test_a_new_axis_is_as_long_as_the_sequence():
    assert flow("s = SequenceConstruct(x, z, x)  y = ConcatFromSequence<axis = -1, new_axis = 1>(s)").shape_of("y") == (
        2,
        "N",
        3,
    )


@pytest.mark.parametrize(
    ("inputs", "body", "length"),
    [
        ("five, yes", "d = Identity(c)", 5),
        ("five, yes", "d = Identity(yes)", 5),
        ("five, left_out", "d = Identity(c)", 5),
        ("five", "d = Identity(c)", None),
        ("zero, yes", "d = Identity(c)", 0),
        ("five, yes", "d = Identity(whether)", None),
        ("five, yes", "d = Identity(no)", None),
        ("five, whether", "d = Identity(c)", None),
        ("unknown, yes", "d = Identity(c)", None),
        (", yes", "d = Identity(c)", None),
        ("one, yes", "d = Identity(whether)", 1),
        ("one, whether", "d = Identity(whether)", None),
    ],
)
def test_how_often_a_loop_runs(inputs: str, body: str, length: int | None):
    assert flow(f"y = Loop({inputs}) <{LOOP % body}>").shape_of("y") == (length, 2)


@pytest.mark.parametrize(("ends", "rows"), [("no", 4), ("whether", None), ("yes", None)])
def test_a_loop_of_many_iterations_that_its_body_ends_runs_once(ends: str, rows: int | None):
    body = (
        f"b (int64 i, bool c, float[] s) => (bool d, float[] r) {{ d = Identity({ends}) r = Concat<axis = 0>(s, s) }}"
    )
    found = flow(f"m = Constant<value_int = {2**63 - 1}>() y = Loop(m, yes, x) <body = {body}>")
    assert found.shape_of("y") == (rows, "N")


def test_a_loop_over_a_sequence_runs_for_each_element():
    nodes = f"s = SequenceConstruct(x, z)  n = SequenceLength(s)  y = Loop(n, yes) <{LOOP % 'd = Identity(c)'}>"
    assert flow(nodes).shape_of("y") == (2, 2)
    nodes = f"h = Shape(x)  n = Gather(h, one)  y = Loop(n, yes) <{LOOP % 'd = Identity(c)'}>"
    assert flow(nodes).shape_of("y") == ("N", 2)


def test_what_onnx_runtime_writes_into_the_domain_of_onnx_keeps_the_shape():
    assert flow("s = Constant<value_float = 1.0>()  y = SimplifiedLayerNormalization(x, s)").shape_of("y") == (2, "N")
    assert flow("s = Constant<value_float = 1.0>()  y = com.microsoft.Scale(x, s)").shape_of("y") == (2, "N")
    assert flow("y = Simplified(x)").shape_of("y") is None


@pytest.mark.parametrize(("attribute", "size"), [("", 2), ('<stopwords = ["a"]>', None)])
def test_words_are_left_where_there_are_none_to_stop_at(attribute: str, size: int | None):
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (string[2] x) => (y) {{ y = StringNormalizer{attribute}(x) }}
    """)
    assert load(BytesSource(model.SerializeToString())).value_flow.shape_of("y") == (size,)


@pytest.mark.parametrize("rows", ["p", "o"])
def test_a_loop_keeps_the_names_of_the_outer_graph(rows: str):
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        g (float[n,2] x, float[k,2] w) => (float y) {{
            t = Constant<value_int=3>()
            y = Loop(t, , x)<body = b (int64 i, bool c, float[p,2] s) => (bool d, float[{rows},2] r) {{
                d = Identity(c) r = Concat<axis=0>(s, w) }}> }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    assert load(BytesSource(model.SerializeToString()), "m.onnx").shape_of("y") == ("3*k + n", 2)
