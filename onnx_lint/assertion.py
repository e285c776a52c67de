# SPDX-License-Identifier: Apache-2.0
"""For the tests of those who make models: an assertion whose message is the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.library import Lintable, Report, lint
from onnx_lint.reporters.escape import visible
from onnx_lint.reporters.wording import internal_error_of
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import suggestion

GATES: Final = tuple(severity.label for severity in Severity)


def assert_conforms(model: Lintable, *, fail_on: str | None = None, **options: Any) -> Report:
    """Raise AssertionError, with the text report as its message, unless `model` keeps to the specification.

    `model` and `options` are those of `onnx_lint.lint`. `fail_on`: the least severity that fails: error, warning or
    note; None for what the configuration says, or else error. A model that cannot be judged fails too, and so does a
    rule that crashes. Returns the report of a model that passes. Raises ValueError for an unknown `fail_on`, and
    whatever `lint` raises.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    if fail_on is not None and fail_on not in GATES:
        raise ValueError(f"unknown severity {fail_on!r} in fail_on{suggestion(fail_on, GATES)}")
    report = lint(model, **options)
    if fail_on is not None:
        report = replace(report, fail_on=fail_on)
    if not report.passes:
        raise AssertionError("\n".join([str(report), *_failures(report)]))
    return report


def _failures(report: Report) -> Iterator[str]:
    """What the command line says on standard error, and the text report so leaves out."""
    for file in report.files:
        if file.unreadable is not None:
            yield f"   = {visible(file.unreadable)}"
        for error in file.internal_errors:
            yield f"   = {visible(internal_error_of(error))}"
