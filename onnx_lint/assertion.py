# SPDX-License-Identifier: Apache-2.0
"""An assertion for tests of exporters. Its message is the report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Literal, Never

from onnx_lint.library import Lintable, Report, Settings, lint
from onnx_lint.reporters.escape import visible
from onnx_lint.reporters.wording import crash_in_words


def assert_conforms(
    model: Lintable,
    settings: Settings | None = None,
    *,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    target: str | Iterable[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    fail_on: Literal["error", "warning", "note"] | None = None,
    config: str | os.PathLike[str] | bool = False,
    filename: str | os.PathLike[str] | None = None,
    **others: Never,
) -> Report:
    """Raise AssertionError, with the text report as its message, if `model` fails a check of its conformance.

    The arguments are those of `onnx_lint.lint`; `fail_on` is the lowest severity that fails: `error`, the default,
    `warning` or `note`. A model that cannot be judged fails as well, and so does a crash of a
    rule. Returns the report of a model that passes: its `conforms` is None if settings left out a part of the check.
    Raises the exceptions of `lint`, and ValueError if `fail_on` is `never`, in a setting or in the configuration.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    report = lint(
        model,
        settings,
        select=select,
        ignore=ignore,
        target=target,
        baseline=baseline,
        fail_on=fail_on,
        config=config,
        filename=filename,
        **others,
    )
    if report.fail_on == "never":
        raise ValueError("fail_on is 'never', so that no finding would fail; an assertion requires another severity")
    if not report.passes:
        raise AssertionError("\n".join([str(report), *_failures(report)]))
    return report


def _failures(report: Report) -> Iterator[str]:
    """Yield what the command line prints on standard error, which the text report does not contain."""
    for file in report.files:
        if file.unreadable is not None:
            yield f"   = {visible(file.unreadable)}"
        for error in file.internal_errors:
            yield f"   = {visible(crash_in_words(error))}"
