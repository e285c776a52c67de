# SPDX-License-Identifier: Apache-2.0
"""Collects what a run needs of each file at its end, and passes the reports on the files to the writers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.cli import exit_codes
from onnx_lint.common.memory import release_memory
from onnx_lint.common.record import replace
from onnx_lint.configuration.errors import RunError
from onnx_lint.report.file_report import FileReport, InternalError, Repair
from onnx_lint.report.totals import Report, Totals
from onnx_lint.reporters.escape import shown_path, visible

if TYPE_CHECKING:
    from onnx_lint.cli.outputs import LiveReport, WholeReport
    from onnx_lint.cli.plan import Plan


_NO_REPAIR: Final = Repair()


class Results:
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
        if file.suppressed and self._plan.request_of_run().diff:
            self.with_suppressed.append(FileReport(file.path, 0, file.diagnostics, suppressed=file.suppressed))
        repair = file.repair or _NO_REPAIR
        self._not_made += ((file.path, each) for each in repair.not_made)
        if repair.difference:
            self.differences.append(repair.difference)
        if file.unreadable is not None or file.internal_errors or repair.problem is not None:
            self._failed.append(self._failure_of(file))

    def _failure_of(self, file: FileReport) -> FileReport:
        """Return what the end of the run needs of a file that failed. Equal tracebacks are one text."""
        errors = tuple(
            replace(error, traceback=self._traces.setdefault(error.traceback, error.traceback))
            for error in file.internal_errors
        )
        repair = Repair(problem=file.repair.problem) if file.repair is not None else None
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
    def has_reader(self) -> bool:
        """False if the reader of standard output closed it, and no error explains that."""
        return self.live is None or self.live.has_reader or self.live.has_failed

    @property
    def is_on_terminal(self) -> bool:
        """True if a report appears on a terminal during the run."""
        return self.live is not None and self.live.is_on_terminal

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

    @contextlib.contextmanager
    def last_step(self, work: str) -> Iterator[None]:
        """Print a crash in a step after the last file. The reports are complete without that step."""
        try:
            yield
        except RunError:
            raise
        except Exception as error:
            self.print_crash(error, work)
