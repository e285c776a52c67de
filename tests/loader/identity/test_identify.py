# SPDX-License-Identifier: Apache-2.0
"""The report on a file that is not a model names the kind of file."""

from __future__ import annotations

import gzip
import io
import random
import zipfile

import pytest
from google.protobuf import json_format, text_format
from support.models.loader_samples import MODEL, loaded
from support.models.messages import message_of
from support.models.sound_documents import SOUND, sound_message
from support.project.each_case import each_case
from support.wire.wire_bytes import (
    GRAPH,
    length,
    number,
    rich_model,
)

from onnx_lint import lint, schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.identity.identify import HEAD_BYTES, is_utf8_text
from onnx_lint.model import FaultKind
from onnx_lint.spec.clauses import Severity


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.onnx", MODEL)
    return buffer.getvalue()


TENSOR = number(1, 2) + number(2, 1) + length(8, "x") + length(9, bytes(8))

NO_MODELS = {
    "empty": (b"", "the file is empty"),
    "lfs-pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "the file is a Git LFS pointer: 'git lfs pull' has not fetched the model",
    ),
    "gzip": (gzip.compress(MODEL), "the file is a gzip archive, not a model"),
    "zip": (_zip(), "the file is a zip archive (such as a PyTorch checkpoint or a NumPy .npz), not a model"),
    "empty-zip": (b"PK\5\6" + bytes(18), "the file is an empty zip archive, not a model"),
    "zstandard": (b"\x28\xb5\x2f\xfd" + bytes(9), "the file is a Zstandard archive, not a model"),
    "xz": (b"\xfd7zXZ\0" + bytes(9), "the file is an xz archive, not a model"),
    "bzip2": (b"BZh91AY", "the file is a bzip2 archive, not a model"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(9), "the file is a 7z archive, not a model"),
    "tar": (b"model.onnx".ljust(257, b"\0") + b"ustar\x0000", "the file is a tar archive, not a model"),
    "text": (b"Not found.\n", "the file is text, not a model"),
    "onnx.parser": (
        b'<\n   ir_version: 8,\n   opset_import: [ "" : 18 ]\n>\nagraph (float[N] x) => (float[N] y) { y = Relu(x) }\n',
        "the file is in the syntax of onnx.parser, which is not a serialized form of a model",
    ),
    "a graph for onnx.parser": (
        b"agraph (float[N] x) => (float[N] y) { y = Relu(x) }",
        "the file is in the syntax of onnx.parser, which is not a serialized form of a model",
    ),
    "html": (b"\n <!DOCTYPE html>\n<p>", "the file is HTML or XML text, not a model"),
    "xml": (b'<?xml version="1.0"?><net/>', "the file is HTML or XML text, not a model"),
    "utf-16": ("ir_version: 8".encode("utf-16"), "the file is UTF-16 text, not a model"),
    "ort": (b"\x20\0\0\0ORTM" + bytes(24), "the file is an ONNX Runtime flatbuffer (.ort), not a model"),
    "tflite": (b"\x20\0\0\0TFL3" + bytes(24), "the file is a TensorFlow Lite flatbuffer, not a model"),
    "safetensors": (b'\x08\0\0\0\0\0\0\0{"a":{}}' + bytes(9), "the file is a safetensors file, not a model"),
    "npy": (b"\x93NUMPY\1\0v\0{'descr'", "the file is a NumPy array, not a model"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(9), "the file is an HDF5 file, not a model"),
    "gguf": (b"GGUF\3\0\0\0", "the file is a GGUF file, not a model"),
    "pickle": (b"\x80\x04\x95\0\0\0\0\0\0\0\0}\x94.", "the file is a Python pickle, not a model"),
    "tensor": (TENSOR, "the file is not a ModelProto, but may be TensorProto (option --proto)"),
    "graph": (
        GRAPH + length(11, length(1, "x")) + length(12, length(1, "y")),
        "the file is not a ModelProto, but may be GraphProto (option --proto)",
    ),
    "random": (
        b"\xff" + random.Random(3).randbytes(500),
        "the file is binary data, but not a Protocol Buffers message",
    ),
    "zeros": (bytes(1000), "the file is binary data, but not a Protocol Buffers message"),
}


@each_case(("data", "message"), NO_MODELS.values(), ids=NO_MODELS)
def test_what_is_no_model_is_named(data: bytes, message: str):
    model = loaded(data)
    assert not model.loaded
    assert [(fault.kind, str(fault.place), fault.message, fault.offset) for fault in model.faults] == [
        (FaultKind.NOT_A_MODEL, "model", message, 0)
    ]


TEXT = """
ir_version: 10
opset_import { version: 21 }
graph { name: "graph" node { op_type: "Relu" input: "x" output: "y" } }
"""

