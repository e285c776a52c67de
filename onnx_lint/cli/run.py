# SPDX-License-Identifier: Apache-2.0
"""Runs a request: lints its files and writes its reports."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from onnx_lint.cli import exit_codes
from onnx_lint.cli.choices import Plan
from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.kept_files import check_reports
from onnx_lint.cli.outputs import LiveReport, Output, live_report, parse_outputs, write_outputs
from onnx_lint.cli.paths import find_inputs, has_working_directory, paths_of
from onnx_lint.common.memory import let_go
from onnx_lint.common.record import replace
from onnx_lint.input.locations import is_remote
from onnx_lint.reporters import DRAWN, SHOWN_WITH_CONTEXT, Options, reporter

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_lint.cli.lint_one import Task
    from onnx_lint.cli.paths import Input
    from onnx_lint.cli.request import Request
    from onnx_lint.common.model_limits import ModelLimits
    from onnx_lint.remote.access import Access
    from onnx_lint.report import FileReport, Report


def plan_of(request: Request) -> Plan | None:
    """The plan of a request; None where it only asks for the settings, which are shown then.

    Raises RequestError for a request that makes no sense, and RunError where there is no working directory, or a
    configuration cannot be used.
    """
    if not has_working_directory():
        raise RunError("the working directory is not there any more")
    plan = Plan(request)
    if not request.show_settings:
        return plan
    from onnx_lint.cli.show_settings import show_settings

    show_settings(plan)
    return None


def run(request: Request) -> int:
    """Lint what is asked for, write the reports, and return the exit code.

    Raises RequestError for a request that makes no sense, and RunError for a configuration or a baseline that cannot be
    used. A report that cannot be written is told on standard error, and counts in the exit code.
    """
    plan = plan_of(request)
    if plan is None:
        return exit_codes.CLEAN
    own = plan.of_run()
    if own.quiet and own.verbose:
        raise RequestError("--quiet and --verbose do not go together")
    outputs = parse_outputs(
        own.format_name, own.outputs, is_chosen=own.format_name != "text" or "format_name" in own.given
    )
    for output in outputs:
        reporter(output.format_name)  # a library that cannot be loaded for lack of memory says so in words of its own
    tasks = _tasks(outputs, plan, _context(outputs, own))
    before = time.process_time()
    head = _head(tasks, plan)
    options = _options_of(own)
    live = None
    if not plan.writes_baseline:  # which may fail, and then there is no report
        live = live_report(head, outputs, options, color=own.color, count=len(tasks))
    # What has no other purpose than to be read ends with its reader.
    is_for_reader = live is not None and len(outputs) == 1 and not request.timings
    report = _lint(tasks, plan, head, live, is_for_reader=is_for_reader)
    code = exit_codes.of_report(report, lambda file: plan.of(file.path).fails(file.diagnostics), own.internal_errors)
    start = time.perf_counter()
    left = [output for output in outputs if live is None or output is not live.output]
    if live is not None:
        live.end(report)
    if left:
        let_go()  # what is written as a whole takes up memory as well, and needs the last model no more
    if not write_outputs(report, left, options, color=own.color) or (live is not None and live.has_failed):
        code = max(code, exit_codes.NOT_CHECKED)
    if request.timings:
        from onnx_lint.cli.timings import tell_timings

        sys.stdout.flush()
        tell_timings(report, before, time.perf_counter() - start)
    if code > exit_codes.FINDINGS or any(file.internal_errors for file in report.files):
        from onnx_lint.cli.failures import tell_failures

        tell_failures(report, own.internal_errors)
    return code


def _context(outputs: Iterable[Output], own: Request) -> tuple[int, ...]:
    """Of how many findings of a rule and clause reports show the lines around them: each number once."""
    if not own.context:
        return ()
    shown = {SHOWN_WITH_CONTEXT[output.format_name] for output in outputs if output.format_name in SHOWN_WITH_CONTEXT}
    return tuple(sorted(shown))


def _tasks(outputs: Sequence[Output], plan: Plan, context: tuple[int, ...]) -> list[Task]:
    own = plan.of_run()
    inputs = inputs_of(own)
    if not inputs:
        sys.stderr.write("Nothing to lint: every file is excluded.\n")
    # All configurations are read before the first model, so that a fault in one is told at once.
    pictures = any(output.format_name in DRAWN for output in outputs)
    tasks = [_task(item, plan, own.stdin_filename, context, pictures) for item in inputs]
    check_reports([output.path for output in outputs], [*(item.path for item in inputs), *plan.files_of_run()])
    return tasks


def inputs_of(own: Request) -> list[Input]:
    """What a request is about. Raises RunError and RequestError as `paths_of` does."""
    paths = tuple(paths_of(own))
    access = _access(own) if any(map(is_remote, paths)) else None
    return find_inputs(paths, own.exclude, may_be_none=own.allow_no_input, access=access)


def _access(own: Request) -> Access:
    """How much is asked of stores."""
    from onnx_lint.cli.option_values import limits_of
    from onnx_lint.remote.access import access_of

    return access_of(limits_of(own.limits), download=own.download)


def _task(item: Input, plan: Plan, stdin_filename: str | None, context: tuple[int, ...], pictures: bool) -> Task:
    from onnx_lint.cli.lint_one import Task

    name = stdin_filename if item.path == "-" else item.name
    return Task(item.path, plan.of(name or item.path).settings, item.problem, name, context, pictures)


def _head(tasks: Sequence[Task], plan: Plan) -> Report:
    """The report before the first file."""
    from onnx_lint.engine.lint import report_of

    return report_of((), tasks[0].settings if tasks else plan.of("-").settings)


def _lint(tasks: Sequence[Task], plan: Plan, head: Report, live: LiveReport | None, *, is_for_reader: bool) -> Report:
    """The report of a run, of which `live` has been told each file; an interrupted run ends with what it has."""
    from onnx_lint.engine.lint import told_apart
    from onnx_lint.spec.clauses import Severity

    names = [task.name or task.path for task in tasks]
    level = Severity.of(plan.of_run().min_severity)
    baselines = None
    if plan.has_baseline:
        from onnx_lint.cli.baselines import Baselines

        baselines = Baselines(plan, names, head.rules)

    def judged(index: int, file: FileReport) -> FileReport:
        file = told_apart(file, tasks[index].settings, tasks[0].settings)
        if baselines is not None:
            file = baselines.judged(file)
        return file.at_least(level)

    files = _linted(tasks, plan, judged, live, is_for_reader=is_for_reader)
    not_linted = tuple(name for index, name in enumerate(names) if index not in files)
    report = replace(head, files=tuple(files.values()), not_linted=not_linted)
    if baselines is not None and not not_linted:
        report = replace(report, stale=baselines.finish())
    if plan.has_configuration:
        from onnx_lint.cli.weakened import weakenings

        report = replace(report, weakened=weakenings(plan, names))
    return report


def _linted(
    tasks: Sequence[Task],
    plan: Plan,
    judged: Callable[[int, FileReport], FileReport],
    live: LiveReport | None,
    *,
    is_for_reader: bool,
) -> dict[int, FileReport]:
    """The reports of the files by the index of their tasks, in their order: of all, unless the run is interrupted."""
    from onnx_lint.cli.jobs import lint_each
    from onnx_lint.cli.progress import ProgressBar, is_wanted

    own = plan.of_run()
    limits = _limits_of(own)
    done: dict[int, FileReport] = {}
    files: dict[int, FileReport] = {}

    def take(index: int) -> None:
        files[index] = judged(index, done.pop(index))
        if live is not None:
            with bar.hidden() if live.is_on_terminal else contextlib.nullcontext():
                live.file(files[index])

    shown = is_wanted(no_progress=own.no_progress, quiet=own.quiet)
    with _interruptions(len(tasks)), ProgressBar(len(tasks), wanted=shown, color=own.color) as bar:
        try:
            with contextlib.closing(lint_each(tasks, own.jobs, done, bar.advance, limits)) as indices:
                for index in indices:
                    take(index)
                    if is_for_reader and live is not None and not live.has_reader and not live.has_failed:
                        return files
        except KeyboardInterrupt:
            if len(tasks) == 1:
                raise
            if sys.stderr.isatty():
                sys.stderr.write("\n")  # a line of its own for what follows on the ^C
            for index in sorted(done):  # those that came before their turn
                take(index)
    return files


def _limits_of(own: Request) -> ModelLimits:
    """What one model may take. Raises RequestError for a limit that cannot be watched here."""
    from onnx_lint.common.model_limits import ModelLimits, resident

    if own.memory_limit is not None and not resident(os.getpid()):
        raise RequestError("--memory-limit wants a system that tells the memory of processes in /proc, as Linux does")
    return ModelLimits(own.time_limit, own.memory_limit)


def _interruptions(count: int) -> contextlib.AbstractContextManager[None]:
    """What lets a run of several files end with a report when it is terminated; of one there would be none."""
    if count <= 1:
        return contextlib.nullcontext()
    from onnx_lint.cli.interruption import termination_interrupts

    return termination_interrupts()


def _options_of(request: Request) -> Options:
    """What the request says to all reporters."""
    failing = "never" if request.exit_zero else request.fail_on
    return Options(
        quiet=request.quiet,
        verbose=request.verbose,
        root=_directory(request.sarif_root),
        statistics=request.statistics,
        show_suppressed=request.show_suppressed,
        sarif_region=request.sarif_region,
        documentation=request.documentation_url,
        # A run that is not to fail still shows as failed tests what would have failed it.
        failing="error" if failing == "never" else failing,
        internal_errors=request.internal_errors,
    )


def _directory(path: str | None) -> Path | None:
    if path is None:
        return None
    from pathlib import Path  # which a report to the terminal does without

    return Path(path)
