# SPDX-License-Identifier: Apache-2.0
"""The change of a node with which its shapes fit, tried before it is proposed."""

from __future__ import annotations

from types import SimpleNamespace

import onnx.parser
import pytest
from support.project.each_case import each_case

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.inference.flow.repairs.weights import _read_later, _with_lower_number
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load


def _hints_of(text: str) -> list[str | None]:
    """The hints of the findings on shapes, after the engine has tried the changes."""
    data = onnx.parser.parse_model(text).SerializeToString()
    assert load(BytesSource(data)).value_flow.shapes
    rules = ("incompatible-operand-shapes", "impossible-operator-extent", "unsupported-operand-value")
    return [each.hint for each in lint_source(BytesSource(data), "m.onnx", Settings(select=rules)).diagnostics]


def _hints(inputs: str, outputs: str, nodes: str) -> list[str | None]:
    return _hints_of(f'<ir_version: 10, opset_import: ["": 21]> g ({inputs}) => ({outputs}) {{ {nodes} }}')


@each_case(
    ("inputs", "output", "node", "hint"),
    [
        ("float[2,3] x, float[4,3] w", "float[2,4] y", "Gemm(x, w)", "with transB=1 the shapes fit"),
        ("float[3,2] x, float[3,4] w", "float[2,4] y", "Gemm(x, w)", "with transA=1 the shapes fit"),
        ("float[2,3] x, float[3,4] w", "float[2,4] y", "Gemm<transB=1>(x, w)", "with transB=0 the shapes fit"),
        ("float[2,3] x, float[4,3] w, float[4] c", "float[2,4] y", "Gemm(x, w, c)", "with transB=1 the shapes fit"),
        # The shapes would fit, and what comes out is not what is declared.
        ("float[2,3] x, float[4,3] w", "float[2,5] y", "Gemm(x, w)", None),
        # The bias does not fit whatever is transposed.
        ("float[2,3] x, float[4,3] w, float[9] c", "float[2,4] y", "Gemm(x, w, c)", None),
        # Either matrix may be the one to transpose.
        ("float[2,3] x, float[2,3] w", "float[A,B] y", "Gemm(x, w)", "with transA=1 or transB=1 the shapes fit"),
        ("float[2,3] x, float[2,3] w", "float[2,2] y", "Gemm(x, w)", "with transB=1 the shapes fit"),
        (
            "float[N,2,3] x, float[4,3] w",
            "float[N,2,4] y",
            "MatMul(x, w)",
            "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit",
        ),
        (
            "float[1,8,9,3] x, float[5,3,2,2] w",
            "float[1,5,7,8] y",
            "Conv(x, w)",
            "with a Transpose of input 0 'x' with perm=[0, 3, 1, 2] the shapes fit",
        ),
        ("float[2,3] x, float[2,4] w", "float[2,7] y", "Concat<axis=0>(x, w)", "with axis=1 the shapes fit"),
        ("float[2,3] x, float[2,3,4] w", "float[2,7] y", "Concat<axis=0>(x, w)", None),
        (
            "float[1,3,8,9] x, float[3] w",
            "float[1,3,8,9] y",
            "Add(x, w)",
            "with an Unsqueeze (axes=[1, 2]) of input 1 'w' the shapes fit",
        ),
        # A vector for the channels or the height, or for the width only.
        ("float[1,3,3,9] x, float[3] w", "float[1,3,3,9] y", "Add(x, w)", None),
        ("float[1,3,5,9] x, float[5] w", "float[1,3,5,9] y", "Add(x, w)", None),
        # Images have the channels second: the width has as many elements by chance.
        ("float[N,8,16,16] x, float[16] w", "float[A,B,C,D] y", "BatchNormalization(x, w, w, w, w)", None),
        (
            "float[N,8,16,16] x, float[16,8,2,2] w",
            "float[A,B,C,D] y",
            "ConvTranspose(x, w)",
            "with a Transpose of input 1 'w' with perm=[1, 0, 2, 3] the shapes fit",
        ),
        ("float[N,8,16,16] x, float[N,8,32,16] w", "float[A,B,C,D] y", "Concat<axis=1>(x, w)", None),
        # Weights that were pruned, and an attribute that was lost.
        ("float[1,8,9,9] x, float[8,4,3,3] w", "float[1,8,7,7] y", "Conv<group=1>(x, w)", None),
        ("float[1,8,9,9] x, float[8,4,3,3] w", "float[1,8,7,7] y", "Conv(x, w)", "with group=2 the shapes fit"),
        # An unknown dimension is no 1.
        (
            "float[?,10] x, float[1,10] w",
            "float[A,B] y",
            "MatMul(x, w)",
            "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit",
        ),
        (
            "float[3,8] x, float[5,3,2] w",
            "float[1,5,7] y",
            "Conv(x, w)",
            "with an Unsqueeze (axes=[0]) of input 0 'x' the shapes fit",
        ),
        (
            "float[5,7] x, float[1,4,1] w, float[1,4,4] r",
            "float[5,1,7,4] y",
            "RNN<hidden_size=4>(x, w, r)",
            "with an Unsqueeze (axes=[2]) of input 0 'x' the shapes fit",
        ),
        (
            "float[5,7,3] x, float[1,4,3] w, float[1,4,4] r, float[5,1,4] h",
            "float[5,7,1,4] y",
            "RNN<hidden_size=4>(x, w, r, , , h)",
            "with layout=1 the shapes fit",
        ),
        ("float[2,3] x, float[4] w", "float[2,3] y", "Sub(x, w)", None),
        # It would fit if N were 8 or the two variables were equal, and not otherwise.
        ("float[N,3] x, float[8] w", "float[A,B] y", "Sub(x, w)", None),
        ("float[K,N] x, float[4] w, float[9] c", "float[A,B] y", "Gemm(x, w, c)", None),
        ("float[N,2] x, float[4,3] w", "float[A,B] y", "MatMul(x, w)", None),
        (
            "float[N,8,3] x, float[8] w",
            "float[A,B,C] y",
            "Sub(x, w)",
            "with an Unsqueeze (axes=[1]) of input 1 'w' the shapes fit",
        ),
        ("float[N,6,8,8] x, float[6,1,3,3] w", "float[N,6,6,6] y", "Conv(x, w)", "with group=6 the shapes fit"),
        (
            "float[1,8,2,2] x, float[1] w",
            "float[A,B,C,D] y",
            "DepthToSpace<blocksize=3>(x)",
            "with blocksize=2 the shapes fit",
        ),
        (
            "float[1,6,2] x, float[6] w",
            "float[A,B,C] y",
            "GroupNormalization<num_groups=4>(x, w, w)",
            "with num_groups=3 or num_groups=2 the shapes fit",
        ),
        (
            "int8[4,64] x, float[4,4] w",
            "float[4,64] y",
            "DequantizeLinear<block_size=32>(x, w)",
            "with block_size=16 the shapes fit",
        ),
        ("int8[6,4] x, float[6] s", "float[6,4] y", "DequantizeLinear(x, s)", "with axis=0 the shapes fit"),
        ("int8[6,4] x, float[6] s", "float[6,4] y", "DequantizeLinear<axis=-1>(x, s)", "with axis=0 the shapes fit"),
        ("float[6,4] x, float[6] s", "uint8[6,4] y", "QuantizeLinear(x, s)", "with axis=0 the shapes fit"),
        # Either axis fits, so none is proposed; one of three fits, or none.
        (
            "int8[6,4,6] x, float[6] s",
            "float[6,4,6] y",
            "DequantizeLinear<axis=1>(x, s)",
            None,
        ),
        ("int8[6,6,4,6] x, float[6] s", "float[6,6,4,6] y", "DequantizeLinear<axis=2>(x, s)", None),
        ("int8[6,4] x, float[5] s", "float[6,4] y", "DequantizeLinear(x, s)", None),
        (
            "float[1,3,8,8] x, float[4,3,3,3] w",
            "float[1,4,6,6] y",
            "Conv<kernel_shape=[5,5]>(x, w)",
            "with kernel_shape=[3, 3] the shapes fit",
        ),
        # The output is declared for a kernel of 5 x 5.
        ("float[1,3,8,8] x, float[4,3,3,3] w", "float[1,4,4,4] y", "Conv<kernel_shape=[5,5]>(x, w)", None),
        (
            "float[1,3,8,8] x, float[3,4,3,3] w",
            "float[1,4,10,10] y",
            "ConvTranspose<kernel_shape=[5,5]>(x, w)",
            "with kernel_shape=[3, 3] the shapes fit",
        ),
    ],
)
def test_one_change_is_told_if_it_fits(inputs: str, output: str, node: str, hint: str | None):
    assert _hints(inputs, output, f"y = {node}")[0] == hint


