# SPDX-License-Identifier: Apache-2.0
"""Shapes have one notation in all reports: brackets where the textual syntax is unambiguous, words where it is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from onnx_lint.wording import MAX_DIMENSIONS, describe_shape, nearest, quote, typed, with_shape


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, "N", None), "[2, N, ?]"),
        ((2, "?", None, "N + 1"), "[2, '?', ?, N + 1]"),
        ((), "a scalar"),
        (None, "of unknown rank"),
        (range(MAX_DIMENSIONS + 1), f"[{', '.join(map(str, range(MAX_DIMENSIONS)))}, ... 17 dimensions]"),
    ],
)
def test_describe_shape(shape: Sequence[int | str | None] | None, expected: str):
    assert describe_shape(shape) == expected


def test_a_shape_behind_a_noun():
    assert [typed("float", shape) for shape in ((2, 3), (), None)] == [
        "float[2, 3]",
        "float (a scalar)",
        "float (of unknown rank)",
    ]
    assert with_shape("input 0 'x'", "[2, 3]") == "input 0 'x' [2, 3]"
    assert with_shape("input 0 'x'", "a scalar") == "input 0 'x' (a scalar)"


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"a\xff", r"'a\xff'"), (b"\\\xc3(", r"'\\\xc3('"), (b"\\udcff\xc3\xa9", r"'\\udcffé'")],
)
def test_a_byte_that_is_not_utf_8_is_quoted_as_one_escape(data: bytes, expected: str):
    assert quote(data.decode("utf-8", "surrogateescape")) == expected


def test_a_name_with_a_quote_is_quoted_as_python_writes_it():
    assert [quote("a"), quote("it's"), quote('it\'s "it"')] == ["'a'", '"it\'s"', "'it\\'s \"it\"'"]


def test_of_many_long_names_those_with_the_same_ends_are_compared():
    names = [f"model/layers/{index}/attention/q_proj/output_{index}/{'x' * 20}" for index in range(2_000)]
    assert nearest(names[1_700].replace("attention", "atention"), names) == names[1_700]
    assert nearest("model/decoder/entirely/another/name/of/the/same/length/or/more", names) is None
