# SPDX-License-Identifier: Apache-2.0
"""The exit codes, the same for every command and format. The highest that applies is the run's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onnx_lint.report import FileReport, Report

CLEAN: Final = 0
"""Nothing at or above `--fail-on`."""
FINDINGS: Final = 1
NOT_CHECKED: Final = 2
"""Wrong usage, an unknown rule, or an input that is not there, cannot be read, or holds no model."""
INTERNAL_ERROR: Final = 3
"""A rule crashed, or onnx-lint itself."""
INTERRUPTED: Final = 130
"""What shells report for a program that Ctrl-C has ended."""


def of_report(report: Report, fails: Callable[[FileReport], bool], internal_errors: str = "error") -> int:
    """The exit code of a run; `fails` tells of a file with findings whether they fail it.

    `internal_errors`: `error`, or `warning` where they do not decide the code. A file without any verdict because of
    one is not checked then.
    """
    if report.not_linted:
        return INTERRUPTED
    if internal_errors == "error" and any(file.internal_errors for file in report.files):
        return INTERNAL_ERROR
    if any(error.has_ended_lint for file in report.files for error in file.internal_errors):
        return NOT_CHECKED
    if any(file.unreadable is not None for file in report.files):
        return NOT_CHECKED
    if any(file.not_judged is not None and not file.diagnostics and not file.suppressed for file in report.files):
        # The rule that would say so was not selected.
        return NOT_CHECKED
    return FINDINGS if any(fails(file) for file in report.files if file.diagnostics) else CLEAN
