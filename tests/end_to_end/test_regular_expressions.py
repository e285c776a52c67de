# SPDX-License-Identifier: Apache-2.0
"""Regular expressions over what a stranger wrote take time that grows with its size, and not with its square."""

from __future__ import annotations

import re

import pytest
from support.processes.time_limit import time_limit
from support.wire.wire_bytes import BASE, length

from onnx_lint import lint
from onnx_lint.configuration import discovery
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.identity.identify import Form, identify, kind_of_content
from onnx_lint.loader.limits.text_memory_estimate import text_memory_if_exceeding
from onnx_lint.loader.text.outer_names import names_in_text

pytestmark = pytest.mark.timing

SIZE = 1 << 18
SECONDS = 1
"""Seconds of the processor for such a text; each takes a tenth of them. A search that starts over takes minutes."""

UNCLOSED = {
    "escaped quotes": '"' + r"\"" * (SIZE // 2),
    "escaped quotes in single ones": "'" + r"\'" * (SIZE // 2),
    "escaped backslashes": '"' + r"\\" * (SIZE // 2),
    "both quotes": '"' + r"\"\'" * (SIZE // 4),
    "a backslash at the end": '"' + r"\"" * (SIZE // 2) + "\\",
    "an escaped line break": '"' + r"\"" * (SIZE // 2) + "\\\n" + r"\"" * 1000,
    "lines of them": ('"' + r"\"" * 1000 + "\n") * (SIZE // 2000),
}


def _rules(data: bytes) -> list[str]:
    with time_limit(SECONDS):
        report = lint(data)
    assert report.files[0].internal_errors == ()
    return [diagnostic.rule for diagnostic in report.diagnostics]


@pytest.mark.parametrize("name", UNCLOSED)
def test_an_unclosed_string_in_text_format_is_malformed(name: str):
    assert _rules(f"producer_name: {UNCLOSED[name]}".encode()) == ["malformed-text"]


def test_what_stands_in_strings_and_comments_is_no_message():
    inner = "{" * 200
    text = f"producer_name: \"{inner}\\\"{inner}\" domain: '{inner}\\'{inner}' # {inner}\nmodel_version: 1"
    assert "excessive-nesting" not in _rules(text.encode())
    assert "missing-ir-version" in _rules(text.encode())


HEADS = {
    "spaces behind a name": b"a" + b" " * 4095,
    "names and spaces": b"a " * 2048,
    "a name": b"a" * 4096,
    "line breaks": b"\n" * 4096,
    "comments": b"#\n" * 2048,
    "comments without an end": b"#" * 4096,
    "angle brackets": b"a" + b"<" * 4095,
    "round brackets": b"a" + b"(" * 4095,
    "magic words": b"a:1\n" + b"magic" * 819,
    "magic and spaces": b"a:1\nmagic" + b" " * 4080,
    "proto-message and spaces": b"a:1\n#" + b" " * 4080,
    "proto-messages": b"# proto-message: a " * 200,
}


@pytest.mark.parametrize("name", HEADS)
def test_the_form_of_a_file_shows_soon(name: str):
    source = BytesSource(HEADS[name])

    with time_limit(0.3):  # with one more loop over the rest at each byte it would take ten times as long
        for _ in range(100):
            form = identify(source, "x.textproto")
            if isinstance(form, Form):
                kind_of_content(source, form, "x.textproto")


@pytest.mark.parametrize("name", UNCLOSED)
def test_the_names_in_a_text_are_found_soon(name: str):
    with time_limit(0.2):
        names_in_text(UNCLOSED[name])


@pytest.mark.parametrize(
    "text",
    ["0" * SIZE, "a " * SIZE, "a" + " " * SIZE, "a:" * SIZE, '"' * SIZE, "\\u0000a" * SIZE, "\n" * SIZE],
    ids=["a word", "words", "blanks", "names", "quotes", "escapes", "lines"],
)
def test_the_memory_of_a_text_is_estimated_soon(text: str):
    with time_limit(2 * SECONDS):
        assert text_memory_if_exceeding(text, 1) is not None
        assert text_memory_if_exceeding("{" + text, 1) is not None


@pytest.mark.parametrize(
    "text",
    [
        "<br " * (SIZE // 4),
        "</a" + " " * SIZE,
        "<" * SIZE,
        "<a" + " /" * (SIZE // 2),
        "<a\n" * SIZE,
    ],
    ids=["openings", "spaces", "brackets", "slashes", "lines"],
)
def test_documentation_is_searched_for_markup_soon(text: str):
    model = BASE + length(6, text) + length(7, length(2, "g"))
    assert "markup-in-documentation" not in _rules(model)


@pytest.mark.parametrize(
    "text",
    [b"\n" * SIZE, b"tool" + b" " * SIZE, b"tool" * (SIZE // 4), b" " * SIZE, b"tool '" * SIZE],
    ids=["lines", "tool and spaces", "tools", "spaces", "quotes"],
)
def test_a_table_is_searched_for_soon(text: bytes):
    with time_limit(SECONDS):
        re.search(discovery._TABLE, text, re.MULTILINE)
