# SPDX-License-Identifier: Apache-2.0
"""Tokens of the two text forms."""

from __future__ import annotations

import re

import pytest

from onnx_lint.loader.text.text_tokens import JSON_TOKENS, TEXT_TOKENS


def _kinds(tokens: re.Pattern[str], text: str) -> list[tuple[str | None, str]]:
    return [(found.lastgroup, found[0]) for found in tokens.finditer(text)]


def test_names_strings_and_brackets_are_tokens_of_a_text():
    expected = [("word", "name"), (None, ":"), ("quoted", '"a{b"'), (None, "{"), (None, "}"), ("quoted", "# {c")]
    assert _kinds(TEXT_TOKENS, 'name: "a{b" { } # {c') == expected


def test_numbers_with_commas_are_one_token():
    assert _kinds(TEXT_TOKENS, "[1, -2, 3.5]") == [(None, "["), ("row", "1, -2, "), ("word", "3.5"), (None, "]")]


@pytest.mark.parametrize("text", ['"open', '"a\\"'])
def test_a_string_that_is_not_closed_is_one(text: str):
    assert _kinds(TEXT_TOKENS, text) == [("quoted", text)]


def test_a_name_in_json_has_a_colon():
    (name, value) = JSON_TOKENS.finditer('"name" : "a:b"')
    assert (name["quoted"], name["colon"], value["quoted"], value["colon"]) == ('"name"', ":", '"a:b"', "")
