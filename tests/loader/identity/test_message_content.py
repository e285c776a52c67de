# SPDX-License-Identifier: Apache-2.0
"""Contents that a message of a kind may have."""

from __future__ import annotations

import pytest
from support.models.sound_documents import SOUND, sound_message

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.identity.message_content import Match, match_of_content
from onnx_lint.loader.identity.other_messages import DATA_KINDS, possible_kinds


@pytest.mark.parametrize("kind", SOUND)
def test_a_sound_message_of_data_is_certain_and_another_one_possible(kind: str):
    is_certain = kind in DATA_KINDS and kind != "MapProto"  # this map has two keys, and one value
    assert match_of_content(sound_message(kind), kind) is (Match.CERTAIN if is_certain else Match.POSSIBLE)


@pytest.mark.parametrize(
    ("kind", "fields", "is_possible"),
    [
        ("SparseTensorProto", {"values": {"data_type": 1, "dims": [2]}, "dims": [9]}, True),
        ("SparseTensorProto", {"indices": {"data_type": 7, "dims": [2]}, "dims": [9]}, True),
        ("TensorProto", {"data_type": 1, "name": "x", "data_location": 1}, True),
        ("TensorProto", {"data_type": 1, "name": "x"}, False),
    ],
)
def test_a_part_of_a_tensor_may_be_enough(kind: str, fields: dict[str, object], is_possible: bool):
    data = schema.message(kind)(**fields).SerializeToString()
    assert (kind in possible_kinds(BytesSource(data))) is is_possible


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("SequenceProto", {"name": "ab", "elem_type": 1}),
        ("SequenceProto", {"name": "ab", "elem_type": 3, "sequence_values": [{"elem_type": 1}]}),
        ("MapProto", {"name": "ab", "key_type": 3, "keys": [16, 1], "values": {"elem_type": 1}}),
        ("MapProto", {"name": "ab", "key_type": 8}),
    ],
)
def test_a_whole_message_that_could_be_another_one_is_recognized(kind: str, fields: dict[str, object]):
    """Their names could be the dimensions of a tensor."""
    data = schema.message(kind)(**fields).SerializeToString()
    model = load(BytesSource(data), "x.pb")
    assert (model.kind, model.faults) == (kind, ())
