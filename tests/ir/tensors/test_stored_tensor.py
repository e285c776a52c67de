# SPDX-License-Identifier: Apache-2.0
"""The facts about a tensor that need no reading of its contents."""

from __future__ import annotations

from support.models.tensor_samples import TENSOR_SETTINGS, WatchedSource, tensor_model
from support.project.fixture_files import lint

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model


def test_sizes_are_told_without_reading_the_contents():
    data = tensor_model(1, [9 << 18], raw_data=bytes(9 << 20))
    model = load(WatchedSource(data))
    WatchedSource.longest = 0
    assert lint(model, TENSOR_SETTINGS) == ()
    assert WatchedSource.longest == 0


def test_only_type_and_shape_of_external_tensors_are_judged():
    model = schema.message("ModelProto")()
    model.ir_version = 14
    for name, data_type, dims in (("a", 1, [2]), ("b", 99, [2]), ("c", 1, [-2]), ("d", 8, [2])):
        tensor = model.graph.initializer.add()
        tensor.name, tensor.data_type, tensor.data_location = name, data_type, 1
        tensor.dims.extend(dims)
        tensor.raw_data = b"surplus"
    loaded: Model = load(BytesSource(model.SerializeToString()))
    assert [each.message for each in lint(loaded, TENSOR_SETTINGS)] == [
        "tensor 'b' of main graph has the element type 99, which is not defined",
        "dimension 0 of tensor 'c' of main graph is -2, but must be at least 0",
    ]
