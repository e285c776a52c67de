# SPDX-License-Identifier: Apache-2.0
"""The messages of all fixtures follow one pattern: the place or part, what is wrong with it, and what is required."""

from __future__ import annotations

import re

from support.project.fixture_files import fixtures

_MAX_CHARACTERS = 400
_BEGINNING = re.compile(r"[a-z'0-9]|IR version |SCALE_TENSOR |ZERO_POINT_TENSOR |TensorShapeProto\.")
"""A noun in lower case, a number, a name in quotes, or a name that the specification spells with capital letters."""

_FAULTS = {
    "a period at its end": re.compile(r"\.$"),
    "two blanks in a row": re.compile(r"  "),
    "a value as Python shows it": re.compile(r"\b(None|True|False)\b|<[\w.]+ object|\b(array|dict|frozenset|set)\("),
    "an idiom": re.compile(
        r"\b(stands?|stood|gives?|carries|lets?|tells?|told|hands? on|go(es)? by|nor ha(s|ve)|out of sight|as far as"
        r"|(held|holds?) against|to do with|to be had|known of|(of|than|by|to|from|after) which|(none|nothing) but)\b"
    ),
    "a pronoun without a noun": re.compile(r"^(it|they|this|that|these|those)\b"),
    "no place at its beginning": re.compile(r"^(no|nothing|none|there|in|at)\b(?! line \d| node | unnamed node )"),
    "'has to' for 'must'": re.compile(r"\bha(s|ve) to\b"),
    "two facts without a 'but'": re.compile(
        r"(?<!, first), (?!but |and |or |as |so |which |whose |who |because )"
        r"(([A-Z]\w+ (as of opset|of onnxruntime)|the (model|function|target|operator set)|unnamed node|there|it"
        r"|(node|input|output|initializer|attribute|device configuration|element|dimension \d+ of input) \S+)\b[^,;:]*?"
        r"|'\w+') (is|are|has|have|requires|takes|produces|supplies|states|imports|knows|supports)\b"
    ),
    "'and' for 'but'": re.compile(
        r"[\w\])'] and (its|has no|is not|[A-Z]\w+ (takes|supplies|returns))\b|, and no node uses"
    ),
    "another word for 'is listed twice'": re.compile(
        r"\b(a second time|has the (attribute|key) \S+ (twice|more than))"
    ),
}
"""Faults of wording. The same kind of fault has the same sentence in all rules.

"A is X, but B requires Y": two facts that do not agree. "A is listed twice": an entry that a list repeats. "A and B are
both called Q": two things of one name.
"""


def _messages() -> list[str]:
    lines = [line for fixture in fixtures() for line in fixture.expected]
    return [line.partition(": ")[2] for line in lines]


def test_messages_begin_with_a_noun_or_a_name():
    messages = _messages()
    assert len(messages) > 2_000
    assert [message for message in messages if not _BEGINNING.match(message)] == []


def test_messages_are_short():
    assert [message for message in _messages() if len(message) > _MAX_CHARACTERS] == []


def test_messages_are_plain_text():
    found = [(name, message) for message in _messages() for name, fault in _FAULTS.items() if fault.search(message)]
    assert found == []
