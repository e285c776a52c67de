# SPDX-License-Identifier: Apache-2.0
"""What went wrong with a run, as opposed to a model: told on standard error."""

from __future__ import annotations

import os
import sys

from onnx_lint.cli.crash import tell_trace
from onnx_lint.cli.paths import hint_for_missing
from onnx_lint.cli.request import COMMANDS
from onnx_lint.input.locations import is_remote
from onnx_lint.report import OUT_OF_MEMORY, OWN_ERRORS, FileReport, InternalError, Report
from onnx_lint.reporters.escape import shown_path, visible


def tell_failures(report: Report) -> None:
    """Tell which files there is no verdict on and which rules crashed."""
    sys.stdout.flush()
    for file in report.files:
        if file.unreadable is not None:
            tell_unreadable(file)
        for error in file.internal_errors:
            tell_internal_error(file, error)


def tell_unreadable(file: FileReport) -> None:
    """Say why there is no verdict on a file, with the file or command that may have been meant."""
    hint = (
        ""
        if file.path == "-" or is_remote(file.path) or os.path.lexists(file.path)
        else hint_for_missing(file.path, COMMANDS)
    )
    if (file.unreadable or "").endswith("is a pipe, not a regular file"):
        hint = "; redirect it to standard input, which is - (onnx-lint - < PIPE)"
    sys.stderr.write(f"Error: {visible(file.unreadable or '')}{hint}\n")


def tell_internal_error(file: FileReport, error: InternalError) -> None:
    """Say which rule crashed on which file, and where to report it."""
    if error.exception == OUT_OF_MEMORY:
        sys.stderr.write(f"Error: {shown_path(file.path)}: {error.exception} to judge the file\n")
        return
    what = "onnx-lint" if error.rule == OWN_ERRORS else f"the rule {error.rule!r}"
    sys.stderr.write(f"Error: internal error: {what} crashed on {shown_path(file.path)}: {visible(error.exception)}\n")
    tell_trace([visible(line) for line in error.traceback.splitlines()], _plugin_of(error.rule))


def _plugin_of(rule: str) -> str | None:
    from onnx_lint.engine.registry import registry

    return registry()[rule].plugin if rule in registry() else None