HINTS = {
    gzip.compress(MODEL): "unpack it",
    _zip(): "export the model to ONNX; if the archive holds an ONNX file, unpack it",
    b"\x20\0\0\0ORTM" + bytes(24): "convert or export it to ONNX",
    b"%PDF-1.7\n%\xe2": "check the path: files of this kind hold no model",
    b"\0\x05\x16\x07\0\x02\0\0Mac OS X": "use the file without '._' in its name",
}


@each_case(("data", "hint"), HINTS.items())
def test_the_format_decides_the_hint(data: bytes, hint: str):
    assert [fault.hint for fault in loaded(data).faults] == [hint]


WORDS_OF_FORMATS = {
    "producer": number(1, 8) + length(2, "ORTModule") + length(7, GRAPH) + length(8, number(2, 21)),
    "producer of TFL3": number(1, 8) + length(2, "TFL3 converter") + length(7, GRAPH) + length(8, number(2, 21)),
    "producer of ET12": number(1, 8) + length(2, "ET12") + length(7, GRAPH) + length(8, number(2, 21)),
    "documentation with a word of tar": (number(1, 8) + length(6, " " * 252 + "ustar"))
    + length(7, GRAPH)
    + length(8, number(2, 21)),
    "text": b"# a TFL3 model\n" + TEXT.encode(),
}


@each_case("data", WORDS_OF_FORMATS.values(), ids=WORDS_OF_FORMATS)
def test_a_model_may_have_the_magic_number_of_a_format_behind_its_beginning(data: bytes):
    assert data[4:8] in (b"ORTM", b"TFL3", b"ET12") or data[257:262] == b"ustar"
    model = loaded(data, "model.onnx" if data[:1] == b"\x08" else "model.textproto")
    assert (model.loaded, model.faults) == (True, ())


def test_an_empty_standard_input_is_named():
    assert [fault.message for fault in loaded(b"", "-").faults] == ["standard input is empty"]


@pytest.mark.parametrize("name", ["model.textproto", "model.txtpb", "model.pbtxt", "model.onnx", "-", ""])
def test_text_is_told_by_its_content(name: str):
    model = loaded(TEXT.encode(), name)
    assert (model.loaded, model.form) == (True, "textproto")
    assert [fault.kind for fault in model.faults] == [FaultKind.FILE_NAME] * (name == "model.onnx")
    assert model.main_graph.nodes[0].op_type == "Relu"
    assert model.places.byte_range(model.main_graph.place) is None


@pytest.mark.parametrize("name", ["model.json", "model.onnx", "model.textproto", "-"])
@pytest.mark.parametrize("keep_names", [True, False])
def test_json_is_told_by_its_content(name: str, keep_names: bool):
    proto = schema.message("ModelProto").FromString(rich_model())
    text = json_format.MessageToJson(proto, preserving_proto_field_name=keep_names)
    model = loaded(text.encode(), name)
    assert (model.loaded, model.form) == (True, "json")
    assert [fault.kind for fault in model.faults] == [FaultKind.FILE_NAME] * (name == "model.onnx")
    assert message_of(model) == proto


@pytest.mark.parametrize("name", ["model.textproto", "model.json"])
def test_binary_is_told_by_its_content(name: str):
    model = loaded(MODEL, name)
    assert (model.loaded, model.form) == (True, "binary")


def test_a_byte_order_mark_is_no_fault():
    assert loaded(b"\xef\xbb\xbf" + TEXT.encode()).loaded


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_character_may_be_cut_at_the_end_of_what_is_looked_at(count: int):
    """At the end of a whole file it is a fault of the text."""
    cut = "\U0001f600".encode()[:count]
    assert is_utf8_text(b"#" * (HEAD_BYTES - count) + cut)
    assert not is_utf8_text(b"#" * (HEAD_BYTES - count - 1) + cut)
    assert not is_utf8_text(b"#" * (HEAD_BYTES - 4) + b"\xff###")


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
"""A message, its kind, and the recognized kind: an optional and a sequence of one element are the same bytes."""


@each_case(("kind", "content", "taken_for"), DATA.values(), ids=DATA)
def test_what_a_data_file_holds(kind: str, content: str, taken_for: str):
    data = text_format.Parse(content, schema.message(kind)(), descriptor_pool=schema.pool()).SerializeToString()
    assert load(BytesSource(data), "input_0.pb").kind == taken_for


def test_under_another_name_a_tensor_is_none():
    model = load(BytesSource(sound_message("TensorProto").SerializeToString()), "input_0.onnx")
    assert (model.kind, model.loaded) == ("ModelProto", False)


@each_case(
    "data",
    [*[data for data, _ in NO_MODELS.values()], GRAPH[:-1], b"ir_version: eight"],
    ids=[*NO_MODELS, "cut off", "wrong value"],
)
def test_each_fault_of_a_file_says_what_to_do(data: bytes):
    report = lint(data, config=False).files[0]
    assert report.diagnostics
    assert [item.rule for item in report.diagnostics if item.severity is Severity.ERROR and not item.hint] == []
