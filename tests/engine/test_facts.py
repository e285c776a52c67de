# SPDX-License-Identifier: Apache-2.0
"""The facts about a file that a report has besides its findings."""

from __future__ import annotations

import pytest
from onnx import AttributeProto, ModelProto, TensorProto

from onnx_lint.engine.facts import left_out
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

_STORED_OUTSIDE = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)


@pytest.mark.parametrize(
    ("proto", "noun"),
    [
        (ModelProto(graph={"initializer": [_STORED_OUTSIDE]}), "model"),
        (_STORED_OUTSIDE, "tensor"),
        (AttributeProto(name="value", type=AttributeProto.TENSOR, t=_STORED_OUTSIDE), "attribute"),
    ],
)
def test_a_document_without_a_place_is_called_what_it_is(proto, noun):
    model = load(BytesSource(proto.SerializeToString()), proto=proto.DESCRIPTOR.name)
    [said] = left_out(model, Settings())
    assert said == f"the files of external data were not examined: the {noun} has no place in the file system"
