# SPDX-License-Identifier: Apache-2.0
"""Runs a scan of many models, and prints the totals of scans."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint.cli import exit_codes
from onnx_lint.cli.choices import Plan
from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.failures import HOW_TO_GO_ON, print_internal_errors
from onnx_lint.cli.interruption import termination_interrupts
from onnx_lint.cli.jobs import processors
from onnx_lint.cli.kept_files import check_data, check_reports
from onnx_lint.cli.paths import Input
from onnx_lint.cli.request import Request
from onnx_lint.cli.run import cache_folder_of, inputs_of, plan_of
from onnx_lint.cli.scan_progress import ScanProgress
from onnx_lint.cli.streams import report_file, standard_output
from onnx_lint.cli.weakened import print_weakenings, weakenings
from onnx_lint.common.distribution import install_command
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.record import replace
from onnx_lint.engine.selection import selected_rules
from onnx_lint.fleet.columns import LEVELS
from onnx_lint.fleet.database import Reports, open_to_read, open_to_scan
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.export import export
from onnx_lint.fleet.jobs import BYTES_FOR_A_MODEL, SECONDS_FOR_A_MODEL
from onnx_lint.fleet.page import RELOAD_SECONDS, write_page
from onnx_lint.fleet.scan import Cluster, ScannedFile, Standing, head_of, scan, with_unique_names
from onnx_lint.fleet.summary import write_json, write_text
from onnx_lint.fleet.totals import Totals, difference
from onnx_lint.fleet.trend import Point, check_parts, points_of, totals_of
from onnx_lint.input.locations import is_remote, shown_address
from onnx_lint.report import InternalError
from onnx_lint.reporters.escape import visible
from onnx_lint.reporters.wording import counted
from onnx_lint.spec.clauses import Severity

_NEEDED: Final = frozenset({"dask", "distributed", "locket", "psutil"})
"""The packages that the extra `fleet` installs and a scan imports."""

_MOST_TRACEBACKS: Final = 10


def run_scan(request: Request, own: Mapping[str, Any]) -> int:
    """Lint the targets, store the results in the folder, print the totals, and return the exit code.

    `own`: the options that only the command `scan` has. Raises RequestError and RunError as `cli.run.run` does.
    """
    plan = plan_of(request)
    if plan is None:
        return exit_codes.CLEAN
    _check_folders(own)
    run = plan.run_request()
    part = _part_of(own["part"])
    usual, level = plan.choices_for("-").settings, Severity.of(run.min_severity)
    inputs = _inputs(plan)
    targets = _targets(plan, inputs, part)
    check_reports([own["output"]], [*(target.path for target in targets), *plan.files_in_use()])
    if plan.has_configuration:
        print_weakenings(weakenings(plan, (target.name for target in targets)))
    limits = ModelLimits(own["time_limit"] or SECONDS_FOR_A_MODEL, own["memory_limit"] or BYTES_FOR_A_MODEL)
    cluster = Cluster(own["scheduler"], own["workers"] or min(processors(), max(len(targets), 1)))
    cache = _cache_of(run, inputs, own["scheduler"])
    head = head_of(_named(request), run.exclude, own["part"], usual, level)
    earlier = _earlier_points(own["against"], own["part"])  # fail before linting
    is_shown = not (own["quiet"] or own["no_progress"])
    try:
        with open_to_scan(own["folder"], {**head, "models": len(targets)}, anew=own["anew"]) as reports:
            try:
                with termination_interrupts(), ScanProgress(len(targets), wanted=is_shown) as progress:
                    live = LivePage(reports, earlier, own)

                    def show(standing: Standing) -> None:
                        progress.show(standing)
                        live.write_if_due()

                    scan(reports, targets, usual, level, limits, cluster, show, cache)
            except KeyboardInterrupt:
                done = min(reports.count(), len(targets))
                sys.stderr.write(
                    f"\nInterrupted: {done:,} of {len(targets):,} models have results in {visible(own['folder'])}; the"
                    " same command continues with the others.\n"
                )
                return exit_codes.INTERRUPTED
            if plan.has_suppressions:
                _complain(plan, targets, reports, is_whole=part is None)
            return _print_totals([reports], _judged_as(request, run), own)
    except FleetError as error:
        raise RunError(str(error)) from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise RunError(f"scan needs {error.name}, which comes with: {install_command('fleet')}") from error


def _cache_of(run: Request, inputs: Sequence[Input], scheduler: str | None) -> str:
    """Return the folder of the cache; empty, with a line on standard error, if it must not or cannot be used."""
    if run.cache and scheduler is not None:
        sys.stderr.write("The cache is not used: it works only for processes on this machine, not with --scheduler\n")
        return ""
    return (cache_folder_of(run, inputs) or "") if run.cache else ""


def _complain(plan: Plan, targets: Iterable[ScannedFile], reports: Reports, *, is_whole: bool) -> None:
    from onnx_lint.cli.suppressions import print_complaints  # late, as few scans have suppressions

    used = {text for _, texts in reports.suppressions("used_suppressions") for text in texts}
    names = [target.name for target in targets]
    rules = selected_rules(plan.choices_for("-").settings)
    print_complaints(plan, names, used, rules, reports.suppressions("suppression_problems"), is_whole=is_whole)


def _check_folders(own: Mapping[str, Any]) -> None:
    """Raise RequestError for folders that reports cannot be written to or compared with."""
    if is_remote(own["folder"]):
        raise RequestError("--to must be a folder on this machine; its files can be copied to a store afterwards")
    if os.path.realpath(own["folder"]) in map(os.path.realpath, own["against"]):
        raise RequestError("--against and --to name the same folder; compare with a copy of it")


def run_summary(request: Request, own: Mapping[str, Any]) -> int:
    """Print the totals of earlier scans, and return the exit code. Raises the same errors as `run_scan`."""
    run = Plan(request).run_request()
    check_reports([own["output"]], ())
    try:
        with contextlib.ExitStack() as stack:
            scans = [stack.enter_context(open_to_read(folder)) for folder in own["summaries"]]
            return _print_totals(scans, _judged_as(request, run), own)
    except FleetError as error:
        raise RunError(str(error)) from error


def _judged_as(request: Request, run: Request) -> Request:
    """Return the request with the settings of the run's configuration that decide the exit code."""
    return replace(request, fail_on=run.fail_on, internal_errors=run.internal_errors)


