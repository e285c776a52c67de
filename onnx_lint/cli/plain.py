# SPDX-License-Identifier: Apache-2.0
"""A run without options over files that are there: what most runs are, and what a hook calls.

It does what the command `check` does with its defaults, without click: to import and set that up takes as long as to
lint a thousand nodes. Whatever asks for more is left to the command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from onnx_lint.cli import exit_codes
from onnx_lint.cli.paths import find_inputs, has_working_directory
from onnx_lint.cli.standard_streams import OutputError
from onnx_lint.cli.streams import write_to_standard_output
from onnx_lint.configuration.discovery import Configurations

COMMANDS: Final = frozenset({"check", "clauses", "completions", "config", "explain", "rules"})
_ENVIRONMENT: Final = ("ONNX_LINT_", "_ONNX_LINT_")
"""What the names of environment variables begin with that set options, or ask for completions."""


def run(arguments: Sequence[str]) -> int | None:
    """Lint the files and return the exit code; None where the arguments are for the command line to understand."""
    if not _are_plain(arguments) or not has_working_directory() or _are_configured({""}):
        return None
    inputs = find_inputs(arguments)
    directories = {os.path.dirname(item.path) for item in inputs}
    if any(item.problem is not None for item in inputs) or _are_configured(directories):
        return None
    return _lint([item.path for item in inputs])


def _are_plain(arguments: Sequence[str]) -> bool:
    """Whether there are paths alone, the first of which is no command, and no variable sets an option."""
    if not arguments or arguments[0] in COMMANDS or any(argument.startswith("-") for argument in arguments):
        return False
    return not any(name.startswith(_ENVIRONMENT) for name in os.environ)


def _are_configured(directories: Iterable[str]) -> bool:
    """Whether there is a configuration for any of the directories, or one that cannot be used."""
    configurations = Configurations()
    try:
        found = [configurations.nearest(os.path.abspath(directory)) for directory in directories]
    except ValueError:
        return True
    return any(values is not None for values in found)


def _lint(paths: Sequence[str]) -> int:
    from onnx_lint.cli.jobs import lint_all
    from onnx_lint.cli.lint_one import Task
    from onnx_lint.cli.progress import ProgressBar, is_wanted
    from onnx_lint.engine import report_of
    from onnx_lint.reporters import Options
    from onnx_lint.settings import Settings
    from onnx_lint.spec.clauses import Severity

    settings = Settings()
    with ProgressBar(len(paths), wanted=is_wanted(no_progress=False, quiet=False)) as bar:
        report = report_of(lint_all([Task(path, settings) for path in paths], 1, bar.advance), settings)
    code = exit_codes.of_report(
        report, lambda file: any(found.severity >= Severity.ERROR for found in file.diagnostics)
    )
    try:
        write_to_standard_output(report, "text", Options(), color="auto")
    except OutputError as error:
        sys.stderr.write(f"Error: {error}\n")
        code = max(code, exit_codes.NOT_CHECKED)
    if code > exit_codes.FINDINGS:
        from onnx_lint.cli.failures import tell_failures

        tell_failures(report, COMMANDS)
    return code


def main() -> None:
    """Run, and end the process; return where the command line has to."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("\n")  # as click does, so that the prompt of the shell gets a line of its own
        code = exit_codes.INTERRUPTED
    except Exception as error:
        from onnx_lint.cli.failures import report_crash

        report_crash(error)
        code = exit_codes.INTERNAL_ERROR
    if code is not None:
        sys.exit(code)
