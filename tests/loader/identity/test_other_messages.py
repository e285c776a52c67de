# SPDX-License-Identifier: Apache-2.0
"""Findings about messages of ONNX that are no models."""

from __future__ import annotations

import pytest
from support.models.sound_documents import SOUND, only_fault, sound_message

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.identity.other_messages import is_a_model
from onnx_lint.model import FaultKind


@pytest.mark.parametrize("kind", SOUND)
def test_the_kinds_that_a_file_may_be_are_named(kind: str):
    rule, message = only_fault(sound_message(kind).SerializeToString())
    assert rule == "not-a-model"
    named = (
        message.removeprefix("the file is not a ModelProto, but may be ")
        .removesuffix(" (option --proto)")
        .split(" or ")
    )
    ambiguous = {"SequenceProto": ["SequenceProto", "OptionalProto"]}
    assert named == ambiguous.get(kind, [kind])


TWICE = {
    "OperatorSetProto": "field magic of OperatorSetProto occurs more than once; parsers keep only the last; "
    "this is what two operator sets written one after the other look like",
    "TensorProto": "field data_type of TensorProto occurs more than once; parsers keep only the last; "
    "this is what two tensors written one after the other look like",
}


@pytest.mark.parametrize("kind", TWICE)
def test_two_documents_in_one_file_are_told(kind: str):
    magic = b"\x0a\x09ONNXOPSET" if kind == "OperatorSetProto" else b""
    data = (magic + sound_message(kind).SerializeToString()) * 2
    messages = [fault.message for fault in load(BytesSource(data), "x.pb").faults]
    assert TWICE[kind] in messages


def test_a_graph_with_an_unknown_field_is_not_taken_for_the_numbers_of_a_tensor():
    """The other fields of this model are those of a tensor: a dimension, a type, and numbers where the graph is."""
    graph = sound_message("GraphProto").SerializeToString()
    for content in (graph, b"\xaa\x38\x01x" + graph):
        faults = load(BytesSource(b"\x08\x0a\x10\x07\x3a" + bytes([len(content)]) + content), "x.onnx").faults
        assert FaultKind.NOT_A_MODEL not in {fault.kind for fault in faults}
        assert faults, "a number in the place of the producer's name"


@pytest.mark.parametrize("numbers", [(10, 1, 4), (18, 2, 64, 64), (10, 3, 34, 1, 65, 48, 0, 48, 1)])
def test_numbers_of_a_tensor_that_resemble_a_graph_are_those_of_a_tensor(numbers: tuple[int, ...]):
    tensor = schema.message("TensorProto")(dims=[len(numbers)], data_type=7, int64_data=numbers)
    model = load(BytesSource(tensor.SerializeToString()), "x.pb")
    assert (model.kind, model.faults) == ("TensorProto", ())


@pytest.mark.parametrize("kind", SOUND)
def test_a_truncated_document_is_told(kind: str):
    data = sound_message(kind).SerializeToString()
    model = load(BytesSource(data[:-1]), "x", proto=kind)
    assert not model.loaded
    assert len(model.faults) == 1


def test_the_first_fields_decide_whether_a_file_is_a_model(monkeypatch: pytest.MonkeyPatch):
    """A file of millions of unknown fields took seconds to reject."""
    read = []
    window = BytesSource.window
    monkeypatch.setattr(BytesSource, "window", lambda source, *bounds: read.append(bounds) or window(source, *bounds))
    assert not is_a_model(BytesSource(b"\xf8\x3f\x01" * 1_000_000))
    assert max(start for start, _ in read) < 100_000
