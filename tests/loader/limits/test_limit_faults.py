# SPDX-License-Identifier: Apache-2.0
"""What goes beyond a limit is called what it is, whatever kind of document it is."""

from __future__ import annotations

import pytest
from onnx import NodeProto, TensorProto, helper

from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

_TENSOR = TensorProto(name="t", data_type=TensorProto.INT64, dims=[3], int64_data=[1, 2, 3])


def _fault(data: bytes, proto: str | None, limits: Limits, name: str = "") -> str:
    [fault] = load(BytesSource(data), name, limits=limits, proto=proto).faults
    return fault.message


@pytest.mark.parametrize(
    ("data", "proto", "limit", "message"),
    [
        (
            _TENSOR.SerializeToString(),
            "TensorProto",
            "message_bytes",
            "the tensor without its contents takes up at least 12 bytes, more than the limit "
            "message_bytes of 1 (option --limit message_bytes=N); the tensor is not judged",
        ),
        (
            b'name: "s" values { name: "v" }',
            "SparseTensorProto",
            "text_bytes",
            "the sparse tensor takes up 30 bytes of text, more than the limit text_bytes of 1 "
            "(option --limit text_bytes=N); the sparse tensor is not judged",
        ),
        (
            helper.make_graph([NodeProto(), NodeProto()], "g", [], []).SerializeToString(),
            "GraphProto",
            "nodes",
            "the graph has at least 2 nodes, more than the limit nodes of 1 (option --limit nodes=N); "
            "the graph is not judged",
        ),
    ],
)
def test_messages_name_the_kind_of_document(data: bytes, proto: str, limit: str, message: str):
    assert _fault(data, proto, replace(DEFAULT_LIMITS, **{limit: 1})) == message


def test_a_text_says_itself_what_is_too_large():
    text = b'# proto-message: TensorProto\nname: "t"'
    assert _fault(text, None, replace(DEFAULT_LIMITS, text_bytes=1)).endswith("; the tensor is not judged")


def test_a_file_that_is_not_to_be_read_counts_as_a_model():
    message = _fault(_TENSOR.SerializeToString(), None, replace(DEFAULT_LIMITS, file_bytes=1), "t.pb")
    assert message.endswith("; the model is not judged")
