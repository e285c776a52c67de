# SPDX-License-Identifier: Apache-2.0
"""Nodes get the parts of their attributes that the loader left in the file; long lists are in test_long_lists."""

from __future__ import annotations

from typing import Any

from support.wire.wire_bytes import BASE, length

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.left_in_file import AttributeInFile, LeftInFile, entries_of, raw_data_of
from onnx_lint.ir.payload import Payload


def _attribute(**tensor: Any) -> Any:
    return schema.message("AttributeProto")(name="values", type=4, t=schema.message("TensorProto")(**tensor))


def test_the_values_of_a_parsed_tensor():
    assert raw_data_of(_attribute(raw_data=b"abcd")) == b"abcd"
    assert [list(piece) for piece in entries_of(_attribute(float_data=[0.5, 2.0]), "float_data")] == [[0.5, 2.0]]
    assert list(entries_of(_attribute(float_data=[0.5]), None)) == []


def test_the_values_of_a_tensor_in_the_file():
    source = BytesSource(b"....abcd")
    payloads = (Payload("raw_data", 4, 4, packed=False),)
    attribute = AttributeInFile(_attribute(data_type=1), {}, source, payloads)
    assert raw_data_of(attribute) == b"abcd"
    assert (attribute.name, attribute.t.data_type) == ("values", 1)


def test_only_nodes_with_long_lists_are_completed():
    node = schema.message("NodeProto")(op_type="Op")
    node.attribute.add(name="numbers", type=7)
    key = (("graph", None), ("node", 0))
    listed = {(*key, ("attribute", 0)): (Payload("ints", len(BASE), 2, packed=True),)}
    left = LeftInFile(BytesSource(BASE + length(8, b"\1")), listed, {})
    assert left.complete_message(key, "GraphProto", node) is node
    assert left.complete_message((("graph", None), ("node", 1)), "NodeProto", node) is node
    completed = left.complete_message(key, "NodeProto", node)
    assert completed.op_type == "Op"
    assert isinstance(completed.attribute[0], AttributeInFile)
