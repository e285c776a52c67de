# SPDX-License-Identifier: Apache-2.0
"""Which other messages a text may be."""

from __future__ import annotations

import pytest
from support.models.sound_documents import SOUND, only_fault


@pytest.mark.parametrize("kind", SOUND)
def test_the_kinds_that_a_text_may_be_are_named(kind: str):
    rule, message = only_fault(SOUND[kind].encode())
    assert rule == "not-a-model"
    named = (
        message.removeprefix("the text is not a ModelProto, but may be ")
        .removesuffix(" (option --proto)")
        .split(" or ")
    )
    assert kind in named
    ambiguous = {"GraphProto": {"FunctionProto"}, "SequenceProto": {"OptionalProto"}}
    assert set(named) <= {kind} | ambiguous.get(kind, set())
