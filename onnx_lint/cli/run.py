# SPDX-License-Identifier: Apache-2.0
"""Runs a request: lints its files and writes its reports."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING

from onnx_lint.cli import exit_codes
from onnx_lint.cli.jobs import Linting
from onnx_lint.cli.list_tasks import report_options, tasks_of
from onnx_lint.cli.outputs import LiveReport, Output, WholeReport, parse_outputs, reports_of
from onnx_lint.cli.plan import Plan
from onnx_lint.cli.progress import ProgressBar, is_wanted
from onnx_lint.cli.streams import standard_output
from onnx_lint.cluster import ClusterError
from onnx_lint.common.deadline import alarms
from onnx_lint.common.memory import release_memory
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.record import replace
from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.engine.selection import report_of, with_own_settings
from onnx_lint.report.file_report import FileReport, InternalError, Repair
from onnx_lint.report.totals import Report, Totals
from onnx_lint.reporters import ANNOTATIONS, writer_for
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.spec.releases import DOMAIN_ALIAS, normalized_domain
from onnx_lint.tasks.lint_one import Task
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.configuration.settings import Request


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
    own = plan.run_request()
    if own.cluster is not None:
        _check_cluster(request)
    if own.diff:
        return _show_difference(plan)
    if own.fix and "-" in own.paths:
        with contextlib.redirect_stdout(sys.stderr):  # the model goes to standard output
            return _run(plan)
    return _run(plan)


def _show_difference(plan: Plan) -> int:
    """Print what fixes would change, and return the exit code: 1 if they would change anything."""
    tasks = tasks_of(plan)
    results = _Results(plan, None, [])
    _lint(tasks, plan, _head(tasks, plan), results, is_for_reader=False)
    with standard_output() as stream:
        stream.writelines(results.differences)
    results.print_not_made()
    if not plan.run_request().quiet and results.code <= exit_codes.FINDINGS:
        sys.stderr.write(_left_of(results, unsafe=plan.run_request().unsafe_fixes))
    if results.code > exit_codes.FINDINGS:
        results.print_failures()
        return results.code
    return exit_codes.FINDINGS if results.differences else exit_codes.CLEAN


def _left_of(results: _Results, *, unsafe: bool) -> str:
    """Return the line that says that nothing would change, and how many findings have an unsafe fix."""
    left = 0 if unsafe else results.totals.findings.fixable[False]
    facts = []
    if not results.differences:
        facts.append("no fix would be made" if results.has_refused_fixes else "nothing to fix")
    facts += _suppressed_fixes(results.with_suppressed, unsafe=unsafe)
    if left:
        more = " more" if results.differences else ""
        facts.append(f"{left:,}{more} {'finding has' if left == 1 else 'findings have'} an unsafe fix (--unsafe-fixes)")
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
        yield f"{own:,} {'finding' if own == 1 else 'findings'} with a fix {'is' if own == 1 else 'are'} suppressed"
    if beside:
        yield f"{beside:,} {'finding has' if beside == 1 else 'findings have'} no fix: {ALSO_SUPPRESSED}"


def _run(plan: Plan) -> int:
    own = plan.run_request()
    if own.quiet and own.verbose:
        raise RequestError("--quiet and --verbose cannot be combined")
    outputs = _outputs_of(own)
    for output in outputs:
        writer_for(output.format_name)  # import it now: without memory for its libraries this raises a clear error
    forms = {output.format_name for output in outputs}
    tasks = tasks_of(plan, outputs)
    if not own.cache:
        import onnx_lint.engine.lint  # noqa: F401  # before a report begins, as a package may be missing
    head = _head(tasks, plan)
    may_be_live = not plan.writes_baseline  # writing a baseline may fail, and then there is no report
    live, others = reports_of(head, outputs, report_options(own, forms), count=len(tasks), may_be_live=may_be_live)
    results = _Results(plan, live, others)
    try:
        # If standard output is the only report, the run ends when its reader has closed it.
        is_for_reader = live is not None and all(output.path is None for output in outputs)
        report = _lint(tasks, plan, head, results, is_for_reader=is_for_reader)
    except BaseException:
        for each in others:
            each.discard()
        raise
    code = results.end(report)
    _print_beside(report, outputs, own, has_findings=code == exit_codes.FINDINGS)
    if own.quiet or "text" not in forms:
        results.print_unproven()
        results.print_not_made()
    if code > exit_codes.FINDINGS:
        results.print_failures()
    return code


def _outputs_of(own: Request) -> list[Output]:
    """Return the reports to write. In a GitHub workflow annotations follow the text report if none is asked for."""
    is_chosen = own.format_name != "text" or "format_name" in own.given
    outputs = parse_outputs(own.format_name, own.outputs, is_chosen=is_chosen)
    if not is_chosen and not own.outputs and os.environ.get("GITHUB_ACTIONS") == "true":
        outputs.append(Output(ANNOTATIONS, None))
    return outputs


def _print_beside(report: Report, outputs: Sequence[Output], own: Request, *, has_findings: bool) -> None:
    """Print on standard error what the reports do not say, and where they are if there is something to read."""
    forms = {output.format_name for output in outputs}
    is_elsewhere = has_findings and not own.quiet and all(output.path is not None for output in outputs)
    if report.weakened and "gitlab" in forms:
        from onnx_lint.cli.weakened import print_weakenings

        print_weakenings(report.weakened)
    if "concise" in forms and "text" not in forms:
        from onnx_lint.cli.beside_concise import print_beside_concise

        print_beside_concise(report, quiet=own.quiet, statistics=own.statistics, has_verdict=not is_elsewhere)
    if is_elsewhere:
        from onnx_lint.report.verdict import verdict_in_words

        sys.stderr.write(f"{verdict_in_words(report)}; the report is in {visible(str(outputs[0].path))}\n")


class _Results:
    """The results of a run: passes the report of each file on, and keeps only what is needed at the end."""

    def __init__(self, plan: Plan, live: LiveReport | None, others: Sequence[WholeReport]) -> None:
        self._plan = plan
        self._others = others
        self._traces: dict[str, str] = {}
        self._failed: list[FileReport] = []
        """Files without a verdict, files that could not be fixed, and files with internal errors; without findings."""
        self._not_made: list[tuple[str, str]] = []
        """The fixes that were not made, each with its path."""
        self._unproven: list[tuple[str, str, str]] = []
        """The paths of the models that are not proven to load, each with the program and the reason."""
        self.live = live
        self.totals = Totals()
        self.code = exit_codes.CLEAN
        self.differences: list[str] = []
        self.with_suppressed: list[FileReport] = []
        """The reports with suppressed findings, if differences are shown."""

    def take(self, file: FileReport) -> None:
        """Pass the report on the next file to all reports, and count it."""
        if self.live is not None:
            file = self.live.file(file)
        for report in self._others:
            report.file(file)
        self.totals.add(file)
        self.code = max(self.code, exit_codes.of_file(file, self._plan.request_for(file.path).fail_on))
        self._unproven += [(file.path, each.program, each.text) for each in file.targets if each.fails_run]
        if file.suppressed and self._plan.run_request().diff:
            self.with_suppressed.append(FileReport(file.path, 0, file.diagnostics, suppressed=file.suppressed))
        problem = None
        if file.repair is not None:
            self._not_made += ((file.path, each) for each in file.repair.not_made)
            self.differences += [file.repair.difference] if file.repair.difference else []
            problem = file.repair.problem
        if file.unreadable is not None or file.internal_errors or problem is not None:
            self._failed.append(self._failure_of(file, problem))

    def _failure_of(self, file: FileReport, problem: str | None) -> FileReport:
        """Return what the end of the run needs of a file that failed. Equal tracebacks are one text."""
        errors = tuple(
            replace(error, traceback=self._traces.setdefault(error.traceback, error.traceback))
            for error in file.internal_errors
        )
        repair = Repair(problem=problem) if file.repair is not None else None
        return FileReport(file.path, 0, unreadable=file.unreadable, internal_errors=errors, repair=repair)

    def end(self, report: Report) -> int:
        """Write the ends of all reports, and return the exit code of the run."""
        if self.live is not None:
            self.code = max(self.code, self.live.end(report))
        if self._others:
            release_memory()  # reports need memory, and the caches of the last model are not needed any more
        for each in self._others:
            self.code = max(self.code, each.end(report))
        return self.code

    @property
    def has_refused_fixes(self) -> bool:
        """True if a fix is not made."""
        return bool(self._not_made)

    def print_unproven(self) -> None:
        """Print the models that are not proven to load: the full text has them."""
        for path, program, said in self._unproven:
            sys.stderr.write(f"Error: {shown_path(path)}: {program}: {visible(said)}\n")

    def print_not_made(self) -> None:
        """Print the fixes that were not made: the full text has them."""
        for path, problem in self._not_made:
            sys.stderr.write(f"Warning: {shown_path(path)}: not fixed: {visible(problem)}\n")

    def print_crash(self, error: Exception, work: str) -> None:
        """Print a crash that is about no file."""
        from onnx_lint.cli.failures import print_crash

        print_crash(f"onnx-lint crashed while {work}", InternalError.from_exception(error))
        self.code = max(self.code, exit_codes.INTERNAL_ERROR)

    def print_failures(self) -> None:
        """Print the files without a verdict, and the crashes."""
        from onnx_lint.cli.failures import print_failures

        print_failures(self._failed)


def _check_cluster(request: Request) -> None:
    """Raise RequestError for options that a cluster cannot carry out, and RunError without the packages for one."""
    for field in ("fix", "diff", "jobs"):
        if getattr(request, field):
            raise RequestError(f"--cluster cannot be combined with --{field}")
    try:
        import onnx_lint.cluster.client  # noqa: F401  # late, as its packages come with an extra
    except ClusterError as error:
        raise RunError(str(error)) from error


def _head(tasks: Sequence[Task], plan: Plan) -> Report:
    """Return the report before the first file."""
    head = report_of((), tasks[0].settings if tasks else plan.settings_for("-"))
    if not plan.has_configuration:
        return head
    from onnx_lint.cli.weakened import weakenings

    return replace(head, weakened=weakenings(plan, [task.name or task.path for task in tasks]))


def _lint(tasks: Sequence[Task], plan: Plan, head: Report, results: _Results, *, is_for_reader: bool) -> Report:
    """Lint the tasks, pass each file to `results`, and return the report, which an interruption cuts short."""
    judgement = _Judgement(tasks, plan, head.rules)
    is_done, is_lost = _linted(tasks, plan, judgement.apply, results, is_for_reader=is_for_reader)
    not_linted = tuple(compress(judgement.names, (not each for each in is_done)))
    stale = 0 if not_linted else judgement.finish(results)
    results.code = exit_codes.of_run(results.code, is_interrupted=bool(not_linted), is_lost=is_lost)
    report = replace(head, stale=stale, not_linted=not_linted, is_lost=is_lost, counted_totals=results.totals)
    if not head.weakened:
        return report
    from onnx_lint.cli.weakened import without_unused

    return replace(report, weakened=without_unused(head.weakened, judgement.used, judgement.lowered))


class _Judgement:
    """Applies the settings and the baselines of a run to the reports of its files."""

    def __init__(self, tasks: Sequence[Task], plan: Plan, rules: Sequence[str]) -> None:
        self._tasks = tasks
        self._plan = plan
        self._rules = rules
        self.names = [task.name or task.path for task in tasks]
        self.used: set[str] = set()
        """The descriptions of the suppressions that suppressed something."""
        self.lowered: set[str] = set()
        """The rules with a finding whose severity the settings lowered."""
        self._hints: dict[str, str] = {}
        """What the suppressions may mean that match nothing in a file, by their descriptions."""
        self._of_targets: set[str] = set()
        """The domains whose versions the targets name, those of any model of the run."""
        self._imported: set[str] = set()
        """Those of them that a model imports."""
        self._baselines = None
        if plan.has_baseline:
            from onnx_lint.cli.baselines import Baselines

            self._baselines = Baselines(plan, self.names, rules)

    def apply(self, index: int, file: FileReport) -> FileReport:
        """Return the report on the file of a task as it is shown."""
        try:
            file = with_own_settings(file, self._tasks[index].settings, self._tasks[0].settings)
            if file.unreadable is not None:
                from onnx_lint.cli.failures import with_suggestion

                file = replace(file, unreadable=with_suggestion(file.path, file.unreadable))
            if file.suppressed:
                from onnx_lint.engine.suppressions import used_in

                self.used.update(used_in(file))
            if self._tasks[index].settings.severities:
                from onnx_lint.cli.weakened import lowered_in

                self.lowered.update(lowered_in(file, self._tasks[index].settings))
            for description, hint in file.unmatched:
                if not self._hints.get(description):
                    self._hints[description] = hint
            versions = self._tasks[index].settings.target.opset_versions
            if versions and file.facts is not None:
                self._of_targets.update(versions)
                self._imported.update(normalized_domain(domain) for domain, _ in file.facts.opset_imports)
            return file if self._baselines is None else self._baselines.apply(file)
        except RunError:
            raise
        except Exception as error:
            return file.with_crash(error, "comparing the findings with the settings and the baseline")

    def finish(self, results: _Results) -> int:
        """Print what had no effect, write the baselines, and return the number of stale baseline entries.

        Without effect are suppressions that suppressed nothing, and targets for a domain that no model imports.
        """
        for domain in sorted(self._of_targets - self._imported):
            name = visible(domain) or DOMAIN_ALIAS
            sys.stderr.write(f"Warning: target {quote(name)}: no model of this run imports the domain\n")
        if self._plan.has_suppressions:
            with _last_step(results, "reporting unused suppressions"):
                from onnx_lint.engine.suppressions import complaints

                requests = {id(request): request for request in map(self._plan.request_for, self.names)}
                entries = {entry: None for request in requests.values() for entry in request.suppressions}
                for sentence in complaints(entries, self.names, self.used, self._rules, self._hints):
                    sys.stderr.write(f"Warning: {visible(sentence)}\n")
        if self._baselines is not None:
            with _last_step(results, "finishing the baseline"):
                sys.stderr.writelines(f"Note: {note}\n" for note in self._baselines.notes())
                return self._baselines.finish()
        return 0


@contextlib.contextmanager
def _last_step(results: _Results, work: str) -> Iterator[None]:
    """Print a crash in a step after the last file. The reports are complete without that step."""
    try:
        yield
    except RunError:
        raise
    except Exception as error:
        results.print_crash(error, work)


def _linted(
    tasks: Sequence[Task],
    plan: Plan,
    judged: Callable[[int, FileReport], FileReport],
    results: _Results,
    *,
    is_for_reader: bool,
) -> tuple[bytearray, bool]:
    """Pass the reports to `results` in the order of the tasks.

    Return 1 for each task that is done, 0 for others; and whether the cluster was lost before the last file. `judged`:
    applies the settings to a report. `is_for_reader`: whether to stop once standard output is closed.
    """
    own = plan.run_request()
    # The memory of a process for models has a limit only if the user set one.
    memory = plan.settings_for("-").limits.memory if "memory" in own.limits else None
    limits = ModelLimits(own.time_limit, memory)
    live = results.live
    is_done = bytearray(len(tasks))
    is_lost = False

    def take(index: int) -> None:
        file = judged(index, linting.done.pop(index))
        is_done[index] = 1
        with bar.hidden() if live is not None and live.is_on_terminal else contextlib.nullcontext():
            results.take(file)

    shown = is_wanted(quiet=own.quiet)
    interruptions = _termination_interrupts() if len(tasks) > 1 else contextlib.nullcontext()
    with alarms(), interruptions, ProgressBar(len(tasks), wanted=shown) as bar:
        # Two models that share a data file are not copied at the same time.
        jobs = 1 if own.fixed_folder is not None else own.jobs
        linting = Linting(tasks, jobs, lambda _: bar.advance(), limits, own.cluster)
        try:
            with contextlib.closing(linting.indices()) as indices:
                for index in indices:
                    take(index)
                    if is_for_reader and live is not None and not live.has_reader and not live.has_failed:
                        return is_done, False
        except ClusterError as error:
            if not any(is_done):
                raise RunError(str(error)) from error
            sys.stderr.write(f"Error: {error}\n")
            is_lost = True
        except KeyboardInterrupt:
            if len(tasks) == 1:
                raise
            if sys.stderr.isatty():
                sys.stderr.write("\n")  # the terminal shows ^C on the current line
            for index in sorted(linting.done):  # files that were done before their turn
                take(index)
    return is_done, is_lost


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
