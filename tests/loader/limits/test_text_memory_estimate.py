# SPDX-License-Identifier: Apache-2.0
"""The estimate for a text counts what becomes an object, and is None within the limit."""

from __future__ import annotations

from support.project.each_case import each_case

from onnx_lint.loader.limits.text_memory_estimate import text_memory_if_exceeding


def _needed(text: str) -> int:
    found = text_memory_if_exceeding(text, -1)
    assert found is not None
    return found


@each_case("sign", ["{", "<", "[", ","])
def test_a_sign_of_structure_needs_more_than_a_letter(sign: str):
    assert _needed(100 * sign) > 10 * _needed(100 * "a")
    assert _needed(200 * sign) == 2 * _needed(100 * sign)


def test_one_character_outside_of_ascii_makes_all_wider():
    assert _needed("a" * 99 + "é") == 4 * _needed("a" * 100)


def test_the_longest_run_of_blanks_counts():
    short, long = "x" + " " * 1023, "x" + " " * 1024
    assert _needed(short) == _needed("a" * 1024)
    assert _needed(long) > 10 * _needed(short)
    assert _needed(f"{long}\n{long}") - _needed(long) == _needed("a" * 1026)


def test_a_text_within_the_limit_has_no_estimate():
    text = "graph { node [ { } ] }"
    needed = _needed(text)
    assert text_memory_if_exceeding(text, needed) is None
    assert text_memory_if_exceeding(text, needed - 1) == needed
