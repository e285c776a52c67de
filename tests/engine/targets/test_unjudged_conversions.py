# SPDX-License-Identifier: Apache-2.0
"""Nodes of kinds whose conversion fails in some models are not said to load in OpenVINO."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

import onnx_lint

IMAGE = "(float[1, 2, 4, 4] x) => (float[a, b, c, d] y) { y = %s(x) }"
SCALED = "(float[3, 4] x) => (uint8[3, 4] y) <float%s s> { y = QuantizeLinear<axis = 0>(x, s) }"


def state(graph: str, opset: int = 17) -> bool | None:
    """Return whether OpenVINO loads a model."""
    found = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g {graph}')
    return onnx_lint.lint(found, target="openvino=2026.4").files[0].targets[0].loads


POOL = "AveragePool<kernel_shape = [%s], pads = [1, 1, 1, 1]>"


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("MaxPool<kernel_shape = [2, 2]>", True),
        ("MaxPool<kernel_shape = [5, 2], ceil_mode = 1>", None),
        (POOL % "3, 3", True),
        (POOL % "1, 1", None),
        ("Celu", True),
        ("Bernoulli", None),
    ],
)
def test_forms_of_one_operator(node: str, expected: bool | None) -> None:
    assert (state(IMAGE % node) or None) is expected


@pytest.mark.parametrize(("training", "expected"), [("{0}", True), ("{1}", None)])
def test_dropout_in_training(training: str, expected: bool | None) -> None:
    start = f"(float[2] x) => (float[2] y) <float r = {{0.5}}, bool t = {training}>"
    assert state(start + " { y = Dropout(x, r, t) }") is expected
    assert state("(float[2] x, bool t) => (float[2] y) <float r = {0.5}> { y = Dropout(x, r, t) }") is None


def test_a_rank_that_is_unknown() -> None:
    softmax = "(float[2, 3] x, int64[n] s) => (float[a, b] y) { %s y = Softmax(r) }"
    assert state(softmax % "r = Abs(x)", opset=11) is True
    assert state(softmax % "r = Reshape(x, s)", opset=11) is None


def test_scales_of_an_axis() -> None:
    for shape, elements, expected in (("", "1", True), ("[3]", "1, 1, 1", True), ("[3, 1]", "1, 1, 1", None)):
        scaled = SCALED.replace(" s>", f" s = {{{elements}}}>") % shape
        assert state(scaled) is expected, shape


def test_types_that_an_operator_does_not_take() -> None:
    assert state("(float16[2] x) => (float16[2] y) { y = Abs(x) }") is True
    assert state("(float16[2] x) => (float16[2] y) { y = RandomUniformLike(x) }") is None
    assert state("(string[2] x) => (string[2] y) { y = Identity(x) }") is None


@pytest.mark.parametrize(("operand", "expected"), [("x", True), ("k", None)])
@pytest.mark.parametrize("operator", ["ArgMax", "ReduceMin"])
def test_a_reduction_of_a_constant_of_no_elements(operator: str, operand: str, expected: bool | None) -> None:
    kind = "int64" if operator == "ArgMax" else "float"
    graph = f"(float[0, 3] x) => ({kind}[a, b] y) <float[0, 3] k = {{}}> {{ y = {operator}({operand}) }}"
    assert state(graph) is expected


def test_the_line_names_the_form_whose_conversion_may_fail() -> None:
    for node, what in (
        ("Bernoulli", "1 node of Bernoulli, whose conversion may fail"),
        (
            "MaxPool<kernel_shape = [5, 2]>",
            "1 node of MaxPool with windows or pads that may be too long, or of more than three",
        ),
    ):
        text = IMAGE % node
        found = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {text}')
        assert what in onnx_lint.lint(found, target="openvino=2026.4").files[0].targets[0].text


@pytest.mark.parametrize(
    ("graph", "opset", "expected"),
    [
        ("(bool[2, 3] x, bool[3] z) => (bool[2, 3] y) { y = Or<broadcast = 1>(x, z) }", 1, True),
        ("(bool[2, 3] x, bool[2] z) => (bool[2, 3] y) { y = Or<broadcast = 1, axis = 0>(x, z) }", 1, None),
        ("(float[0, 1, 9, 8] x) => (float[a, b, c, d] y) { y = MaxPool<kernel_shape = [2, 2]>(x) }", 17, None),
        ('(float[2, 3] x) => (float y) { y = ReduceMin<keepdims = 0>(x, "") }', 18, None),
        ("(float[2, 3] x) => (float y) { y = ReduceMin<keepdims = 0>(x) }", 18, True),
        ("(float[2] x) => (float[2] y) <int64[0] z = {}> { y = Unsqueeze(x, z) }", 17, None),
        ("(float[2] x) => (float[1, 2] y) <int64[1] z = {0}> { y = Unsqueeze(x, z) }", 17, True),
        ("(float[4] x, int64[n] k) => (float[a] y, int64[b] z) { y, z = TopK(x, k) }", 17, None),
        ("(float[4] x, int64[1] k) => (float[a] y, int64[b] z) { y, z = TopK(x, k) }", 17, True),
        ("(float[4] x, int64[1] d, float[n] v) => (float[4, c] y) { y = OneHot(x, d, v) }", 17, None),
        ("(float[4] x, int64[n] d, float[2] v) => (float[4, c] y) { y = OneHot(x, d, v) }", 17, None),
        ("(float[4] x, int64[1] d, float[2] v) => (float[4, c] y) { y = OneHot(x, d, v) }", 17, True),
        ("(uint8[4] x, uint8[n] z) => (float[4] y) <float[1] s = {1}> { y = DequantizeLinear(x, s, z) }", 17, None),
        ("(uint8[4] x, uint8[1] z) => (float[4] y) <float[1] s = {1}> { y = DequantizeLinear(x, s, z) }", 17, True),
    ],
)
def test_forms_that_nodes_of_shape_rules_showed(graph: str, opset: int, expected: bool | None) -> None:
    assert (state(graph, opset) or None) is expected


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose", "MaxPool", "AveragePool"])
@pytest.mark.parametrize(("axes", "expected"), [(1, True), (3, True), (4, None), (6, None)])
def test_windows_of_more_than_three_axes(operator: str, axes: int, expected: bool | None) -> None:
    sizes, ones = ", ".join(["4"] * axes), ", ".join(["1"] * axes)
    made = f"{operator}(x, w)" if "Conv" in operator else f"{operator}<kernel_shape = [{ones}]>(x)"
    output = ", ".join(["a", "b"] + [f"c{axis}" for axis in range(axes)])
    weights = f", float[2, 2, {ones}] w" if "Conv" in operator else ""
    assert state(f"(float[1, 2, {sizes}] x{weights}) => (float[{output}] y) {{ y = {made} }}") is expected


@pytest.mark.parametrize(
    ("axis", "scale", "expected"),
    [
        (-1, "[4]", True),
        (-1, "[1]", True),
        (-1, "", None),
        (-2, "[3, 4]", True),
        (1, "[1, 4]", True),
        (1, "[4]", None),
        (0, "[3]", None),
        (0, "[2, 3, 4]", True),
    ],
)
@pytest.mark.parametrize("bias", [False, True])
def test_a_normalization_with_a_scale_of_another_rank(axis: int, scale: str, expected: bool | None, bias: bool) -> None:
    graph = f"(float[2, 3, 4] x, float{scale} s) => (float[i, j, k] y) {{ y = LayerNormalization<axis = {axis}>(x, s"
    assert state(f"{graph}{', s' if bias else ''}) }}") is expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("Shrink<lambd = 0.5>", True),
        ("Shrink<lambd = -0.5>", None),
        ("Shrink<bias = -0.5>", True),
    ],
)
def test_a_shrink_below_0(node: str, expected: bool | None) -> None:
    assert state(IMAGE % node) is expected


@pytest.mark.parametrize(("epsilon", "expected"), [("0.0", True), ("-1.0", None)])
def test_a_normalization_of_a_batch_with_an_epsilon_below_0(epsilon: str, expected: bool | None) -> None:
    start = "(float[1, 2, 4, 4] x, float[2] s) => (float[a, b, c, d] y)"
    assert state(f"{start} {{ y = BatchNormalization<epsilon = {epsilon}>(x, s, s, s, s) }}") is expected
