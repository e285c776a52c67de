# SPDX-License-Identifier: Apache-2.0
"""The exit codes, the same for every command and format. A run ends with the highest that applies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onnx_lint.report import FileReport, Report

CLEAN: Final = 0
"""No finding at or above `--fail-on`."""
FINDINGS: Final = 1
NOT_CHECKED: Final = 2
"""Wrong usage, an unknown rule, or an input that does not exist, cannot be read or replaced, or holds no model."""
INTERNAL_ERROR: Final = 3
"""A rule crashed, or onnx-lint itself."""
INTERRUPTED: Final = 130
"""The exit code that shells report for a program that Ctrl-C ended."""


def of_report(report: Report, fails: Callable[[FileReport], bool], internal_errors: str = "error") -> int:
    """Return the exit code of a run. `fails` returns whether the findings of a file fail the run.

    `internal_errors` is `error`, or `warning` if internal errors do not decide the code. A file that has no verdict
    because of one counts as not checked.
    """
    if report.not_linted and not report.is_lost:
        return INTERRUPTED
    if internal_errors == "error" and any(file.internal_errors for file in report.files):
        return INTERNAL_ERROR
    if report.is_lost:
        return NOT_CHECKED
    if any(error.has_ended_lint for file in report.files for error in file.internal_errors):
        return NOT_CHECKED
    if any(file.unreadable is not None or (file.repair and file.repair.problem) for file in report.files):
        return NOT_CHECKED
    if any(file.not_judged is not None and not file.diagnostics and not file.suppressed for file in report.files):
        # The rule that would say so was not selected.
        return NOT_CHECKED
    return FINDINGS if any(fails(file) for file in report.files if file.diagnostics) else CLEAN