def _earlier_points(folders: Iterable[str], part: str | None) -> list[Point]:
    """Return earlier scans for a trend. Raises RunError for a folder whose reports cannot be read or compared."""
    try:
        with contextlib.ExitStack() as stack:
            earlier = [stack.enter_context(open_to_read(folder)) for folder in folders]
            check_parts(earlier, [part])
            return points_of(earlier)
    except FleetError as error:
        raise RunError(str(error)) from error


class LivePage:
    """The page of a scan that runs, if a page was asked for as a file. It says what has landed."""

    def __init__(self, reports: Reports, earlier: list[Point], own: Mapping[str, Any]) -> None:
        self._reports = reports
        self._earlier = earlier
        self._path = own["output"] if own["format_name"] == "html" else None
        self._due = 0.0

    def write_if_due(self) -> None:
        """Write the page if it is due: every ten seconds, or less often if writing it takes long."""
        if self._path is None or time.monotonic() < self._due:
            return
        start = time.monotonic()
        totals = totals_of([self._reports])
        trend = [*self._earlier, Point(self._reports.folder, totals, None)]
        with report_file(self._path) as stream:
            write_page(totals, None, stream, trend, is_live=True)
        end = time.monotonic()
        self._due = end + max(RELOAD_SECONDS, 10 * (end - start))


# --- the targets


def _inputs(plan: Plan) -> list[Input]:
    inputs = inputs_of(plan)
    if any(item.path == "-" for item in inputs):
        raise RequestError("scan does not read standard input; onnx-lint check does")
    if not inputs:
        sys.stderr.write("Nothing to lint: every file is excluded.\n")
    return inputs


def _targets(plan: Plan, inputs: Iterable[Input], part: tuple[int, int] | None) -> list[ScannedFile]:
    chosen = (item for item in inputs if part is None or _is_in(item.name or item.path, part))
    return with_unique_names(_target(item, plan) for item in chosen)


