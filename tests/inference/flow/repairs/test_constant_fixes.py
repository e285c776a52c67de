# SPDX-License-Identifier: Apache-2.0
"""The messages of fixes of constants, of one and of several."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint


def _messages(graph: str) -> set[str]:
    """The messages of the fixes of a model with this graph."""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {graph}')
    return {each.fix.message for each in lint(model.SerializeToString()).diagnostics if each.fix}


@pytest.mark.parametrize(
    ("count", "message"),
    [(1, "convert 1 tensor from int32 to int64"), (2, "convert 2 tensors from int32 to int64")],
)
def test_the_message_about_tensors_of_int32(count: int, message: str):
    numbers = range(count)
    tensors = ", ".join(f"int32[1] s{number} = {{-1}}" for number in numbers)
    nodes = " ".join(f"y{number} = Reshape(x, s{number})" for number in numbers)
    outputs = ", ".join(f"float[A{number}] y{number}" for number in numbers)
    assert message in _messages(f"(float[2,3] x) => ({outputs}) <{tensors}> {{ {nodes} }}")


def test_the_message_about_lists_of_one_element():
    found = _messages("""(int64[N] y) => (float[A] z, float[B] w)
        <int64[1] a = {0}, int64[1] b = {9}, int64[1] c = {1}> {
        r = Range(a, b, c) z = Cast<to=1>(r) s = Range(a, b, c) w = Cast<to=1>(s) }""")
    assert "remove the dimensions of 3 tensors of one element" in found
