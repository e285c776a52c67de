# SPDX-License-Identifier: Apache-2.0
"""The sizes that nodes leave a variable of an input, and those that do not broadcast."""

from __future__ import annotations

import pytest
from onnx import parser

from onnx_lint import lint
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load


def warnings_of(text: str) -> list[str]:
    """The findings about variables of a model with this graph."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {text}')
    rules = ("frozen-dimension-variable", "unsatisfiable-dimension-variable")
    return [each.message for each in lint(model.SerializeToString()).diagnostics if each.rule in rules]


@pytest.mark.parametrize(("sizes", "count"), [("0, 0, 4", 0), ("1, 0, 4", 0), ("1, 2, 4", 1)])
def test_an_empty_operand_of_concat_fixes_no_size(sizes: str, count: int):
    shape = f"s = Constant<value_ints=[{sizes}]>() e = ConstantOfShape(s)"
    found = warnings_of(f"(float[b,3,4] x) => (float[c,m,4] w) {{ {shape} w = Concat<axis=1>(e, x) }}")
    assert len(found) == count


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("b,3,4", "1, or 0"),
        ("b,b,4", "1, or 0"),
        ("b,n,4", "1 where no operand is empty"),  # where n is 0, any b runs
    ],
)
def test_concat_fixes_a_size_where_no_other_one_of_the_operand_is_0(shape: str, expected: str):
    found = warnings_of(f"""(float[{shape}] x) => (float[c,m,4] w) {{
        s = Constant<value_ints=[1,2,4]>() e = ConstantOfShape(s) w = Concat<axis=1>(e, x) }}""")
    assert [message.split("; ")[-1] for message in found] == [f"so 'b' of input 'x' can only be {expected}"]


@pytest.mark.parametrize(("length", "count"), [("Shape(q)", 0), ("Constant<value_ints=[3]>()", 1)])
def test_a_past_whose_length_an_input_decides_fixes_no_size(length: str, count: int):
    found = warnings_of(f"""(float[b,2,s,4] x, int64[n] q) => (float[c,2,t,4] w)
        <int64[2] a = {{1,2}}, int64[1] f = {{4}}> {{
        l = {length} d = Concat<axis=0>(a, l, f) p = ConstantOfShape(d) w = Concat<axis=2>(p, x) }}""")
    assert len(found) == count


def test_concat_fixes_no_size_if_the_operand_that_has_it_may_be_empty():
    found = warnings_of("""(float[b,s,4] x, float[1,9,4] c) => (float[d,m,4] w) {
        k = Shape<start=1,end=2>(x) e = Constant<value_ints=[99]>() a = Constant<value_ints=[1]>()
        p = Slice(c, k, e, a) w = Concat<axis=1>(p, x) }""")
    assert found == []


@pytest.mark.parametrize(
    ("graph", "count"),
    [
        ("e = Constant<value_ints=[2,0]>() p = ConstantOfShape(e) z = Concat<axis=1>(p, x) y = Add(z, three)", 1),
        ("e = Constant<value_ints=[3,0]>() p = ConstantOfShape(e) z = Concat<axis=1>(p, x) y = Add(z, three)", 0),
        ("a = MatMul(x, two) y = Mul(x, three_columns)", 1),
        ("a = MatMul(x, two) y = Mul(x, three)", 0),
        ("a = MatMul(x, two) b = MatMul(z, three_columns) y = Where(yes, x, z)", 1),
        ("a = MatMul(x, two) y = Where(yes, x, z)", 0),
        ("a = MatMul(x, two) y = PRelu(x, three_columns)", 1),
        ("a = MatMul(x, two) y = PRelu(x, three)", 0),
        ("a = MatMul(x, two) s = Constant<value_ints=[4,3]>() y = Expand(x, s)", 1),
        ("a = MatMul(x, two) s = Constant<value_ints=[4,2]>() y = Expand(x, s)", 0),
        ("a = MatMul(x, two) s = Shape(z) t = MatMul(z, three_columns) y = Expand(x, s)", 1),
        ("a = MatMul(x, two) c = Cast<to=7>(x) d = Cast<to=7>(three_columns) y = BitwiseAnd(c, d)", 1),
        ("a = MatMul(x, two) c = Cast<to=7>(x) d = Cast<to=7>(three) y = BitwiseAnd(c, d)", 0),
        ("a = MatMul(x, two) b = Transpose(x) c = Unsqueeze(b, two_axes) y = MatMul(c, three_matrices)", 1),
        ("a = MatMul(x, two) b = Transpose(x) c = Unsqueeze(b, two_axes) y = MatMul(c, two_matrices)", 0),
    ],
)
def test_sizes_that_equations_give_are_broadcast(graph: str, count: int):
    found = warnings_of(f"""(float[n,m] x, float[n,k] z, bool yes) => (float[p,q] y)
        <float[3,1] three = {{1,1,1}}, int64[1] two_axes = {{2}}, float[3,1,1] three_matrices = {{1,1,1}},
         float[2,1,1] two_matrices = {{1,1}}, float[3,3] three_columns = {{1,1,1,1,1,1,1,1,1}},
         float[2,2] two = {{1,1,1,1}}>
        {{ {graph} }}""")
    assert len([each for each in found if "no size makes all of this true" in each]) == count


SLICE = """(float[n,4] x) => (float[m,8] w) {{
    s = Constant<value_ints=[{}]>() e = Constant<value_ints=[{}]>() a = Constant<value_ints=[0]>()
    y = Slice(x, s, e, a) w = Concat<axis=1>(y, x) }}"""


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 2**62, "so 'n' of input 'x' can only be 1, or 0"),
        (6, 2**62, None),  # any size up to 6 runs
        (0, 5, None),
        (0, -1, "so 'n' of input 'x' can only be 1, or 0"),
    ],
)
def test_concat_leaves_out_an_operand_where_it_is_empty(start: int, end: int, expected: str | None):
    found = warnings_of(SLICE.format(start, end))
    assert [message.split("; ")[-1] for message in found] == ([expected] if expected else [])


def test_a_variable_may_be_0_where_that_makes_the_tensors_empty():
    found = warnings_of("""(float[n,3] x) => (float[p,q] w) {
        d = Shape<end=1>(x) s = Concat<axis=0>(d, d) w = Reshape(x, s) }""")
    assert [message.split("; ")[-1] for message in found] == ["so 'n' of input 'x' can only be 3, or 0"]


@pytest.mark.parametrize(
    ("size", "count"), [("Div(d, k)", 0), ("Sub(d, k)", 0), ("Add(d, k)", 1)], ids=["third", "less", "more"]
)
def test_a_reshape_to_a_size_that_may_be_0_copies_a_dimension(size: str, count: int):
    found = warnings_of(f"""(float[n,4] x) => (float[n,q] w) {{
        d = Shape<end=1>(x) k = Constant<value_ints=[3]>() m = Constant<value_ints=[-1]>() c = {size}
        s = Concat<axis=0>(c, m) y = Reshape(x, s) w = Concat<axis=1>(y, x) }}""")
    assert len(found) == count


@pytest.mark.parametrize(("parts", "count"), [("value_ints=[2,2]", 1), ("value_int=4", 0)])
def test_the_sizes_of_a_sequence_of_parts_fix_a_dimension(parts: str, count: int):
    found = warnings_of(f"""(float[n,3] x) => (seq(float[m,3]) w) {{
        s = Constant<{parts}>() w = SplitToSequence(x, s) }}""")
    assert [message.split("; ")[-1] for message in found] == ["so 'n' of input 'x' can only be 4"] * count


@pytest.mark.parametrize(("length", "expected"), [(0, "b"), (2, 2)])
def test_a_concatenation_has_the_sizes_of_the_operands_with_elements(length: int, expected: int | str):
    shape = f"s = Constant<value_ints=[{length},4]>() e = ConstantOfShape(s)"
    text = f"g (float[b,4] x) => (float[] y) {{ {shape} y = Concat<axis=1>(e, x) }}"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    assert load(BytesSource(model.SerializeToString()), "m.onnx").shape_of("y") == (expected, 8)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ("p, x", ("b", "n", 4)),
        ("x, p", ("b", "n", 4)),
        ("p, p", (2, 0, 4)),  # without another operand it decides
        ("p, o", (None, None, None)),  # the other one may be empty
        ("q, x", ("b", "n", 4)),  # an operand that is empty in any dimension is left out
    ],
)
def test_an_empty_operand_of_concat_is_left_out(operands: str, expected: tuple[int | str | None, ...]):
    text = f"""g (float[b,n,4] x, float o) => (float y) {{
        s = Constant<value_ints=[2,0,4]>() p = ConstantOfShape(s)
        t = Constant<value_ints=[0,0,4]>() q = ConstantOfShape(t) y = Concat<axis=1>({operands}) }}"""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    model.graph.input[1].type.tensor_type.ClearField("shape")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    assert load(BytesSource(model.SerializeToString()), "m.onnx").shape_of("y") == expected


@pytest.mark.parametrize(("pads", "count"), [("0,0", 1), ("1,1", 0)])
def test_a_window_that_is_not_padded_makes_an_axis_shorter_than_what_it_is_joined_with(pads: str, count: int):
    found = warnings_of(f"""(float[1,2,n] x) => (float[1,m,k] w) {{
        y = MaxPool<kernel_shape=[3], pads=[{pads}]>(x) w = Concat<axis=1>(y, x) }}""")
    assert len(found) == count


def test_a_variable_on_both_sides_is_not_fixed_by_weights():
    found = warnings_of("""(float[n,4] x) => (float[4,4] w) {
        a, b = Split<num_outputs=2>(x) t = Transpose(a) w = MatMul(t, x) }""")
    assert [message.split("; ")[-1] for message in found] == ["so 'n' of input 'x' can only be 1, or 0"]


@pytest.mark.parametrize(
    ("shape", "named"),
    [
        ("s = Constant<value_ints=[1,4]>()", ["defines constant 's'"]),
        (
            "a = Constant<value_ints=[1]>() b = Constant<value_ints=[4]>() s = Concat<axis=0>(a, b)",
            ["defines constant 's'"],
        ),
        ("a = Shape<start=1>(x) b = Constant<value_ints=[1]>() s = Concat<axis=0>(b, a)", []),
    ],
)
def test_the_constant_that_fixes_a_size_is_a_related_place(shape: str, named: list[str]):
    text = f"g (float[n,4] x) => (float[c,m] w) {{ {shape} w = Reshape(x, s) }}"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    [found] = [each for each in lint(model.SerializeToString()).diagnostics if each.rule == "frozen-dimension-variable"]
    assert [each.message for each in found.related if "constant" in each.message] == named
    assert ("(constant 's')" in found.message) == bool(named)


@pytest.mark.parametrize("name", ["N", "seq_len)", "f(N)", "batch (B)", "batch-size", "a+b", "s0//2", "7"])
def test_a_contradiction_of_a_variable_of_any_name(name: str):
    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[N] x) => (float[5] y, float[6] z) { y = Relu(x) z = Relu(x) }""")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    rule = "unsatisfiable-dimension-variable"
    [found] = [each for each in lint(model.SerializeToString()).diagnostics if each.rule == rule]
    assert f"produces '{name}'; " in found.message