def _target(item: Input, plan: Plan) -> ScannedFile:
    name = item.name or item.path
    settings = plan.choices_for(name).settings
    if is_remote(item.path):
        return ScannedFile(item.path, name, settings, item.size, item.version or "", item.problem, item.is_numbered)
    try:
        found = os.stat(item.path)
    except (OSError, ValueError):
        return ScannedFile(item.path, name, settings, None, "", item.problem)
    return ScannedFile(item.path, name, settings, found.st_size, f"mtime {found.st_mtime_ns}", item.problem)


def _named(request: Request) -> Iterator[str]:
    """Yield the names of the targets, without credentials. The content of a list or a folder may change.

    A shell that completes the name of a folder adds a slash, which makes no other target.
    """
    slashes = "/" + os.sep
    yield from (shown_address(each) if is_remote(each) else each.rstrip(slashes) or each for each in request.paths)
    if request.files_from is not None:
        yield f"--files-from {request.files_from}"


def _part_of(text: str | None) -> tuple[int, int] | None:
    """Return the numbers of `I/N`. Raises RequestError for anything else."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise RequestError(f"--part expects I/N, such as 2/8, not {text!r}")
    return int(found[1]), int(found[2])


def _is_in(path: str, part: tuple[int, int]) -> bool:
    """Return whether a path belongs to a part. A digest decides, so that a new model does not move the others."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % part[1] == part[0] - 1


# --- the totals


def _print_totals(scans: list[Reports], request: Request, own: Mapping[str, Any]) -> int:
    """Write the totals, and return the exit code. With --against only new findings decide it.

    Raises FleetError if a scan cannot be read.
    """
    totals = totals_of(scans)
    new, trend = None, []
    if own["against"]:
        with contextlib.ExitStack() as stack:
            earlier = [stack.enter_context(open_to_read(folder)) for folder in own["against"]]
            check_parts(earlier, [reports.head.get("part") for reports in scans])
            new = difference(scans, earlier[-1])
            name = ", ".join(reports.folder for reports in scans)
            trend = [*points_of(earlier), Point(name, totals, new)]
    if own["export"] is not None:
        _export(scans, own["export"])
    if own["output"] is not None:
        data = ((path, names) for reports in scans for path, names in reports.data_files())
        check_data(own["output"], data, "scan --summary prints the totals")
        with report_file(own["output"]) as stream:
            _writer(own["format_name"])(totals, new, stream, trend)
    elif not own["quiet"]:
        with standard_output() as stream:
            _writer(own["format_name"])(totals, new, stream, trend)
    _print_crashes(scans, request.internal_errors)
    found = new.findings if new is not None else totals.all.findings
    fail_on = "never" if request.exit_zero else request.fail_on
    return _exit_code(totals, found, fail_on, request.internal_errors)


def _print_crashes(scans: Iterable[Reports], level: str) -> None:
    """Print one model for each of the first tracebacks of internal errors, and then how to go on."""
    first: dict[str, tuple[str, InternalError]] = {}
    more = 0
    for path, error in (crash for reports in scans for crash in reports.crashes()):
        if error.traceback not in first and len(first) < _MOST_TRACEBACKS:
            first[error.traceback] = path, error
        else:
            more += 1
    advice = f"The same or other internal errors occurred {counted(more, 'more time')}.\n" if more else ""
    advice += HOW_TO_GO_ON if level == "error" else ""
    print_internal_errors(first.values(), "Error" if level == "error" else "Warning", advice)


def _export(scans: list[Reports], folder: str) -> None:
    try:
        export(scans, folder)
    except OSError as error:
        raise RunError(f"{visible(folder)}: {error.strerror or error}") from error


def _writer(name: str) -> Any:
    return {"text": write_text, "json": write_json, "html": write_page}[name]


def _exit_code(totals: Totals, found: Mapping[str, int], fail_on: str, internal_errors: str) -> int:
    if totals.crashed and internal_errors == "error":
        return exit_codes.INTERNAL_ERROR
    if totals.unreadable or totals.not_judged or totals.not_linted:
        return exit_codes.NOT_CHECKED
    failing: Iterable[str] = LEVELS[: LEVELS.index(fail_on) + 1] if fail_on in LEVELS else ()
    return exit_codes.FINDINGS if any(found[level] for level in failing) else exit_codes.CLEAN
