# SPDX-License-Identifier: Apache-2.0
"""Runs a request: lints its files and writes its reports."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING

from onnx_lint.cli import exit_codes
from onnx_lint.cli.jobs import Linting
from onnx_lint.cli.judgement import FilesOfRun, Judgement, files_of_run
from onnx_lint.cli.list_tasks import tasks_of
from onnx_lint.cli.outputs import Output, parse_outputs, reports_of
from onnx_lint.cli.plan import Plan
from onnx_lint.cli.progress import ProgressBar, is_wanted
from onnx_lint.cli.report_options import report_options
from onnx_lint.cli.request import STANDARD_INPUT
from onnx_lint.cli.results import Results
from onnx_lint.cli.streams import standard_output
from onnx_lint.cluster import ClusterError
from onnx_lint.common.deadline import alarms
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.engine.selection import report_of
from onnx_lint.report.totals import Report
from onnx_lint.reporters import ANNOTATIONS, writer_for
from onnx_lint.reporters.escape import visible

if TYPE_CHECKING:
    from onnx_lint.configuration.settings import Request
    from onnx_lint.report.file_report import FileReport


def run(request: Request) -> int:
    """Lint the files of the request, write the reports, and return the exit code.

    Raises RequestError for a request that makes no sense, and RunError for a configuration or a baseline that cannot be
    used. If a report cannot be written, that is printed on standard error and the exit code is at least 2.
    """
    plan = Plan(request)
    if request.show_settings:
        from onnx_lint.cli.show_settings import show_settings

        show_settings(plan)
        return exit_codes.CLEAN
    merged = plan.request_of_run()
    if merged.cluster is not None:
        _check_cluster(request)
    if merged.diff:
        return _show_difference(plan)
    if merged.fix and STANDARD_INPUT in merged.paths:
        with contextlib.redirect_stdout(sys.stderr):  # the model goes to standard output
            return _run(plan)
    return _run(plan)


def _show_difference(plan: Plan) -> int:
    """Print what fixes would change, and return the exit code: 1 if they would change anything."""
    run = files_of_run(tasks_of(plan), plan)
    results = Results(plan, None, [])
    _lint(run, _head(run), results, is_for_reader=False)
    with standard_output() as stream:
        stream.writelines(results.differences)
    results.print_not_made()
    request = plan.request_of_run()
    if not request.quiet and results.code <= exit_codes.FINDINGS:
        sys.stderr.write(_left_of(results, unsafe=request.unsafe_fixes))
    if results.code > exit_codes.FINDINGS:
        results.print_failures()
        return results.code
    return exit_codes.FINDINGS if results.differences else exit_codes.CLEAN


def _left_of(results: Results, *, unsafe: bool) -> str:
    """Return the line that says that nothing would change, and how many findings have an unsafe fix."""
    left = 0 if unsafe else results.totals.findings.fixable[False]
    facts = []
    if not results.differences:
        facts.append("no fix would be made" if results.has_refused_fixes else "nothing to fix")
    facts += _suppressed_fixes(results.with_suppressed, unsafe=unsafe)
    if left:
        more = " more" if results.differences else ""
        facts.append(
            f"{_findings(left, f'{more} finding has', f'{more} findings have')} an unsafe fix (--unsafe-fixes)"
        )
    return f"{'; '.join(facts)}\n" if facts else ""


def _suppressed_fixes(files: Iterable[FileReport], *, unsafe: bool) -> Iterator[str]:
    """Yield how many findings are not fixed because the configuration suppresses them, or others with the same fix."""
    from onnx_lint.report.folding import unfold
    from onnx_lint.rule import ALSO_SUPPRESSED

    own = beside = 0
    for file in files:
        for each in unfold(file.suppressed):
            is_made = each.fix is not None and (unsafe or each.fix.is_safe)
            own += each.count if is_made and each.suppressed_by is not None else 0
        beside += sum(
            each.count for each in unfold(file.diagnostics) if ALSO_SUPPRESSED in (each.hint_with_reason or "")
        )
    if own:
        yield _findings(own, " finding with a fix is suppressed", " findings with a fix are suppressed")
    if beside:
        yield f"{_findings(beside, ' finding has', ' findings have')} no fix: {ALSO_SUPPRESSED}"


def _findings(count: int, one: str, several: str) -> str:
    """Return a number of findings with one of two phrases."""
    return f"{count:,}{one if count == 1 else several}"


def _run(plan: Plan) -> int:
    """Lint the files, write the reports, and return the exit code."""
    request = plan.request_of_run()
    if request.quiet and request.verbose:
        raise RequestError("--quiet and --verbose cannot be combined")
    outputs = _outputs_of(request)
    for output in outputs:
        writer_for(output.format_name)  # import it now: without memory for its libraries this raises a clear error
    forms = {output.format_name for output in outputs}
    run = files_of_run(tasks_of(plan, outputs), plan)
    if not request.cache:
        import onnx_lint.engine.lint  # noqa: F401  # before a report begins, as a package may be missing
    head = _head(run)
    may_be_live = not plan.writes_baseline  # writing a baseline may fail, and then there is no report
    options = report_options(request, forms)
    live, others = reports_of(head, outputs, options, count=len(run.tasks), may_be_live=may_be_live)
    results = Results(plan, live, others)
    try:
        # If standard output is the only report, the run ends when its reader has closed it.
        is_for_reader = live is not None and all(output.path is None for output in outputs)
        report = _lint(run, head, results, is_for_reader=is_for_reader)
    except BaseException:
        for each in others:
            each.discard()
        raise
    code = results.end(report)
    _print_beside(report, outputs, request, has_findings=code == exit_codes.FINDINGS)
    if request.quiet or "text" not in forms:
        results.print_unproven()
        results.print_not_made()
    if code > exit_codes.FINDINGS:
        results.print_failures()
    return code


def _outputs_of(request: Request) -> list[Output]:
    """Return the reports to write. In a GitHub workflow annotations follow the text report if none is asked for."""
    is_chosen = request.format_name != "text" or "format_name" in request.given
    outputs = parse_outputs(request.format_name, request.outputs, is_chosen=is_chosen)
    if not is_chosen and not request.outputs and os.environ.get("GITHUB_ACTIONS") == "true":
        outputs.append(Output(ANNOTATIONS, None))
    return outputs


def _print_beside(report: Report, outputs: Sequence[Output], request: Request, *, has_findings: bool) -> None:
    """Print on standard error what the reports do not say, and where they are if there is something to read."""
    forms = {output.format_name for output in outputs}
    is_elsewhere = has_findings and not request.quiet and all(output.path is not None for output in outputs)
    if report.weakened and "gitlab" in forms:
        from onnx_lint.cli.weakened import print_weakenings

        print_weakenings(report.weakened)
    if "concise" in forms and "text" not in forms:
        from onnx_lint.cli.beside_concise import print_beside_concise

        print_beside_concise(report, quiet=request.quiet, statistics=request.statistics, has_verdict=not is_elsewhere)
    if is_elsewhere:
        from onnx_lint.report.verdict import verdict_in_words

        sys.stderr.write(f"{verdict_in_words(report)}; the report is in {visible(str(outputs[0].path))}\n")


def _check_cluster(request: Request) -> None:
    """Raise RequestError for options that a cluster cannot carry out, and RunError without the packages for one."""
    for field in ("fix", "diff", "jobs"):
        if getattr(request, field):
            raise RequestError(f"--cluster cannot be combined with --{field}")
    try:
        import onnx_lint.cluster.client  # noqa: F401  # late, as its packages come with an extra
    except ClusterError as error:
        raise RunError(str(error)) from error


def _head(run: FilesOfRun) -> Report:
    """Return the report before the first file."""
    head = report_of((), run.tasks[0].settings if run.tasks else run.plan.settings_of_run())
    if not run.configurations.are_any:
        return head
    from onnx_lint.cli.weakened import weakenings

    return replace(head, weakened=weakenings(run.plan, run.paths))


def _lint(run: FilesOfRun, head: Report, results: Results, *, is_for_reader: bool) -> Report:
    """Lint the files, pass each report to `results`, and return the report, which an interruption cuts short.

    `is_for_reader`: whether to stop once standard output is closed.
    """
    judgement = Judgement(run, head.rules)
    ending = _linted(run, judgement, results, is_for_reader=is_for_reader)
    not_linted = tuple(compress(run.paths, (not each for each in ending.is_done)))
    stale = 0 if not_linted else judgement.finish(results)
    results.code = exit_codes.of_run(results.code, is_interrupted=bool(not_linted), is_lost=ending.is_lost)
    report = replace(head, stale=stale, not_linted=not_linted, is_lost=ending.is_lost, counted_totals=results.totals)
    if not head.weakened:
        return report
    from onnx_lint.cli.weakened import without_unused

    return replace(report, weakened=without_unused(head.weakened, judgement.used, judgement.lowered))


class _Ending(Record):
    """How far a run came."""

    is_done: bytearray
    """1 for each task that is done, 0 for others."""
    is_lost: bool = False
    """True if the cluster was lost before the last file."""


def _linted(run: FilesOfRun, judgement: Judgement, results: Results, *, is_for_reader: bool) -> _Ending:
    """Pass the reports to `results` in the order of the tasks."""
    request = run.plan.request_of_run()
    ending = _Ending(bytearray(len(run.tasks)))

    def take(index: int) -> None:
        file = judgement.apply(index, linting.done.pop(index))
        ending.is_done[index] = 1
        with bar.hidden() if results.is_on_terminal else contextlib.nullcontext():
            results.take(file)

    interruptions = _termination_interrupts() if len(run.tasks) > 1 else contextlib.nullcontext()
    with alarms(), interruptions, ProgressBar(len(run.tasks), wanted=is_wanted(quiet=request.quiet)) as bar:
        linting = _linting(run, bar)
        try:
            with contextlib.closing(linting.indices()) as indices:
                for index in indices:
                    take(index)
                    if is_for_reader and not results.has_reader:
                        break
        except ClusterError as error:
            if not any(ending.is_done):
                raise RunError(str(error)) from error
            sys.stderr.write(f"Error: {error}\n")
            return replace(ending, is_lost=True)
        except KeyboardInterrupt:
            if len(run.tasks) == 1:
                raise
            if sys.stderr.isatty():
                sys.stderr.write("\n")  # the terminal shows ^C on the current line
            for index in sorted(linting.done):  # files that were done before their turn
                take(index)
    return ending


def _linting(run: FilesOfRun, bar: ProgressBar) -> Linting:
    """Return the lint of the files, which advances the progress bar."""
    request = run.plan.request_of_run()
    # The memory of a process for models has a limit only if the user set one.
    memory = run.plan.settings_of_run().limits.memory if "memory" in request.limits else None
    # Two models that share a data file are not copied at the same time.
    jobs = 1 if request.fixed_folder is not None else request.jobs
    limits = ModelLimits(request.time_limit, memory)
    return Linting(run.tasks, jobs, on_done=lambda _: bar.advance(), limits=limits, cluster=request.cluster)


@contextlib.contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt, as Ctrl-C does, so that there is a report.

    A process that was started with SIGTERM ignored keeps ignoring it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    is_changed = is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_changed:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        if is_changed:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
