# SPDX-License-Identifier: Apache-2.0
"""Sentences that all report forms share."""

from __future__ import annotations

import pytest

from onnx_lint.report.file_report import OWN_ERRORS, InternalError
from onnx_lint.report.findings import ContextLine
from onnx_lint.reporters.wording import crash_in_words, mark_under


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InternalError(OWN_ERRORS, "the process ended at a limit", ""), "onnx-lint: the process ended at a limit"),
        (InternalError(OWN_ERRORS, "KeyError: 'a'", "Traceback"), "onnx-lint crashed: KeyError: 'a'"),
        (
            InternalError("cycle", "the rule yields no finding", ""),
            "the rule cycle crashed: the rule yields no finding",
        ),
    ],
)
def test_a_process_that_ended_is_not_called_a_crash(error: InternalError, expected: str) -> None:
    assert crash_in_words(error) == expected


@pytest.mark.parametrize(
    ("text", "mark", "expected"),
    [
        ("y = Add (left, right)", (15, 20), "               ^^^^^"),
        ("y = Relu (x)", None, ""),
        ("y = Add (左辺, 右辺)", (13, 15), "               ^^^^"),
        ("y = Relu ()", (10, 10), "          ^"),
    ],
)
def test_the_mark_is_under_its_part_also_behind_wide_characters(
    text: str, mark: tuple[int, int] | None, expected: str
) -> None:
    assert mark_under(ContextLine("1", text, mark)) == expected
