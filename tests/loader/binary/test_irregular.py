# SPDX-License-Identifier: Apache-2.0
"""The readable part of messages that do not parse is read."""

from __future__ import annotations

import pytest
from support.wire.wire_bytes import length, number

from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.irregular import read_irregular
from onnx_lint.model import FaultKind


def _read(data: bytes, kind: str = "ModelProto"):
    proto, faults = read_irregular(BytesSource(data), kind, data, DEFAULT_LIMITS)
    return proto, [fault.kind for fault in faults]


@pytest.mark.parametrize(
    ("name", "readable"), [(b"ab\xff", "ab?"), (b"\xe2\x82", "??"), ("é\u20ac".encode()[:-1] + b"!", "é??!")]
)
def test_each_byte_that_is_no_character_is_a_question_mark(name: bytes, readable: str):
    proto, faults = _read(number(1, 10) + length(2, name) + length(7, length(2, b"g")))
    assert faults == [FaultKind.UTF8]
    assert (proto.ir_version, proto.producer_name, proto.graph.name) == (10, readable, "g")


def test_of_a_file_that_is_cut_short_nothing_is_read():
    assert _read((number(1, 10) + length(2, "producer"))[:-1]) == (None, [FaultKind.TRUNCATED])


def test_single_messages_are_read_too():
    proto, faults = _read(length(1, b"\xff") + length(4, "Relu"), "NodeProto")
    assert faults == [FaultKind.UTF8]
    assert (list(proto.input), proto.op_type) == (["?"], "Relu")
