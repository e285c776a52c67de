# SPDX-License-Identifier: Apache-2.0
"""A file as it is loaded, and the places in it."""

from __future__ import annotations

from google.protobuf import text_format
from support.models import exhaustive_walk as walked
from support.models.messages import message_of
from support.models.model_samples import loaded
from support.wire.wire_bytes import (
    GRAPH,
    length,
    number,
    rich_model,
)

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader import load


def test_a_model_that_was_not_read_is_empty():
    model = loaded(b"")
    assert not model.loaded
    assert (model.graphs, model.functions, list(model.nodes()), list(walked.tensors(model))) == ([], [], [], [])
    assert (list(model.main_graph.nodes), model.ir_version) == ([], 0)


def test_the_message_is_read_as_text_writes_it():
    model = loaded(rich_model())
    again = load(BytesSource(text_format.MessageToString(message_of(model)).encode()), "model.textproto")
    assert message_of(again) == message_of(model)


def test_an_occurrence_of_another_wire_type_does_not_count():
    """The parser leaves it aside, so the node behind it is the first one."""
    data = number(1, 10) + length(7, number(1, 5) + GRAPH)
    model = loaded(data)
    assert len(model.proto.graph.node) == 1
    assert model.byte_range(ROOT.at("graph").at("node", 0)) == (6, 20)
