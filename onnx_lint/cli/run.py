# SPDX-License-Identifier: Apache-2.0
"""Runs a request: lints its files and writes its reports."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from onnx_lint.cli import exit_codes
from onnx_lint.cli.choices import Plan
from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.jobs import lint_each
from onnx_lint.cli.option_values import limits_of, named_in
from onnx_lint.cli.outputs import LiveReport, Output, WholeReport, parse_outputs, reports_of
from onnx_lint.cli.paths import Exclusion, find_inputs, has_working_directory, is_searched, paths_of
from onnx_lint.cli.progress import ProgressBar, is_wanted
from onnx_lint.cli.streams import standard_output
from onnx_lint.cluster import ClusterError
from onnx_lint.common.memory import release_memory
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.record import field_names, replace
from onnx_lint.engine.reports import report_of, with_own_settings
from onnx_lint.input.locations import is_remote
from onnx_lint.report import FileReport, Repair, Report, Totals, WrittenReport
from onnx_lint.reporters import DRAWN, WITH_LINES, Options, reporter
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.spec.clauses import Severity
from onnx_lint.tasks.lint_one import Task

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_lint.cli.paths import Input
    from onnx_lint.cli.timings import Timings
    from onnx_lint.common.model_limits import ModelLimits
    from onnx_lint.configuration.settings import Request
    from onnx_lint.fixing.files import Mending
    from onnx_lint.remote.access import Access


def run(request: Request) -> int:
    """Lint the files of the request, write the reports, and return the exit code.

    Raises RequestError for a request that makes no sense, and RunError for a configuration or a baseline that cannot be
    used. If a report cannot be written, that is printed on standard error and the exit code is at least 2.
    """
    if not has_working_directory():
        raise RunError("the working directory does not exist any more")
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
            return _run(request, plan, own)
    return _run(request, plan, own)


def _show_difference(plan: Plan) -> int:
    """Print what fixes would change, and return the exit code: 1 if they would change anything."""
    tasks = _tasks((), plan)
    results = _Results(plan, None, [])
    _lint(tasks, plan, _head(tasks, plan), results, is_for_reader=False)
    with standard_output() as stream:
        stream.writelines(results.differences)
    if results.code > exit_codes.FINDINGS:
        results.print_failures()
    return max(results.code, exit_codes.FINDINGS if results.differences else exit_codes.CLEAN)


def _run(request: Request, plan: Plan, own: Request) -> int:
    if own.quiet and own.verbose:
        raise RequestError("--quiet and --verbose cannot be combined")
    outputs = parse_outputs(
        own.format_name, own.outputs, is_chosen=own.format_name != "text" or "format_name" in own.given
    )
    for output in outputs:
        reporter(output.format_name)  # import it now: without memory for its libraries this raises a clear error
    tasks = _tasks(outputs, plan)
    if request.timings or not own.cache:
        # Before a report begins, as a package may be missing; in --timings it is part of the start.
        import onnx_lint.engine.lint  # noqa: F401
    before = time.process_time()
    names = [task.name or task.path for task in tasks]
    head, crash = _head(tasks, plan), None
    if plan.has_configuration:
        try:
            head = _with_weakenings(head, plan, names)
        except RunError:
            raise
        except Exception as error:
            crash = error
    live, others = reports_of(
        head,
        outputs,
        _options_of(own),
        color=own.color,
        count=len(tasks),
        may_be_live=not plan.writes_baseline,  # writing a baseline may fail, and then there is no report
    )
    # If standard output is the only report, the run ends when its reader has closed it.
    is_for_reader = live is not None and not others and not request.timings
    results = _Results(plan, live, others)
    try:
        report = _lint(tasks, plan, head, results, is_for_reader=is_for_reader, crash=crash)
    except BaseException:
        for each in others:
            each.discard()
        raise
    if report.weakened and any(output.format_name == "gitlab" for output in outputs):
        from onnx_lint.cli.weakened import print_weakenings

        print_weakenings(report.weakened)
    start = time.perf_counter()
    code = results.code
    if live is not None:
        code = max(code, live.end(report))
    if others:
        release_memory()  # reports need memory, and the caches of the last model are not needed any more
    for each in others:
        code = max(code, each.end(report))
    if results.timings is not None:
        sys.stdout.flush()
        results.timings.print(before, time.perf_counter() - start)
    if own.quiet or all(output.format_name != "text" for output in outputs):
        results.print_not_made()
    if code > exit_codes.FINDINGS or report.totals.internal_errors:
        results.print_failures()
    return code


def _with_weakenings(head: Report, plan: Plan, names: Sequence[str]) -> Report:
    from onnx_lint.cli.weakened import weakenings

    return replace(head, weakened=weakenings(plan, names))


class _Results:
    """The results of a run: passes the report of each file on, and keeps only what is needed at the end.

    Reports that are written at the end get each file when the next one arrives, so that a crash after the last file is
    part of its report.
    """

    def __init__(self, plan: Plan, live: LiveReport | None, others: Sequence[WholeReport]) -> None:
        self._plan = plan
        self._internal_errors = plan.run_request().internal_errors
        self._others = others
        self._last: FileReport | None = None
        self._traces: dict[str, str] = {}
        self._failed: list[FileReport] = []
        """Files without a verdict, files that could not be fixed, and files with internal errors; without findings."""
        self._not_made: list[tuple[str, str]] = []
        """The fixes that were not made, each with its path."""
        self.live = live
        self.totals = Totals()
        self.code = exit_codes.CLEAN
        self.differences: list[str] = []
        self.timings: Timings | None = None
        if plan.request.timings:
            from onnx_lint.cli.timings import Timings  # late, as few runs are timed

            self.timings = Timings()

    def take(self, file: FileReport) -> None:
        """Take the report on the next file."""
        if self.live is not None:
            file = self.live.file(file)
        self.end_file()
        self._last = file

    def add_crash(self, error: Exception, work: str) -> None:
        """Add a crash that is about no file to the last one. Raises `error` if there is none."""
        if self._last is None:
            raise error
        self._last = self._last.with_crash(error, work)

    def end_file(self) -> None:
        """Count the last file, pass it to all reports, and drop it."""
        file, self._last = self._last, None
        if file is None:
            return
        for report in self._others:
            report.file(file)
        self.totals.add(file)
        self.code = max(self.code, exit_codes.of_file(file, self._fails, self._internal_errors))
        if self.timings is not None:
            self.timings.add(file)
        repair = file.repair
        if repair is not None:
            self._not_made += ((file.path, problem) for problem in repair.not_made)
            self.differences += [repair.difference] if repair.difference else []
        if file.unreadable is not None or file.internal_errors or (repair is not None and repair.problem is not None):
            errors = tuple(
                replace(error, traceback=self._traces.setdefault(error.traceback, error.traceback))
                for error in file.internal_errors
            )
            problem = Repair(problem=repair.problem) if repair is not None else None
            self._failed.append(
                FileReport(file.path, 0, unreadable=file.unreadable, internal_errors=errors, repair=problem)
            )

    def _fails(self, file: FileReport) -> bool:
        return self._plan.choices_for(file.path).fails(file.diagnostics)

    def print_not_made(self) -> None:
        """Print the fixes that were not made, which only the full text report has."""
        for path, problem in self._not_made:
            sys.stderr.write(f"Warning: {shown_path(path)}: not fixed: {visible(problem)}\n")

    def print_failures(self) -> None:
        """Print the files without a verdict, and the crashes."""
        from onnx_lint.cli.failures import print_failures

        print_failures(self._failed, self._internal_errors)


def _check_cluster(request: Request) -> None:
    """Raise RequestError for options that a cluster cannot carry out, and RunError without the packages for one."""
    for field in ("fix", "diff", "jobs"):
        if getattr(request, field):
            raise RequestError(f"--cluster cannot be combined with --{field}")
    if not (request.cluster or "").strip():
        raise RequestError("--cluster needs the address of a scheduler, such as tcp://host:8786")
    try:
        import onnx_lint.cluster.client  # noqa: F401  # late, as its packages come with an extra
    except ClusterError as error:
        raise RunError(str(error)) from error


def _tasks(outputs: Sequence[Output], plan: Plan) -> list[Task]:
    own = plan.run_request()
    context = own.context and any(output.format_name in WITH_LINES for output in outputs)
    inputs = inputs_of(plan)
    # Read all configurations before the first model, so that a fault in one is reported at once.
    pictures = any(output.format_name in DRAWN for output in outputs)
    cache = None
    if own.cache:
        cache = cache_folder_of(own, inputs)
    mendings = _mendings(own, inputs) if own.fix or own.diff else [None] * len(inputs)
    tasks = []
    for item, mending in zip(inputs, mendings, strict=True):
        name = own.stdin_filename if item.path == "-" else item.name
        settings = plan.choices_for(name or item.path).settings
        tasks.append(Task(item.path, settings, item.problem, name, context, pictures, item.listed, cache, mending))
    if any(output.path is not None for output in outputs):
        from onnx_lint.cli.kept_files import check_reports

        check_reports([output.path for output in outputs], [*(item.path for item in inputs), *plan.files_in_use()])
    return tasks


def inputs_of(plan: Plan) -> list[Input]:
    """Return the inputs of a run. Raises RunError and RequestError as `paths_of` does.

    Warns about globs of the command line that exclude nothing from what was searched. Those of a configuration may be
    for other folders.
    """
    own = plan.run_request()
    paths = tuple(paths_of(own))
    access = _access(own) if any(map(is_remote, paths)) else None
    exclude = Exclusion(own.exclude)
    found = find_inputs(paths, exclude, may_be_none=own.allow_no_input, access=access)
    if not found:
        sys.stderr.write(f"Nothing to lint: {'every file is excluded' if paths else 'no file is listed'}.\n")
    for glob in plan.request.exclude if any(map(is_searched, paths)) else ():
        if glob in exclude.unused:
            sys.stderr.write(f"Warning: --exclude {visible(glob)} excludes nothing\n")
    return found


def _access(own: Request) -> Access:
    """Return the limits for access to stores."""
    from onnx_lint.remote.access import access_of

    return access_of(limits_of(own.limits), download=own.download)


def _mendings(own: Request, inputs: Sequence[Input]) -> list[Mending]:
    """Return the way to mend each of the files. Raises RequestError where that makes no sense."""
    from onnx_lint.fixing.files import Mending

    if own.fixed_folder is not None and any(item.path == "-" for item in inputs):
        raise RequestError("standard input goes to standard output; --output is for files")
    remote = [item.path for item in inputs if is_remote(item.path)]
    if remote and not own.diff:
        raise RequestError(f"{remote[0]!r} is in a store, and only local files are fixed")
    if own.fixed_folder is None:
        return [Mending(own.unsafe_fixes, own.diff)] * len(inputs)
    folders = [path for path in own.paths if os.path.isdir(path)]
    targets = [os.path.join(own.fixed_folder, _below(item.path, folders)) for item in inputs]
    for target, count in Counter(targets).items():
        if count > 1:
            raise RequestError(f"two files would be written to {target!r}")
    inside = os.path.join(os.path.realpath(own.fixed_folder), "")
    for target in targets:
        if not os.path.realpath(target).startswith(inside):
            raise RequestError(f"{target!r} is outside of {own.fixed_folder!r}, because of a link")
    return [Mending(own.unsafe_fixes, own.diff, target) for target in targets]


def _below(path: str, folders: Iterable[str]) -> str:
    """Return the path below the folder in which it was found; the name of a file that was named itself."""
    for folder in folders:
        below = os.path.relpath(path, folder) if path.startswith(os.path.join(folder, "")) else os.pardir
        if not below.startswith(os.pardir):  # FOLDER/../other.onnx is a file that was named itself
            return below
    return os.path.basename(path)


def cache_folder_of(own: Request, inputs: Sequence[Input]) -> str | None:
    """Return the folder of the cache; None, with a line on standard error, if it must not or cannot be used."""
    try:
        from onnx_lint.cli.cached_reports import folder_of_run
    except ImportError as error:  # Python can be built without SQLite
        sys.stderr.write(f"The cache is not used: {error}\n")
        return None
    return folder_of_run(own.paths, inputs)


def _head(tasks: Sequence[Task], plan: Plan) -> Report:
    """Return the report before the first file."""
    return report_of((), tasks[0].settings if tasks else plan.choices_for("-").settings)


def _lint(
    tasks: Sequence[Task],
    plan: Plan,
    head: Report,
    results: _Results,
    *,
    is_for_reader: bool,
    crash: Exception | None = None,
) -> Report:
    """Lint the tasks, pass each file to `results`, and return the report, which an interruption cuts short.

    `crash`: a crash in listing the settings that weaken the verdict.
    """
    names = [task.name or task.path for task in tasks]
    level = Severity.of(plan.run_request().min_severity)
    used: set[str] = set()
    baselines = None
    if plan.has_baseline:
        from onnx_lint.cli.baselines import Baselines

        baselines = Baselines(plan, names, head.rules)

    def judged(index: int, file: FileReport) -> FileReport:
        try:
            file = with_own_settings(file, tasks[index].settings, tasks[0].settings)
            if file.suppressed:
                from onnx_lint.engine.suppressions import used_in

                used.update(used_in(file))
            if baselines is not None:
                file = baselines.apply(file)
            return file.at_least(level)
        except RunError:
            raise
        except Exception as error:
            return file.with_crash(error, "comparing the findings with the settings and the baseline")

    is_done, is_lost = _linted(tasks, plan, judged, results, is_for_reader=is_for_reader)
    not_linted = tuple(compress(names, (not each for each in is_done)))
    stale = 0
    if plan.has_suppressions and not not_linted:
        with _last_step(results, "reporting unused suppressions"):
            from onnx_lint.cli.suppressions import print_complaints

            print_complaints(plan, names, used, head.rules)
    if baselines is not None and not not_linted:
        with _last_step(results, "finishing the baseline"):
            stale = baselines.finish()
    if crash is not None:
        results.add_crash(crash, "listing the settings that weaken the verdict")
    results.end_file()
    results.code = exit_codes.of_run(results.code, is_interrupted=bool(not_linted), is_lost=is_lost)
    known = {name: getattr(head, name) for name in field_names(Report)}
    known |= {"stale": stale, "not_linted": not_linted, "is_lost": is_lost}
    return WrittenReport(**known, kept=results.totals)


@contextlib.contextmanager
def _last_step(results: _Results, work: str) -> Iterator[None]:
    """Keep a crash in a step after the last file with that file."""
    try:
        yield
    except RunError:
        raise
    except Exception as error:
        results.add_crash(error, work)


def _linted(
    tasks: Sequence[Task],
    plan: Plan,
    judged: Callable[[int, FileReport], FileReport],
    results: _Results,
    *,
    is_for_reader: bool,
) -> tuple[bytearray, bool]:
    """Pass the reports to `results` in the order of the tasks. Return 1 for each task that is done, 0 for others;
    and whether the cluster was lost before the last file.
    """
    own = plan.run_request()
    limits = _limits_of(own)
    live = results.live
    done: dict[int, FileReport] = {}
    is_done = bytearray(len(tasks))
    is_lost = False

    def take(index: int) -> None:
        file = judged(index, done.pop(index))
        is_done[index] = 1
        with bar.hidden() if live is not None and live.is_on_terminal else contextlib.nullcontext():
            results.take(file)

    shown = is_wanted(no_progress=own.no_progress, quiet=own.quiet)
    with _interruptions(len(tasks)), ProgressBar(len(tasks), wanted=shown, color=own.color) as bar:
        try:
            with contextlib.closing(lint_each(tasks, own.jobs, done, bar.advance, limits, own.cluster)) as indices:
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
            for index in sorted(done):  # files that were done before their turn
                take(index)
    if bar.crash is not None and any(is_done):
        results.add_crash(bar.crash, "drawing the progress bar")
    return is_done, is_lost


def _limits_of(own: Request) -> ModelLimits:
    """Return the limits that a process for models is held to. Its memory has a limit only if the user set one."""
    memory = limits_of(own.limits).memory if "memory" in named_in(own.limits) else None
    return ModelLimits(own.time_limit, memory)


def _interruptions(count: int) -> contextlib.AbstractContextManager[None]:
    """Return a context in which SIGTERM ends a run of several files with a report; for one file it does nothing."""
    if count <= 1:
        return contextlib.nullcontext()
    from onnx_lint.cli.interruption import termination_interrupts

    return termination_interrupts()


def _options_of(request: Request) -> Options:
    """Return the options of the request for all reporters."""
    own: dict[str, Any] = {
        "color": False,  # standard output has it by what it is, see `for_standard_output`
        "root": _directory(request.sarif_root),
        # With --fail-on never, JUnit still shows as failed tests the findings that would fail the run.
        "failing": "error" if request.fail_on == "never" else request.fail_on,
        "has_command": "PRE_COMMIT" not in os.environ,
    }
    return Options(**request.carried(Options) | own)


def _directory(path: str | None) -> Path | None:
    if path is None:
        return None
    from pathlib import Path  # which a report to the terminal does without

    return Path(path)
