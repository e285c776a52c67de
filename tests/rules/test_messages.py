# SPDX-License-Identifier: Apache-2.0
"""The messages of all fixtures follow one pattern: the place or part, what is wrong with it, and what is required."""

from __future__ import annotations

import re

from support.project.fixture_files import fixtures

_MOST_CHARACTERS = 400
_BEGINNING = re.compile(r"[a-z'0-9]|IR version |SCALE_TENSOR |ZERO_POINT_TENSOR |TensorShapeProto\.")
"""A noun in lower case, a number, a name in quotes, or a name that the specification spells with capital letters."""

_FAULTS = {
    "a period at its end": re.compile(r"\.$"),
    "two blanks in a row": re.compile(r"  "),
    "a value as Python shows it": re.compile(r"\b(None|True|False)\b|<[\w.]+ object|\b(array|dict|frozenset|set)\("),
    "an idiom": re.compile(r"\b(tells?|told|hands? on|held against|stood for)\b"),
}


def _messages() -> list[str]:
    lines = [line for fixture in fixtures() for line in fixture.expected]
    return [line.partition(": ")[2] for line in lines]


def test_messages_begin_with_a_noun_or_a_name():
    messages = _messages()
    assert len(messages) > 2_000
    assert [message for message in messages if not _BEGINNING.match(message)] == []


def test_messages_are_short():
    assert [message for message in _messages() if len(message) > _MOST_CHARACTERS] == []


def test_messages_are_plain_text():
    found = [(name, message) for message in _messages() for name, fault in _FAULTS.items() if fault.search(message)]
    assert found == []
