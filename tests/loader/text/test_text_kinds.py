# SPDX-License-Identifier: Apache-2.0
"""Which other messages a text may be."""

from __future__ import annotations

from google.protobuf import json_format
from support.models.sound_documents import SOUND, only_fault, sound_message
from support.project.each_case import each_case


@each_case("form", ["text", "json"])
@each_case("kind", SOUND)
def test_the_kinds_that_a_text_may_be_are_named(kind: str, form: str):
    text = SOUND[kind] if form == "text" else json_format.MessageToJson(sound_message(kind))
    rule, message = only_fault(text.encode())
    assert rule == "not-a-model"
    named = (
        message.removeprefix("the text is not a ModelProto, but may be ")
        .removesuffix(" (option --proto)")
        .split(" or ")
    )
    assert kind in named
    ambiguous = {"GraphProto": {"FunctionProto"}, "SequenceProto": {"OptionalProto"}}
    assert set(named) <= {kind} | ambiguous.get(kind, set())
