# SPDX-License-Identifier: Apache-2.0
"""Findings about Protocol Buffers messages that are no models: those of other projects, and the others of ONNX."""

from __future__ import annotations

import struct

from google.protobuf import descriptor_pb2
from support.project.each_case import each_case
from support.wire.wire_bytes import length, number, tag

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load


def _node(name: str, operator: str, *inputs: str) -> bytes:
    attribute = length(5, length(1, "dtype") + length(2, number(6, 1)))
    return length(1, length(1, name) + length(2, operator) + b"".join(length(3, item) for item in inputs) + attribute)


def _descriptor() -> descriptor_pb2.FileDescriptorProto:
    found = descriptor_pb2.FileDescriptorProto()
    descriptor_pb2.DESCRIPTOR.CopyToProto(found)
    return found


GRAPH_DEF = _node("x", "Placeholder") + _node("w", "Const") + _node("y", "MatMul", "x", "w")
META_GRAPH = length(1, length(4, "serve")) + length(2, GRAPH_DEF)
LAYERS = b"".join(length(100, length(1, name) + length(2, kind)) for name, kind in (("a", "Input"), ("b", "ReLU")))
PIECES = b"".join(length(1, length(1, p) + tag(2, 5) + struct.pack("<f", -1.5) + number(3, 1)) for p in ("<unk>", "a"))
BLOCK = (number(1, 0), number(2, 0), length(3, length(1, "x") + length(2, number(1, 7))), length(4, length(3, "relu")))
FEATURE = length(1, length(1, "image") + length(2, length(1, length(1, b"\x89PNG"))))

FOREIGN = {
    "GraphDef": (GRAPH_DEF, "a TensorFlow GraphDef"),
    "GraphDef with versions": (GRAPH_DEF + length(4, number(1, 440)), "a TensorFlow GraphDef"),
    "GraphDef with a library": (GRAPH_DEF + length(2, length(1, length(1, "f"))), "a TensorFlow GraphDef"),
    "SavedModel": (number(1, 1) + length(2, META_GRAPH), "a TensorFlow SavedModel"),
    "MetaGraphDef": (META_GRAPH, "a TensorFlow MetaGraphDef"),
    "TensorFlow tensor": (
        number(1, 1) + length(2, length(2, number(1, 2))) + length(4, bytes(8)),
        "a TensorFlow TensorProto",
    ),
    "Example": (length(1, FEATURE), "a TensorFlow Example"),
    "Caffe": (length(1, "LeNet") + LAYERS, "a Caffe network"),
    "Caffe2": (length(1, "net") + length(2, length(1, "x") + length(2, "y") + length(4, "Relu")), "a Caffe2 network"),
    "Core ML": (
        number(1, 4) + length(2, length(1, length(1, "in")) + length(10, length(1, "out"))) + length(500, ""),
        "a Core ML model",
    ),
    "Paddle": (length(1, b"".join(BLOCK)) + length(4, number(1, 0)), "a PaddlePaddle program"),
    "SentencePiece": (PIECES + length(2, length(1, "corpus.txt")), "a SentencePiece model"),
    "descriptor": (_descriptor().SerializeToString(), "a .proto descriptor"),
    "descriptors": (
        descriptor_pb2.FileDescriptorSet(file=[_descriptor()]).SerializeToString(),
        "a set of .proto descriptors",
    ),
}  # fmt: skip


@each_case("name", ["model.onnx", "file.pb"])
@each_case(("data", "what"), FOREIGN.values(), ids=FOREIGN)
def test_the_message_of_another_project_is_named(data: bytes, what: str, name: str):
    model = load(BytesSource(data), name)
    assert [fault.message for fault in model.faults] == [f"the file is {what}, not an ONNX model"]
    assert not model.loaded


NOBODYS = {
    "string": length(1, "hello"),
    "two strings": length(1, "hello") + length(2, "there"),
    "label map": b"".join(length(1, number(1, index) + length(2, f"label {index}")) for index in range(3)),
    "deep": length(1, length(1, length(1, length(1, "service.name")))),
    "GraphDef with names of control characters": _node("\1\2", "Const"),
    "GraphDef with names in no encoding": _node("x", "Relu").replace(b"Relu", b"\xff" * 4),
    "Caffe with a number for its name": tag(1, 5) + bytes(4) + LAYERS,
    "Caffe with numbers for names": length(100, number(1, 5) + length(2, "ReLU")),
    "Caffe with numbers for kinds": length(100, length(1, "a") + number(2, 5)),
    **{f"Paddle without part {part}": length(1, b"".join(BLOCK).replace(BLOCK[part], b"")) for part in range(4)},
    "Paddle with a text for a number": length(1, b"".join(BLOCK).replace(BLOCK[0], length(1, "a"))),
    "Paddle with another text for a number": length(1, b"".join(BLOCK).replace(BLOCK[1], length(2, "a"))),
    "Paddle with a number for a name": length(1, b"".join(BLOCK).replace(length(3, "relu"), number(3, 1))),
}


IS_UNKNOWN = {
    "model.onnx": "the file is a Protocol Buffers message, but not an ONNX message",
    "file.pb": "the file is a Protocol Buffers message, but not an ONNX message; "
    "to check it as a tensor, use --proto TensorProto",
}


@each_case("name", IS_UNKNOWN)
@each_case("data", NOBODYS.values(), ids=NOBODYS)
def test_a_message_that_nobody_knows_is_told_as_such(data: bytes, name: str):
    model = load(BytesSource(data), name)
    assert [fault.message for fault in model.faults] == [IS_UNKNOWN[name]]
