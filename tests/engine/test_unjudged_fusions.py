# SPDX-License-Identifier: Apache-2.0
"""Nodes that ONNX Runtime fuses, or that end its process, are not said to load."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

import onnx_lint

PRODUCT = "(float16[2, 5, 24] x) => (float16[5, 2, 3] y) <float16[24, 3] w> { t = Transpose<perm = [1, 0, 2]>(x) %s }"
CONV = "(float[1, 16, 4, 4] x, float[16, 16, 1, 1] w) => (float[1, 16, 4, 4] y) { y = %s<%s>(x, w) }"
FLOAT8 = """(float[4] x) => (float[4] y) <float s = {1}, float8e4m3fn z = {0}>
{ q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) c = %s(d) p = QuantizeLinear(c, s, z)
y = DequantizeLinear(p, s, z) }"""
DFT = "(float[1, 5, 2] x) => (float[1, n, 1] y) { y = DFT<axis = 1, inverse = %d, onesided = %d>(x) }"


def states(graph: str, *, opset: int = 17, imports: str = "") -> list[bool | None]:
    """Return whether the known releases load a model, the oldest first."""
    text = f'<ir_version: {9 if opset > 18 else 8}, opset_import: ["": {opset}{imports}]> g {graph}'
    found = onnx.parser.parse_model(text)
    targets = [f"onnxruntime={version}" for version in ("1.17.3", "1.20.1", "1.23.2", "1.32")]
    report = onnx_lint.lint(found, target=targets)
    return [each.loads for each in report.files[0].targets]


def test_a_product_of_float16_after_a_transpose_may_end_the_process() -> None:
    elements = ", ".join(["1"] * 72)
    constant = PRODUCT.replace("<float16[24, 3] w>", f"<float16[24, 3] w = {{{elements}}}>")
    assert states(constant % "y = MatMul(t, w)") == [True, True, None, None]
    assert states((constant % "y = MatMul(t, w)").replace("float16", "float")) == [True] * 4


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('activation = "Relu"', [True] * 4),
        ('activation = "HardSwish"', [None, None, None, True]),
        ('activation = "Gelu"', [None] * 4),
        ('activation = "Clip", activation_params = [0.0, 1.0]', [True] * 4),
        ('activation = "Clip"', [None] * 4),
    ],
)
@pytest.mark.parametrize("operator", ["com.microsoft.nchwc.Conv", "com.microsoft.FusedConv"])
def test_kernels_know_some_activations(operator: str, attributes: str, expected: list[bool | None]) -> None:
    domain = operator.rpartition(".")[0]
    found = states(CONV % (operator, attributes), imports=f', "{domain}": 1')
    assert [each or None for each in found] == expected  # for FusedConv there are rows that refuse HardSwish


def test_older_releases_fuse_nodes_between_float8() -> None:
    assert states(FLOAT8 % "Sigmoid", opset=19) == [None, None, None, True]
    assert states(FLOAT8 % "Clip", opset=19) == [None] * 4
    assert states((FLOAT8 % "Sigmoid").replace("float8e4m3fn", "uint8"), opset=19) == [True] * 4


def test_older_releases_infer_no_inverse_of_one_side() -> None:
    assert states(DFT % (1, 1)) == [None, None, None, True]
    assert states((DFT % (1, 0)).replace("n, 1", "n, 2")) == [True] * 4
