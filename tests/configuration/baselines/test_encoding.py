# SPDX-License-Identifier: Apache-2.0
"""The texts for digests in baselines of all versions."""

from __future__ import annotations

from support.project.each_case import each_case

from onnx_lint.configuration.baselines.encoding import (
    CONTENT,
    STRUCTURE,
    decoded,
    decoded_content,
    decoded_fault,
    encoded,
    encoded_content,
    encoded_fault,
)
from onnx_lint.report.digests import DIGITS, ContentDigests, FaultDigests, PlaceDigests


def digests(letters: str) -> str:
    """Return a text of digests, each of one letter."""
    return "".join(letter * DIGITS for letter in letters)


A, B, C, D, E = (letter * DIGITS for letter in "abcde")
OF_TODAY = PlaceDigests(names_inside=A, before=B, after=C, both_ends=D, whole=(E,))
BEFORE = PlaceDigests(names_inside=A, from_start=B, from_end=C, by_operators=D)

FAULTS = {
    f"+{digests('abcde')}": FaultDigests(OF_TODAY),
    f"+{digests('abcde')}/{B}": FaultDigests(OF_TODAY, inner=B),
    f"+{digests('abcde')}//{B}": FaultDigests(OF_TODAY, keys=B),
    f"+{digests('abcde')}///{digests('abcde')}": FaultDigests(OF_TODAY, partners=OF_TODAY),
    f"all:+{digests('abcde')}/{A}/{B}": FaultDigests(OF_TODAY, inner=A, keys=B, is_of_many=True),
    digests("abcd"): FaultDigests(BEFORE),
    f"{digests('abcd')}/{A}/{B}/{digests('abcd')}": FaultDigests(BEFORE, inner=A, keys=B, partners=BEFORE),
    f"all:{digests('abcd')}": FaultDigests(BEFORE, is_of_many=True),
    f"{digests('ab')}/{C}": FaultDigests(PlaceDigests(steps=A, names=B), inner=C),
    A: FaultDigests(PlaceDigests(names=A)),
}
"""Texts of `parts`. The first five are of today, the others of older versions."""

STRUCTURES = {
    f"+{digests('abcde')}": PlaceDigests(names=A, before=B, after=C, both_ends=D, whole=(E,)),
    digests("abcde"): PlaceDigests(steps=A, names=B, from_start=C, from_end=D, by_operators=E),
    digests("ab"): PlaceDigests(steps=A, names=B),
}

CONTENTS = {
    f"initializer:+{digests('abcde')}": ContentDigests(OF_TODAY, is_initializer=True),
    f"constant:+{A}": ContentDigests(PlaceDigests(names_inside=A), is_initializer=False),
    f"constant:{digests('abcd')}": ContentDigests(BEFORE, is_initializer=False),
}


@each_case("text", FAULTS)
def test_a_fault(text: str):
    assert decoded_fault(text) == FAULTS[text]
    assert encoded_fault(FAULTS[text]) == text


@each_case("text", STRUCTURES)
def test_a_structure(text: str):
    assert decoded(text, STRUCTURE) == STRUCTURES[text]
    assert encoded(STRUCTURES[text], STRUCTURE) == text


@each_case("text", CONTENTS)
def test_a_content(text: str):
    assert decoded_content(text) == CONTENTS[text]
    assert encoded_content(CONTENTS[text]) == text


def test_the_name_of_a_tensor_without_users_as_an_older_version_wrote_it():
    assert decoded(A, CONTENT) == PlaceDigests(names_inside=A)


@each_case("text", ["a", digests("abc"), f"+{A}", "/", "////", digests("abcdefgh")])
def test_a_damaged_text_identifies_nothing(text: str):
    assert decoded_fault(text).place == PlaceDigests()
