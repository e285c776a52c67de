# SPDX-License-Identifier: Apache-2.0
"""Boundaries that a mutant of the code has crossed without any other test noticing."""

from __future__ import annotations

import onnx.parser
import pytest
from support.project.each_case import each_case

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model


def _model(text: str, domains: str = '"": 21, "com.microsoft": 1') -> Model:
    model = onnx.parser.parse_model(f"<ir_version: 10, opset_import: [{domains}]> g {text}")
    found = load(BytesSource(model.SerializeToString()))
    assert found.value_flow is not None
    assert list(found.crashes) == []
    return found


@each_case(
    ("inputs", "body", "shape"),
    [
        # Rounded up, the number of windows depends on the size, unless they move one by one.
        ("float[1,1,N] x", "y = MaxPool<kernel_shape=[2], strides=[1], ceil_mode=1>(x)", (1, 1, "N - 1")),
        ("float[1,1,N] x", "y = MaxPool<kernel_shape=[2], strides=[2], ceil_mode=1>(x)", (1, 1, "((N - 1)//2) + 1")),
        ("float[1,1,N] x", "y = MaxPool<kernel_shape=[2], strides=[3], ceil_mode=1>(x)", (1, 1, None)),
        # What is joined along the second axis does not come row by row.
        (
            "float[1] x",
            """a = Constant<value: tensor = int64[2,1] {1, 2}>() b = Constant<value: tensor = int64[2,1] {3, 4}>()
            c = Concat<axis=1>(a, b) m = Constant<value_ints=[-1]>() s = Reshape(c, m) y = Expand(x, s)""",
            (1, 3, 2, 4),
        ),
        # From the last element to the first, wherever the end is said to be.
        (
            "float[1] x",
            """a = Constant<value_ints=[2, 3, 4]>() b = Constant<value_ints=[9]>() e = Constant<value_ints=[-9]>()
            k = Constant<value_ints=[0]>() n = Constant<value_ints=[-1]>() s = Slice(a, b, e, k, n) y = Expand(x, s)""",
            (4, 3, 2),
        ),
        # A start before the first element is the first one, also backwards, as onnx and ONNX Runtime have it.
        (
            "float[1] x",
            """a = Constant<value_ints=[2, 3, 4]>() b = Constant<value_ints=[-9]>() e = Constant<value_ints=[-10]>()
            k = Constant<value_ints=[0]>() n = Constant<value_ints=[-1]>() s = Slice(a, b, e, k, n) y = Expand(x, s)""",
            (2,),
        ),
        # Indices of all dimensions select single elements.
        ("float[2,3] x, int64[4,2] i", "y = GatherND(x, i)", (4,)),
        # Where a slice ends is not known.
        (
            "float[1] x, int64[1] e",
            """a = Constant<value_ints=[2, 3, 4]>() b = Constant<value_ints=[0]>()
            s = Slice(a, b, e) y = Expand(x, s)""",
            None,
        ),
        # The first element is there, whatever N is.
        (
            "float[N] x, float[2] z",
            """c = Concat<axis=0>(x, z) b = Constant<value_ints=[0]>() e = Constant<value_ints=[1]>()
            y = Slice(c, b, e)""",
            (1,),
        ),
        # The first two elements: 0 is not counted from the end.
        ("float[5] x", "b = Constant<value_ints=[0]>() e = Constant<value_ints=[2]>() y = Slice(x, b, e)", (2,)),
        ("float[0] x, int64[1] b, int64[1] e", "y = Slice(x, b, e)", (0,)),
        ("float[1] x, int64[1] b, int64[1] e", "y = Slice(x, b, e)", (None,)),
        (
            "float[1,2,8,8] x, float[3,4] r, int64[3] i",
            "y = RoiAlign<output_height=1, output_width=2>(x, r, i)",
            (3, 2, 1, 2),
        ),
        ("float[1,4,2,2] x", "y = DepthToSpace<blocksize=1>(x)", (1, 4, 2, 2)),
        # How many blocks an image of N rows has depends on N.
        (
            "float[1,4,9] x, float[N,4] z",
            "s = Shape(z) b = Constant<value_ints=[2, 2]>() y = Col2Im(x, s, b)",
            (1, 1, "N", 4),
        ),
        # The target is the whole shape, but for the axes that are not listed.
        ("int64[K] p, float z", "x = Expand(z, p) t = Constant<value_ints=[2, 3]>() y = CenterCropPad(x, t)", (2, 3)),
        (
            "int64[K] p, float z",
            "x = Expand(z, p) t = Constant<value_ints=[2]>() y = CenterCropPad<axes=[1]>(x, t)",
            None,
        ),
        # The keys decide, not the same keys rotated.
        (
            "float[1,2,4] e, float16[1,3,2,4] q, float16[1,3,2,4] r, float16[1,3,2,4] k, float16[1,3,2,4] u",
            "z, y = com.microsoft.GemmaRotaryEmbedding(e, q, r, k, u)",
            (1, 3, 2, 4),
        ),
        (
            "float[32,5] t",
            """q = Constant<value_int=3>() k = Constant<value_int=7>()
            y = com.microsoft.RelativePositionBias<max_distance=9>(t, q, k)""",
            (1, 5, 3, 7),
        ),
    ],
)
def test_the_shape_of_an_output(inputs: str, body: str, shape: tuple[object, ...] | None):
    model = _model(f"({inputs}) => (float y) {{ {body} }}".replace("(float y)", "(y)"))
    assert [str(each.problem) for each in model.value_flow.shapes] == []
    assert model.value_flow.shape_of("y") == shape


@pytest.mark.parametrize(
    ("inputs", "body"),
    [
        ("float[1,4,8,8] x, float[3,2,1,1] w", "y = Conv<group=2>(x, w)"),
        ("float[1,3,8] x, float[3,2,1] w", "y = ConvTranspose<group=2>(x, w)"),
        ("float[1,3,4,4] x, float[1,3,1,1] w, float[1,4,4,4] o", "y = DeformConv<offset_group=2>(x, w, o)"),
        ("float[6] x", "s = Constant<value_ints=[2, 2, 2]>() y, z = Split(x, s)"),
        ("float[6] x", "s = Constant<value_ints=[-1, 7]>() y, z = Split(x, s)"),
        # The second fault of one list is not reported beside the first.
        ("float[6] x", "s = Constant<value_ints=[-1, 4, 3]>() y, z = Split(x, s)"),
    ],
)
def test_what_does_not_fit_is_found(inputs: str, body: str):
    assert len(_model(f"({inputs}) => (y) {{ {body} }}").value_flow.shapes) == 1


def test_of_a_value_that_is_declared_with_two_types_nothing_is_known():
    model = _model(
        "(int64[K] s, float z) => (y) <float[2] a, int64[2] a> { a = l.Unknown(z) y = Identity(a) }", '"": 21, "l": 1'
    )
    assert model.value_flow.fact_of("y").kind is None


def test_one_head_is_a_number_of_heads():
    node = 'LinearAttention<q_num_heads=1, kv_num_heads=1, update_rule="linear">(x, x, x)'
    model = _model(f"(float[2,5,8] x) => (y, z) {{ y, z = {node} }}", '"": 27')
    assert (model.value_flow.shapes, model.value_flow.shape_of("y")) == ([], (2, 5, 8))
