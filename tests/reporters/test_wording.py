# SPDX-License-Identifier: Apache-2.0
"""Sentences that all report forms share."""

from __future__ import annotations

import pytest

from onnx_lint.report import OWN_ERRORS, InternalError
from onnx_lint.reporters.wording import internal_error_of


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
    assert internal_error_of(error) == expected