@pytest.mark.parametrize(
    ("state", "piece", "more", "hint"),
    [
        ("float[4] st", "float[4] xi", "", "with num_scan_inputs=1 the shapes fit"),
        # The body has no shapes, others, or a scan input of another axis, to which no shape is compared.
        ("float[] st", "float[4] xi", "", None),
        ("float[4] st", "float[5] xi", "", None),
        ("float[4] st", "float[4] xi", ", scan_input_axes=[0,0]", None),
    ],
)
def test_the_number_of_scan_inputs_fits_the_body(state: str, piece: str, more: str, hint: str | None):
    nodes = f"""z, y = Scan<num_scan_inputs=2{more}, body = b ({state}, {piece}) => (float[4] s2, float[4] yo)
        {{ s2 = Add(st, xi) yo = Identity(s2) }}>(s, x)"""
    assert _hints("float[4] s, float[7,4] x", "float[4] z, float[7,4] y", nodes)[0] == hint


def test_a_parameter_of_a_function_is_not_known():
    text = """
        <ir_version: 10, opset_import: ["": 21, "l": 1]>
        g (float[2,3] x, float[4,3] w) => (float[2,4] y) { y = l.F<t=0>(x, w) }
        <domain: "l", opset_import: ["": 21]>
        F <t> (a, b) => (c) { c = Gemm<transB: int = @t>(a, b) }"""
    assert _hints_of(text) == [None]


