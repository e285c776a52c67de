# SPDX-License-Identifier: Apache-2.0
"""What is told of Protocol Buffers messages that are no models: those of other projects, and the others of ONNX."""

from __future__ import annotations

import struct

import pytest
from google.protobuf import descriptor_pb2, json_format, text_format
from wire_bytes import length, number, tag

from onnx_lint import lint, schema
from onnx_lint.loader import load
from onnx_lint.source import BytesSource


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
BLOCK = number(1, 0) + number(2, 0) + length(3, length(1, "x") + length(2, number(1, 7))) + length(4, length(3, "relu"))
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
    "Paddle": (length(1, BLOCK) + length(4, number(1, 0)), "a PaddlePaddle program"),
    "SentencePiece": (PIECES + length(2, length(1, "corpus.txt")), "a SentencePiece model"),
    "descriptor": (_descriptor().SerializeToString(), "a .proto descriptor"),
    "descriptors": (
        descriptor_pb2.FileDescriptorSet(file=[_descriptor()]).SerializeToString(),
        "a set of .proto descriptors",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ["model.onnx", "file.pb"])
@pytest.mark.parametrize(("data", "what"), FOREIGN.values(), ids=FOREIGN)
def test_the_message_of_another_project_is_named(data: bytes, what: str, name: str):
    model = load(BytesSource(data), name)
    assert [fault.message for fault in model.faults] == [f"the file is {what}, not an ONNX model"]
    assert not model.loaded


NOBODYS = {
    "string": length(1, "hello"),
    "two strings": length(1, "hello") + length(2, "there"),
    "label map": b"".join(length(1, number(1, index) + length(2, f"label {index}")) for index in range(3)),
    "deep": length(1, length(1, length(1, length(1, "service.name")))),
}


@pytest.mark.parametrize("name", ["model.onnx", "file.pb"])
@pytest.mark.parametrize("data", NOBODYS.values(), ids=NOBODYS)
def test_a_message_that_nobody_knows_is_told_as_such(data: bytes, name: str):
    model = load(BytesSource(data), name)
    assert [fault.message for fault in model.faults] == ["the file is a Protocol Buffers message, but none of ONNX"]


SOUND = {
    "OperatorSetProto": 'domain: "com.example" opset_version: 1 operator { op_type: "Blur" since_version: 1 }',
    "FunctionProto": 'name: "F" domain: "d" input: "x" output: "y" node { op_type: "Relu" input: "x" output: "y" }',
    "GraphProto": 'name: "g" node { op_type: "Relu" input: "x" output: "y" }',
    "NodeProto": 'op_type: "Relu" input: "x" output: "y"',
    "AttributeProto": 'name: "alpha" type: FLOAT f: 1',
    "TensorProto": 'name: "x" dims: 2 data_type: 1 float_data: [1, 2]',
    "SparseTensorProto": "values { dims: 1 data_type: 1 float_data: 1 } indices { dims: 1 data_type: 7 int64_data: 0 } "
    "dims: 2",
    "ValueInfoProto": 'name: "x" type { tensor_type { elem_type: 1 shape { } } }',
    "TypeProto": "sequence_type { elem_type { tensor_type { elem_type: 1 } } }",
    "SequenceProto": "elem_type: 1 tensor_values { data_type: 1 float_data: 1 } "
    "tensor_values { data_type: 1 float_data: 1 }",
    "MapProto": "key_type: 7 keys: [1, 2] values { elem_type: 1 tensor_values { data_type: 1 float_data: 1 } }",
}  # fmt: skip


def _message(kind: str):
    return text_format.Parse(SOUND[kind], schema.message(kind)(), descriptor_pool=schema.pool())


def _only(data: bytes) -> tuple[str, str]:
    ((rule, message),) = [(item.rule, item.message) for item in lint(data).diagnostics]
    return rule, message


@pytest.mark.parametrize("kind", SOUND)
def test_the_kinds_that_a_file_may_be_are_named(kind: str):
    rule, message = _only(_message(kind).SerializeToString())
    assert rule == "not-a-model"
    named = (
        message.removeprefix("the file is no ModelProto, but may be ").removesuffix(" (option --proto)").split(" or ")
    )
    ambiguous = {"SequenceProto": ["SequenceProto", "OptionalProto"]}
    assert named == ambiguous.get(kind, [kind])


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("kind", SOUND)
def test_the_kinds_that_a_text_may_be_are_named(kind: str, form: str):
    text = SOUND[kind] if form == "text" else json_format.MessageToJson(_message(kind))
    rule, message = _only(text.encode())
    assert rule == "not-a-model"
    named = (
        message.removeprefix("the text is no ModelProto, but may be ").removesuffix(" (option --proto)").split(" or ")
    )
    assert kind in named
    ambiguous = {"GraphProto": {"FunctionProto"}, "SequenceProto": {"OptionalProto"}}
    assert set(named) <= {kind} | ambiguous.get(kind, set())


