# SPDX-License-Identifier: Apache-2.0
"""What went wrong with a run, as opposed to a model: told on standard error."""

from __future__ import annotations

import os
import sys
from typing import Final

from onnx_lint.cli.crash import write_trace
from onnx_lint.cli.paths import hint_for_missing
from onnx_lint.cli.request import COMMANDS
from onnx_lint.input.locations import is_remote
from onnx_lint.report import OUT_OF_MEMORY, OWN_ERRORS, FileReport, InternalError, Report
from onnx_lint.reporters.escape import shown_path, visible


def tell_failures(report: Report, internal_errors: str = "error") -> None:
    """Print which files there is no verdict on and what crashed; equal tracebacks once.

    `internal_errors`: whether crashes are an `error` or a `warning`.
    """
    sys.stdout.flush()
    level = "Warning" if internal_errors == "warning" else "Error"
    printed: set[str] = set()
    for file in report.files:
        if file.unreadable is not None:
            tell_unreadable(file)
        for error in file.internal_errors:
            print_internal_error(file.path, error, level, printed)
    if printed and level == "Error":
        sys.stderr.write(_HOW_TO_GO_ON)


_HOW_TO_GO_ON: Final = (
    "To go on: --exclude leaves files out, and --internal-errors warning keeps internal errors from failing the run.\n"
)


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


def print_internal_error(path: str, error: InternalError, level: str, printed: set[str]) -> None:
    """Print what crashed on which file, and where to report it. `printed`: the tracebacks so far, which it adds to."""
    if error.exception == OUT_OF_MEMORY:
        sys.stderr.write(f"{level}: {shown_path(path)}: {error.exception} to judge the file\n")
        return
    what = "onnx-lint" if error.rule == OWN_ERRORS else f"the rule {error.rule!r}"
    where = f" at {visible(error.node)}, {visible(error.place or '')}" if error.node is not None else ""
    said = f"internal error: {what} crashed on {shown_path(path)}{where}: {visible(error.exception)}"
    sys.stderr.write(f"{level}: {said}\n")
    if error.traceback and error.traceback in printed:
        sys.stderr.write("  The traceback is that of an internal error above.\n")
    else:
        write_trace([visible(line) for line in error.traceback.splitlines()], _plugin_of(error.rule))
    printed.add(error.traceback)


def _plugin_of(rule: str) -> str | None:
    from onnx_lint.engine.registry import registry

    return registry()[rule].plugin if rule in registry() else None