def test_in_a_function_outputs_have_no_shape_to_fit():
    text = """
        <ir_version: 10, opset_import: ["": 21, "l": 1]>
        g (float[2,3] x, float[4,3] w) => (float[2,4] y) { y = l.F(x, w) }
        <domain: "l", opset_import: ["": 21]>
        F (a, b) => (c) { c = Gemm(a, b) }"""
    assert _hints_of(text) == ["with transB=1 the shapes fit"]


def test_a_node_with_a_subgraph_is_tried_as_well():
    """The subgraph is an attribute without a value for shape rules. The key has one dimension less than it must."""
    text = """
        <ir_version: 13, opset_import: ["": 26, "ai.onnx.preview": 1]>
        g (float[1,2,4,8] q, float[2,4,8] k) => (float[1,2,4,8] y) {
            y = ai.onnx.preview.FlexAttention<
                score_mod = s (float[B,H,L,S] a) => (float[B,H,L,S] b) { b = Relu(a) }>(q, k, q)
        }"""
    assert _hints_of(text) == ["with an Unsqueeze (axes=[0]) of input 1 'k' the shapes fit"]


@pytest.mark.parametrize(
    ("value", "node", "outputs", "hint"),
    [
        ([2, 3, 3], "Reshape(x, k)", "float[2,3,2] y", "with [2, 3, -1] as input 1 'k' the shapes fit"),
        ([-1, -1], "Reshape(x, k)", "float[2,6] y", "with [0, -1] as input 1 'k' the shapes fit"),
        (
            [4, 2],
            "Reshape(x, k)",
            "float[A,B] y",
            "with [-1, 2] as input 1 'k' or [4, -1] as input 1 'k' the shapes fit",
        ),
        ([2, 3], "Split<axis=1>(x, k)", "float[2,3] y, float[2,3] z", "with [3, 3] as input 1 'k' the shapes fit"),
        (
            [2, 3],
            "Split<axis=1>(x, k)",
            "float[A,B] y, float[A,C] z",
            "with [3, 3] as input 1 'k' or [2, 4] as input 1 'k' the shapes fit",
        ),
    ],
)
def test_the_content_of_a_list_is_tried(value: list[int], node: str, outputs: str, hint: str | None):
    names = "y, z" if "z" in outputs else "y"
    assert _hints("float[2,6] x", outputs, f"k = Constant<value_ints={value}>() {names} = {node}") == [hint]


