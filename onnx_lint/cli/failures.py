# SPDX-License-Identifier: Apache-2.0
"""Prints on standard error the failures of a run, as opposed to the faults of a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Sequence
from typing import Final

from onnx_lint.cli.crash import write_trace
from onnx_lint.cli.paths import hint_for_missing
from onnx_lint.cli.request import COMMANDS
from onnx_lint.common.exit_status import KILLED
from onnx_lint.engine.registry import registry
from onnx_lint.input.locations import is_local
from onnx_lint.report.file_report import OUT_OF_MEMORY, OWN_ERRORS, FileReport, InternalError
from onnx_lint.reporters.escape import shown_path, visible


def print_failures(files: Sequence[FileReport]) -> None:
    """Print the files without a verdict, and the crashes. Equal tracebacks are printed once."""
    sys.stdout.flush()
    for file in files:
        if file.unreadable is not None:
            sys.stderr.write(f"Error: {visible(file.unreadable)}\n")
        if file.repair is not None and file.repair.problem is not None:
            sys.stderr.write(f"Error: {visible(file.repair.problem)}\n")
    errors = [(file.path, error) for file in files for error in file.internal_errors]
    print_internal_errors(errors, HOW_TO_GO_ON)


HOW_TO_GO_ON: Final = "To go on: --ignore skips a rule that crashed, and --exclude leaves files out.\n"


def print_internal_errors(errors: Iterable[tuple[str, InternalError]], advice: str) -> None:
    """Print the crashes, each with the path of its file, and then how to go on. Equal tracebacks are printed once."""
    printed: set[str] = set()
    for path, error in errors:
        _print_internal_error(path, error, printed)
    if printed:
        sys.stderr.write(advice)


def print_unreadable(path: str, reason: str) -> None:
    """Print why a file cannot be read, and suggest the file or command that may have been meant."""
    sys.stderr.write(f"Error: {visible(with_suggestion(path, reason))}\n")


def with_suggestion(path: str, reason: str) -> str:
    """Return why a file cannot be read, with the file or command that may have been meant."""
    hint = hint_for_missing(path, COMMANDS) if is_local(path) and not os.path.lexists(path) else ""
    if reason.endswith("is a pipe, not a regular file"):
        hint = "; redirect it to standard input, which is - (onnx-lint - < PIPE)"
    return f"{reason}{hint}"


def _print_internal_error(path: str, error: InternalError, printed: set[str]) -> None:
    """Print what crashed on which file, and where to report it.

    Adds the traceback to `printed`, which has earlier ones.
    """
    if error.exception == OUT_OF_MEMORY:
        sys.stderr.write(f"Error: {shown_path(path)}: {error.exception} to judge the file\n")
        return
    if error.exception.endswith(KILLED):
        sys.stderr.write(f"Error: {shown_path(path)}: {error.exception}\n")
        return
    what = "onnx-lint" if error.rule == OWN_ERRORS else f"the rule {error.rule!r}"
    where = f" at {visible(error.node)}, {visible(error.place or '')}" if error.node is not None else ""
    work = f" while {error.work}" if error.work is not None and not where else ""
    print_crash(f"{what} crashed on {shown_path(path)}{where}{work}", error, printed)
    printed.add(error.traceback)


def print_crash(what: str, error: InternalError, printed: Container[str] = ()) -> None:
    """Print a crash, and where to report it. `printed`: the tracebacks so far, which are not printed again."""
    sys.stderr.write(f"Error: internal error: {what}: {visible(error.exception)}\n")
    if error.exception == OUT_OF_MEMORY or error.exception.endswith(KILLED):
        return
    if error.traceback and error.traceback in printed:
        sys.stderr.write("  The traceback is that of an internal error above.\n")
    else:
        write_trace([visible(line) for line in error.traceback.splitlines()], _plugin_of(error.rule))


def _plugin_of(rule: str) -> str | None:
    return registry()[rule].plugin if rule in registry() else None