@pytest.mark.parametrize("kind", SOUND)
def test_a_text_may_say_what_it_holds(kind: str):
    text = f"# proto-file: onnx.proto\n# proto-message: onnx.{kind}\n\n{SOUND[kind]}\n"
    model = load(BytesSource(text.encode()), "x.textproto")
    assert (model.kind, model.loaded, model.faults) == (kind, True, ())


def test_a_text_that_says_it_is_something_unknown_is_taken_for_a_model():
    model = load(BytesSource(b'# proto-message: tensorflow.GraphDef\nnode { name: "x" }\n'), "x.pbtxt")
    assert (model.kind, model.loaded) == ("ModelProto", False)


DATA = {
    "a tensor": ("TensorProto", SOUND["TensorProto"], "TensorProto"),
    "an empty tensor": ("TensorProto", "dims: 0 data_type: 1", "TensorProto"),
    "a scalar": ("TensorProto", 'data_type: 9 raw_data: "\\001"', "TensorProto"),
    "strings": ("TensorProto", 'dims: 2 data_type: 8 string_data: ["a", "b"]', "TensorProto"),
    "a tensor elsewhere": (
        "TensorProto",
        'dims: 2 data_type: 1 data_location: EXTERNAL external_data { key: "location" value: "w" }',
        "TensorProto",
    ),
    "a tensor with too few values": ("TensorProto", 'name: "x" dims: 3 data_type: 1 float_data: [1, 2]', "TensorProto"),
    "a tensor of no type": ("TensorProto", 'dims: 2 raw_data: "ab"', "TensorProto"),
    "a sparse tensor": ("SparseTensorProto", SOUND["SparseTensorProto"], "SparseTensorProto"),
    "a sequence": ("SequenceProto", SOUND["SequenceProto"], "SequenceProto"),
    "a sequence of sequences": (
        "SequenceProto",
        "elem_type: 3 sequence_values { elem_type: 1 } sequence_values { elem_type: 1 }",
        "SequenceProto",
    ),
    "a map": (
        "MapProto",
        "key_type: 7 keys: 1 values { elem_type: 1 tensor_values { data_type: 1 float_data: 1 } }",
        "MapProto",
    ),
    "a map of short keys": (
        "MapProto",
        "key_type: 3 keys: [1, 2] "
        "values { elem_type: 3 sequence_values { elem_type: 1 } sequence_values { elem_type: 1 } }",
        "MapProto",
    ),
    "a map with one value too few": ("MapProto", SOUND["MapProto"], "MapProto"),
    "an optional of nothing": ("OptionalProto", "elem_type: 0", "OptionalProto"),
    "an optional tensor": (
        "OptionalProto",
        "elem_type: 1 tensor_value { data_type: 1 float_data: 1 }",
        "SequenceProto",
    ),
    "a model": ("ModelProto", 'ir_version: 10 graph { name: "g" }', "ModelProto"),
}  # fmt: skip
"""A message, what it is, and what it is taken for: an optional and a sequence of one element are the same bytes."""


@pytest.mark.parametrize(("kind", "content", "taken_for"), DATA.values(), ids=DATA)
def test_what_a_data_file_holds(kind: str, content: str, taken_for: str):
    data = text_format.Parse(content, schema.message(kind)(), descriptor_pool=schema.pool()).SerializeToString()
    assert load(BytesSource(data), "input_0.pb").kind == taken_for


def test_under_another_name_a_tensor_is_none():
    model = load(BytesSource(_message("TensorProto").SerializeToString()), "input_0.onnx")
    assert (model.kind, model.loaded) == ("ModelProto", False)


TWICE = {
    "OperatorSetProto": "field magic of OperatorSetProto is given more than once; parsers keep only the last; "
    "this is what two operator sets written one after the other look like",
    "TensorProto": "field data_type of TensorProto is given more than once; parsers keep only the last; "
    "this is what two tensors written one after the other look like",
}


@pytest.mark.parametrize("kind", TWICE)
def test_two_documents_in_one_file_are_told(kind: str):
    magic = b"\x0a\x09ONNXOPSET" if kind == "OperatorSetProto" else b""
    data = (magic + _message(kind).SerializeToString()) * 2
    messages = [fault.message for fault in load(BytesSource(data), "x.pb").faults]
    assert TWICE[kind] in messages


@pytest.mark.parametrize("kind", SOUND)
def test_a_truncated_document_is_told(kind: str):
    data = _message(kind).SerializeToString()
    model = load(BytesSource(data[:-1]), "x", proto=kind)
    assert not model.loaded
    assert len(model.faults) == 1