def test_old_operators_broadcast_along_an_axis():
    text = '<ir_version: 3, opset_import: ["": 6]> g (float[2,3,4] x, float[3] w) => (float[2,3,4] y) { y = Add(x, w) }'
    assert _hints_of(text) == ["with broadcast=1 and axis=1 the shapes fit"]


class _CountedPasses(list):
    """A list that counts how often it is read from the begin."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def test_the_nodes_are_read_twice_at_most_to_find_where_weights_are_read():
    inputs = _CountedPasses([("x", f"w.{index}.weight") for index in range(500)])
    node = SimpleNamespace(graph=SimpleNamespace(node_inputs=inputs), index=300)
    assert _read_later([f"w.{index}.weight" for index in range(400)], node) == [
        f"w.{index}.weight" for index in range(301, 400)
    ]
    assert inputs.passes <= 2


def test_names_with_one_lower_number():
    names = ["a.1.w", "a.12.w", "b.2.w", "a.3.w", "a.3.v", "a.2.w2", "a.w", f"a.{'9' * 5_000}.w"]
    assert _with_lower_number("a.3.w", names) == ["a.1.w"]
    assert _with_lower_number("a.w", names) == []


@pytest.mark.parametrize(("output", "hint"), [("N", "with axis=1 the shapes fit"), ("M", None)])
def test_an_axis_makes_the_declared_shape(output: str, hint: str | None):
    assert _hints("float[N,10] x", f"int64[{output}] y", "y = ArgMax<axis=2, keepdims=0>(x)") == [hint]


@pytest.mark.parametrize(
    ("size", "hint"),
    [(72, "with [-1, 72] as input 1 's' of unnamed node 0 (Reshape) of the main graph the shapes fit"), (36, None)],
)
def test_a_reshape_makes_one_row_of_each_sample(size: int, hint: str | None):
    text = f"""<ir_version: 10, opset_import: ["": 21]> g (float[N,8,3,3] x, float[{size},4] w) => (float[M,4] y)
    <int64[2] s = {{-1, 64}}> {{ r = Reshape(x, s) y = Gemm(r, w) }}"""
    assert _hints_of(text) == [hint]


@pytest.mark.parametrize(
    ("first", "hint"), [("m", None), ("1", "with a Transpose of input 1 'w' with perm={} the shapes fit")]
)
@pytest.mark.parametrize("count", [1, 12, 16])
def test_a_change_fits_whatever_sizes_many_variables_have(count: int, first: str, hint: str | None):
    """The matrices fit if the second one is transposed. Their first dimensions are two variables, or one and 1."""
    ones, variables, unknown = [
        ", ".join(each) for each in (["1"] * (count - 1), "abcdefghijklnopq"[:count], "?" * count)
    ]
    first = f"{first}, {ones}" if ones else first
    found = _hints(f"float[{variables},2,3] x, float[{first},4,3] w", f"float[{unknown},2,4] y", "y = MatMul(x, w)")
    assert found == [hint and hint.format([*range(count), count + 1, count])]
