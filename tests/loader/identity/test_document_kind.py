# SPDX-License-Identifier: Apache-2.0
"""Which document a file holds, where its content leaves no doubt."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from support.models.sound_documents import SOUND, sound_message

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load


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


@pytest.mark.parametrize(("kind", "content", "taken_for"), DATA.values(), ids=DATA)
def test_what_a_data_file_holds(kind: str, content: str, taken_for: str):
    data = text_format.Parse(content, schema.message(kind)(), descriptor_pool=schema.pool()).SerializeToString()
    assert load(BytesSource(data), "input_0.pb").kind == taken_for


def test_under_another_name_a_tensor_is_none():
    model = load(BytesSource(sound_message("TensorProto").SerializeToString()), "input_0.onnx")
    assert (model.kind, model.loaded) == ("ModelProto", False)
