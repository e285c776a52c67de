# SPDX-License-Identifier: Apache-2.0
"""An assertion for tests of exporters. Its message is the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.library import Lintable, Report, lint
from onnx_lint.reporters.escape import visible
from onnx_lint.reporters.wording import internal_error_of
from onnx_lint.spec.clauses import Severity

GATES: Final = tuple(severity.label for severity in Severity)


def assert_conforms(model: Lintable, *, fail_on: str | None = None, **options: Any) -> Report:
    """Raise AssertionError, with the text report as its message, unless `model` conforms to the specification.

    `model` and `options` are those of `onnx_lint.lint`. `fail_on`: the lowest severity that fails: error, warning or
    note; None for the value of the configuration, by default error. A model that cannot be judged fails as well, and so
    does a crash of a rule. Returns the report of a model that passes. Raises ValueError for an unknown `fail_on`, and
    the exceptions of `lint`.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    if fail_on is not None and fail_on not in GATES:
        raise ValueError(f"unknown severity {fail_on!r} in fail_on; the severities are {', '.join(GATES)}")
    report = lint(model, **options)
    if fail_on is not None:
        report = replace(report, fail_on=fail_on)
    if not report.passes:
        raise AssertionError("\n".join([str(report), *_failures(report)]))
    return report


def _failures(report: Report) -> Iterator[str]:
    """Yield what the command line prints on standard error, which the text report does not contain."""
    for file in report.files:
        if file.unreadable is not None:
            yield f"   = {visible(file.unreadable)}"
        for error in file.internal_errors:
            yield f"   = {visible(internal_error_of(error))}"
