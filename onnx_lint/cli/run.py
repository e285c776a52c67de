# SPDX-License-Identifier: Apache-2.0
"""Runs a request: lints its files and writes its reports."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from onnx_lint.cli import exit_codes
from onnx_lint.cli.choices import Plan, told_apart
from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.outputs import Output, parse_outputs, write_outputs
from onnx_lint.cli.paths import find_inputs, has_working_directory, paths_of
from onnx_lint.record import replace
from onnx_lint.reporters import Options, reporter

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_lint.cli.lint_one import Task
    from onnx_lint.cli.paths import Input
    from onnx_lint.cli.request import Request
    from onnx_lint.report import Diagnostic, Report


def run(request: Request) -> int:
    """Lint what is asked for, write the reports, and return the exit code.

    Raises RequestError for a request that makes no sense, and RunError for a configuration or a baseline that cannot be
    used. A report that cannot be written is told on standard error, and counts in the exit code.
    """
    if not has_working_directory():
        raise RunError("the working directory is not there any more")
    plan = Plan(request)
    if request.show_settings:
        from onnx_lint.cli.show_settings import show_settings

        show_settings(plan)
        return exit_codes.CLEAN
    own = plan.of_run()
    outputs = parse_outputs(
        own.format_name, own.outputs, is_chosen=own.format_name != "text" or "format_name" in own.given
    )
    for output in outputs:
        reporter(output.format_name)  # a library that cannot be loaded for lack of memory says so in words of its own
    tasks = _tasks(outputs, plan)
    before = time.process_time()
    report = _lint(tasks, plan)
    if plan.has_baseline:
        from onnx_lint.cli.baselines import with_baselines

        report = with_baselines(report, plan)
    if plan.has_configuration:
        from onnx_lint.cli.weakened import weakenings

        report = replace(report, weakened=weakenings(plan, [task.name or task.path for task in tasks]))
    if own.min_severity != "note":
        report = _at_least(report, own.min_severity)
    code = exit_codes.of_report(report, lambda file: plan.of(file.path).fails(file.diagnostics))
    start = time.perf_counter()
    if not write_outputs(report, outputs, _options_of(own), color=own.color):
        code = max(code, exit_codes.NOT_CHECKED)
    if request.timings:
        from onnx_lint.cli.timings import tell_timings

        sys.stdout.flush()
        tell_timings(report, before, time.perf_counter() - start)
    if code > exit_codes.FINDINGS:
        from onnx_lint.cli.failures import tell_failures

        tell_failures(report)
    return code


def _tasks(outputs: Iterable[Output], plan: Plan) -> list[Task]:
    own = plan.of_run()
    inputs = find_inputs(paths_of(own), own.exclude, may_be_none=own.allow_no_input)
    for output in outputs:
        if output.path is not None and any(_is_same(output.path, item.path) for item in inputs):
            raise RequestError(f"the report would overwrite the model {output.path!r}")
    # All configurations are read before the first model, so that a fault in one is told at once.
    return [_task(item, plan, own.stdin_filename) for item in inputs]


def _task(item: Input, plan: Plan, stdin_filename: str | None) -> Task:
    from onnx_lint.cli.lint_one import Task

    name = stdin_filename if item.path == "-" else None
    return Task(item.path, plan.of(name or item.path).settings, item.problem, name)


def _lint(tasks: Sequence[Task], plan: Plan) -> Report:
    from onnx_lint.cli.jobs import lint_all, processors
    from onnx_lint.cli.progress import ProgressBar, is_wanted
    from onnx_lint.engine import report_of

    own = plan.of_run()
    shown = is_wanted(no_progress=own.no_progress, quiet=own.quiet)
    with ProgressBar(len(tasks), wanted=shown, color=own.color) as bar:
        files = lint_all(tasks, own.jobs or processors(), bar.advance)
    settings = [task.settings for task in tasks]
    if not settings:
        sys.stderr.write("Nothing to lint: every file is excluded.\n")
    return report_of(told_apart(files, settings), settings[0] if settings else plan.of("-").settings)


def _at_least(report: Report, level: str) -> Report:
    """The report without findings that are less severe."""
    from onnx_lint.spec.clauses import Severity

    least = Severity.of(level)

    def kept(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(item for item in found if item.severity >= least)

    files = (
        replace(file, diagnostics=kept(file.diagnostics), suppressed=kept(file.suppressed)) for file in report.files
    )
    return replace(report, files=tuple(files))


def _is_same(output: str, path: str) -> bool:
    return path != "-" and os.path.realpath(output) == os.path.realpath(path)


def _options_of(request: Request) -> Options:
    """What the request says to all reporters."""
    failing = "never" if request.exit_zero else request.fail_on
    return Options(
        quiet=request.quiet,
        root=_directory(request.sarif_root),
        statistics=request.statistics,
        show_suppressed=request.show_suppressed,
        sarif_region=request.sarif_region,
        documentation=request.documentation_url,
        # A run that is not to fail still shows as failed tests what would have failed it.
        failing="error" if failing == "never" else failing,
    )


def _directory(path: str | None) -> Path | None:
    if path is None:
        return None
    from pathlib import Path  # which a report to the terminal does without

    return Path(path)
