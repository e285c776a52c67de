# SPDX-License-Identifier: Apache-2.0
"""The facts that types and tensors state."""

from __future__ import annotations

import struct

import pytest
from onnx import SparseTensorProto, TensorProto, helper

from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS, UNKNOWN, fact
from onnx_lint.inference.shapes.stated import fact_of_sparse, fact_of_tensor, fact_of_type

FLOATS = "tensor(float)"


def test_types():
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, "N", None])
    assert fact_of_type(tensor) is fact(FLOATS, (2, "N", None))
    assert fact_of_type(helper.make_tensor_type_proto(TensorProto.FLOAT, None)) is fact(FLOATS)
    sequence = helper.make_sequence_type_proto(tensor)
    assert fact_of_type(sequence) is fact(f"seq({FLOATS})", inside=fact(FLOATS, (2, "N", None)))
    negative = helper.make_tensor_type_proto(TensorProto.FLOAT, [-1])
    assert fact_of_type(negative) is fact(FLOATS, (None,))
    assert fact_of_type(type(tensor)()) is UNKNOWN


@pytest.mark.parametrize(
    ("proto", "shape", "content"),
    [
        (helper.make_tensor("t", TensorProto.INT64, [2], [3, -1]), (2,), (3, -1)),
        (helper.make_tensor("t", TensorProto.INT64, [2], struct.pack("<2q", 3, -1), raw=True), (2,), (3, -1)),
        (helper.make_tensor("t", TensorProto.BOOL, [2], [True, False]), (2,), (1, 0)),
        (helper.make_tensor("t", TensorProto.FLOAT, [], [0.5]), (), (0.5,)),
        (helper.make_tensor("t", TensorProto.INT64, [2, 1], [3, -1]), (2, 1), (3, -1)),
        (helper.make_tensor("t", TensorProto.FLOAT, [1, 1], [3.0]), (1, 1), (3.0,)),
        (helper.make_tensor("t", TensorProto.FLOAT16, [1], [3.5]), (1,), (3.5,)),
        (helper.make_tensor("t", TensorProto.BFLOAT16, [1], [3.0]), (1,), None),
        (TensorProto(data_type=TensorProto.INT64, dims=[2], int64_data=[3]), (2,), None),
        (TensorProto(data_type=TensorProto.INT64, dims=[1], data_location=TensorProto.EXTERNAL), (1,), None),
        (TensorProto(data_type=TensorProto.INT64, dims=[-1]), None, None),
    ],
)
def test_tensors(proto: TensorProto, shape: tuple[int, ...] | None, content: tuple[float, ...] | None):
    found = fact_of_tensor(proto)
    assert (found.shape, found.content) == (shape, content)


def test_long_lists_of_numbers_are_not_kept():
    for count, is_kept in ((MAX_CONTENT_ELEMENTS, True), (MAX_CONTENT_ELEMENTS + 1, False)):
        found = fact_of_tensor(helper.make_tensor("t", TensorProto.FLOAT, [count], [1.0] * count))
        assert (found.content is not None) is is_kept


def test_a_sparse_tensor_is_the_dense_one_that_it_stands_for():
    values = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
    assert fact_of_sparse(SparseTensorProto(values=values, dims=[3, 4])) is fact(FLOATS, (3, 4))
