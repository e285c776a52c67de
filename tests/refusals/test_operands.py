# SPDX-License-Identifier: Apache-2.0
"""The values of attributes whose fields contradict their types."""

from __future__ import annotations

import onnx
import pytest

from onnx_lint.refusals.operands import attribute_value

INT, STRING, FLOAT = onnx.AttributeProto.INT, onnx.AttributeProto.STRING, onnx.AttributeProto.FLOAT


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        (onnx.AttributeProto(type=INT, i=1, s=b"\xff\xfe"), 1),
        (onnx.AttributeProto(type=STRING, s=b"linear", i=1), "linear"),
        (onnx.AttributeProto(type=STRING, s=b"a\xff"), "a\ufffd"),
        (onnx.AttributeProto(s=b"linear"), "linear"),
        (onnx.AttributeProto(i=2), 2),
        (onnx.AttributeProto(type=FLOAT, f=1.5), 0),
    ],
)
def test_the_value_of_an_attribute_is_that_of_its_type(attribute: onnx.AttributeProto, value: int | str) -> None:
    assert attribute_value(attribute) == value
