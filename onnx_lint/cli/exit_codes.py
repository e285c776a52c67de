# SPDX-License-Identifier: Apache-2.0
"""The exit codes, the same for every command and format. A run ends with the highest that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnx_lint.spec.clauses import Severity

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport
    from onnx_lint.report.totals import Report

CLEAN: Final = 0
"""No finding at or above `--fail-on`."""
FINDINGS: Final = 1
NOT_CHECKED: Final = 2
"""Wrong usage, an unknown rule, or an input that does not exist, cannot be read or replaced, or holds no model."""
INTERNAL_ERROR: Final = 3
"""A rule crashed, or onnx-lint itself."""
INTERRUPTED: Final = 130
"""The exit code that shells report for a program that Ctrl-C ended."""


def of_report(report: Report, fail_on: str) -> int:
    """Return the exit code of a run: the highest of its files, unless the run was interrupted."""
    highest = max((of_file(file, fail_on) for file in report.files), default=CLEAN)
    return of_run(highest, is_interrupted=bool(report.not_linted), is_lost=report.is_lost)


def of_run(highest: int, *, is_interrupted: bool, is_lost: bool) -> int:
    """Return the exit code of a run. `highest`: that of its files. `is_lost`: whether its cluster was lost."""
    if is_lost:
        return max(highest, NOT_CHECKED)
    return INTERRUPTED if is_interrupted else highest


def of_file(file: FileReport, fail_on: str) -> int:
    """Return the exit code because of one file. `fail_on`: the lowest severity that fails the run, or `never`."""
    if file.internal_errors:
        return INTERNAL_ERROR
    # A file that holds no model has a finding, unless the rule that says so is not selected.
    if file.failure is not None or (file.repair is not None and file.repair.problem):
        return NOT_CHECKED
    if fail_on == "never":
        return CLEAN
    if any(target.fails_run for target in file.targets):
        return FINDINGS
    if not file.diagnostics:
        return CLEAN
    least = Severity.of(fail_on)
    return FINDINGS if any(item.severity >= least for item in file.diagnostics) else CLEAN