@pytest.mark.parametrize("name", ["n", "n-1", "n)", "f(n)", "n+1", "n//2", "7"])
@pytest.mark.parametrize(("rows", "rule"), [(5, "frozen-dimension-variable"), (6, "unsatisfiable-dimension-variable")])
def test_a_variable_of_any_name_has_one_finding(name: str, rows: int, rule: str):
    model = parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float[n,4] x) => (float[a,b] y, float[c,d] z) {{
        s = Constant<value_ints=[5,4]>() y = Reshape(x, s)
        t = Constant<value_ints=[{rows},4]>() z = Reshape(x, t) }}""")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    rules = [each.rule for each in lint(model.SerializeToString()).diagnostics]
    assert [each for each in rules if each.endswith("-dimension-variable")] == [rule]


@pytest.mark.parametrize("name", ["n", "a) b", "n)", "batch (B)"])
def test_no_name_of_a_variable_ends_the_inference(name: str):
    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[1,1,n,4] x, float[1,1,2,4] two) => (float[p,q,r,s] y)
        <int64[1] start = {0}, int64[1] end = {5}, int64[1] axis = {2}> {
        v = Concat<axis=2>(x, two) u = MaxPool<kernel_shape=[1,1], strides=[2,1]>(v)
        y = Slice(u, start, end, axis) }""")
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = name
    assert lint(model.SerializeToString()).files[0].internal_errors == ()
