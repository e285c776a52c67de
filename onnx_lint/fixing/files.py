# SPDX-License-Identifier: Apache-2.0
"""Fixes one file, and reports the remaining findings."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from onnx_lint.common.deadline import lift_deadline
from onnx_lint.common.reasons import reason_of
from onnx_lint.common.record import Record, replace
from onnx_lint.common.whole_file import NotWrittenError, OpenFile, Replaceable, Replaced, whole_file
from onnx_lint.engine.lint import LintOptions, lint_source, load_source, opened
from onnx_lint.engine.proposed_fixes import without_edits
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rounds import FixOutcome, fix_in_rounds, problem_of_written, with_last_round
from onnx_lint.input.copying import copy_all
from onnx_lint.input.locations import has_folder, is_remote
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import FileSource, Source, SourceError, open_file
from onnx_lint.ir.places.edits import Assign, Edit, Fix
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.loader.limits.not_checked import NotCheckedError, within_time
from onnx_lint.model import Model
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport, Repair
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold


class FixOptions(Record):
    """The settings for fixing files."""

    unsafe: bool = False
    """True to make unsafe fixes too."""
    shows_difference: bool = False
    """True to show what would change, and to change nothing."""
    output_path: str | None = None
    """The path of the fixed file, which must not exist; None to replace the file."""


class FileToFix(Record):
    """A file to fix, or a model in memory, with the settings for it."""

    destination: str | Callable[[PatchedSource], None]
    """The path of the file to replace, `-` for standard output, or a function to call with the fixed model."""
    name: str
    """The name in the report."""
    settings: Settings
    fix_options: FixOptions
    context: Context = Context.NONE
    """The lines or pictures to collect around findings, as in `onnx_lint.engine.lint.lint_file`."""

    def lint(self, source: Source, beside: DataFolder | None = None) -> FileReport:
        """Return the report on a source as if it were the file, with the edits of the fixes that may be made."""
        return lint_source(
            source,
            self.name,
            self.settings,
            LintOptions(
                is_file=has_folder(self.name),
                context=self.context,
                beside=beside,
                keeps_edits=lambda fix: self.fix_options.unsafe or fix.is_safe,
            ),
        )

    def relinted_if_suppressed(
        self, source: Source, report: FileReport, beside: DataFolder | None = None
    ) -> FileReport:
        """Return the report on a source without the fixes that would also change suppressed findings.

        `lint` keeps the edits of such fixes. If `report` may offer one, this method lints the source again without
        edits, so that the report does not offer it. If that crashes or cannot read the source, `report` is returned.
        `beside`: the folder of the data files, if it is another one.
        """
        if not report.suppressed or not any(each.advice.fix for each in unfold(report.diagnostics)):
            return report
        options = LintOptions(is_file=has_folder(self.name), context=self.context, beside=beside)
        found = lint_source(source, self.name, self.settings, options)
        return report if found.internal_errors or found.unreadable is not None else found

    def failure(self, reason: str) -> str:
        """Return the sentence that the fixes were not computed, with the reason, such as a failure of the disk."""
        return f"{self.name} was not fixed: {reason}"

    def load(self, source: Source) -> Model:
        """Load a source as if it were the file."""
        return load_source(source, path=self.name, settings=self.settings, is_file=has_folder(self.name))


def fix_file(
    path: str,
    settings: Settings,
    fix_options: FixOptions,
    name: str | None = None,
    *,
    context: Context = Context.NONE,
) -> FileReport:
    """Fix the file at `path`, or standard input, which is copied to standard output; return the report on the result.

    `name` and `context` are as in `onnx_lint.engine.lint.lint_file`.
    """
    name = path if name is None else name
    try:
        source = opened(path, settings)
    except (SourceError, OSError) as error:
        return FileReport(path=name, size=0, unreadable=str(error))
    return fix_source(source, FileToFix(path, name, settings, fix_options, context))


def fix_source(source: Source, file: FileToFix) -> FileReport:
    """Fix the file that `source` has open, return the report on the result, and close the source."""
    try:
        with within_time(file.settings.limits):
            return _fix(source, file)
    except NotCheckedError as error:
        return FileReport(path=file.name, size=0, unreadable=f"{file.name}: {error}")
    finally:
        source.close()


def _fix(source: Source, file: FileToFix) -> FileReport:
    """Fix the file, and return the report on the result; on the file as it is if it could not be written."""
    destination = _destination_of(file, source)
    unchanged = FixOutcome(unpatched(source), file.lint(unpatched(source)))
    failure = file.failure
    try:
        outcome = fix_in_rounds(source, unchanged.report, file.lint, file.load, unsafe=file.fix_options.unsafe)
        if file.fix_options.shows_difference:
            return _final_report(file, replace(unchanged, repair=_preview(destination, outcome)))
        # Files are written from here on, and a written file must not be reported as not checked for lack of time.
        lift_deadline()
        failure = destination.failure
        outcome = destination.write(outcome)
    except (NotWrittenError, OSError) as error:
        repair = Repair(problem=failure(reason_of(error)))
        return _final_report(file, replace(unchanged, repair=repair))
    except Exception as error:
        return _final_report(file, unchanged).with_crash(error, "fixing the file")
    return _final_report(file, outcome, destination.data_folder)


def _final_report(file: FileToFix, outcome: FixOutcome, beside: DataFolder | None = None) -> FileReport:
    """Return the report on the result, with what was fixed and without edits."""
    report = file.relinted_if_suppressed(outcome.source, outcome.report, beside)
    return replace(report, diagnostics=without_edits(report.diagnostics), repair=outcome.repair)


def _preview(destination: _Destination, outcome: FixOutcome) -> Repair:
    """Return the fixes with the difference that they would make. Nothing is written."""
    findings = destination.findings_needing_files(outcome)
    if findings:
        outcome = destination.with_fixes_in_new_files(outcome, findings)
    file = destination.file
    return replace(outcome.repair, difference=difference_of(outcome, file.name, file.settings))


# --- where the fixed model goes


def _destination_of(file: FileToFix, source: Source) -> _Destination:
    """Return where the fixed model goes. `source`: the open file, which is recognized when it is replaced."""
    if file.fix_options.output_path is not None:
        return _NewFile(file, path=file.fix_options.output_path)
    if not isinstance(file.destination, str):
        return _Receiver(file, receive=file.destination)
    if file.destination == "-":
        return _StandardOutput(file)
    if isinstance(source, FileSource):
        original: Replaced = OpenFile(source.descriptor, os.fstat(source.descriptor))
    else:
        original = Replaceable.NO_FILE  # a remote model, which is never replaced
    return _InPlace(file, path=file.destination, original=original)


class _Destination(Record):
    """Where the fixed model goes."""

    file: FileToFix

    @property
    def is_copy(self) -> bool:
        """True for a new file in another folder. The other data files are copied to that folder as well."""
        return False

    @property
    def data_folder(self) -> DataFolder | None:
        """The folder of the data files of a copy; None if they are beside the original, or if none are read."""
        return None

    @property
    def takes_data_files(self) -> bool:
        """True if new data files can be written beside the fixed model."""
        return True

    def findings_needing_files(self, outcome: FixOutcome) -> list[Diagnostic]:
        """Return the remaining findings whose fixes write new data files. Only a binary model can have such files."""
        if outcome.report.form != "binary" or not self.takes_data_files:
            return []
        return [
            each
            for each in unfold(outcome.report.diagnostics)
            if each.advice.edits is not None and each.advice.edits.copies
        ]

    def write(self, outcome: FixOutcome) -> FixOutcome:
        """Write the result, and return it with all fixes. Raises NotWrittenError and OSError."""
        raise NotImplementedError

    def failure(self, reason: str) -> str:
        """Return the sentence that the result was not written, with the reason."""
        return f"{self.file.name} was not changed: {reason}"

    def lint(self, source: Source) -> FileReport:
        """Return the report on a source as if it were the written file."""
        return self.file.lint(source, self.data_folder)

    def with_fixes_in_new_files(self, outcome: FixOutcome, findings: list[Diagnostic]) -> FixOutcome:
        """Return the result with one more round: the fixes of findings that need new data files."""
        fixes = [self.fix_with_copies(each.advice.edits) for each in findings if each.advice.edits is not None]
        return with_last_round(outcome, fixes, [each.rule for each in findings])

    def fix_with_copies(self, fix: Fix) -> Fix:
        """Return how a fix that needs new data files is made here."""
        return fix

    def write_with_new_files(
        self, path: str, replaces: Replaced, outcome: FixOutcome, findings: list[Diagnostic]
    ) -> FixOutcome:
        """Write the result with the fixes of findings that need new data files.

        Return it with the report on the written file.
        """
        from onnx_lint.fixing.data_files import CopiesOfData, copies_of_data, new_data_files

        fixed = self.with_fixes_in_new_files(outcome, findings)
        model = self.file.load(outcome.source)
        new_data = CopiesOfData(fixed.rounds[-1].copies, ())
        if self.is_copy:
            new_data = copies_of_data(model, new_data.copies)
        folder = model.data_folder
        model.release()
        problem_of = partial(problem_of_written, outcome, has_new_data=True, is_copy=self.is_copy)
        with new_data_files(new_data.copies, folder, os.path.dirname(path)) as new_files:
            report = _write_checked(path, fixed.source, self.lint, problem_of, replaces=replaces)
        written = ((path, fixed.source.size), *new_files) if self.is_copy else tuple(new_files)
        repair = replace(fixed.repair, not_made=(*fixed.repair.not_made, *new_data.not_copied), written=written)
        return replace(fixed, report=report, repair=repair)


class _NewFile(_Destination):
    """A new file in another folder."""

    path: str

    @property
    def is_copy(self) -> bool:
        return True

    @property
    def data_folder(self) -> DataFolder | None:
        settings = self.file.settings
        if not settings.external_data:
            return None
        return DataFolder(os.path.dirname(self.path), most=settings.limits.external_bytes)

    def write(self, outcome: FixOutcome) -> FixOutcome:
        if os.path.lexists(self.path):
            raise NotWrittenError("it already exists")
        findings = self.findings_needing_files(outcome)
        return self.write_with_new_files(self.path, Replaceable.NO_FILE, outcome, findings)

    def fix_with_copies(self, fix: Fix) -> Fix:
        # A data file in another folder can keep its name.
        names = {each.target for each in fix.copies}
        return replace(
            fix,
            edits=tuple(edit for edit in fix.edits if not _writes_location(edit, names)),
            copies=tuple(replace(each, target=each.location) for each in fix.copies),
        )

    def failure(self, reason: str) -> str:
        return f"{self.path} was not written: {reason}"


class _StandardOutput(_Destination):
    """Standard output, for a model from standard input."""

    @property
    def takes_data_files(self) -> bool:
        return False

    def write(self, outcome: FixOutcome) -> FixOutcome:
        if sys.__stdout__ is None:
            raise NotWrittenError("it is closed")
        sys.__stdout__.flush()
        copy_all(outcome.source, sys.__stdout__.fileno())
        return outcome

    def failure(self, reason: str) -> str:
        return f"the fixed model was not written in full to standard output: {reason}"


class _Receiver(_Destination):
    """A function that takes the fixed model."""

    receive: Callable[[PatchedSource], None]

    @property
    def takes_data_files(self) -> bool:
        return False

    def write(self, outcome: FixOutcome) -> FixOutcome:
        self.receive(outcome.source)
        return outcome


_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class _InPlace(_Destination):
    """The original file, which the fixed one replaces."""

    path: str
    original: Replaced

    @property
    def takes_data_files(self) -> bool:
        return not os.path.islink(self.path)

    def write(self, outcome: FixOutcome) -> FixOutcome:
        findings = self.findings_needing_files(outcome)
        if not outcome.rounds and not findings:
            return outcome
        path = self._path_to_replace()
        if findings:
            return self.write_with_new_files(path, self.original, outcome, findings)
        problem_of = partial(problem_of_written, outcome)
        _write_checked(path, outcome.source, self.lint, problem_of, replaces=self.original)
        return outcome

    def _path_to_replace(self) -> str:
        """Return the path of the file, without links. Raises NotWrittenError if it must not be replaced."""
        path = self.path
        if is_remote(path):
            raise NotWrittenError("it is in a store, and only local files are replaced")
        if os.path.islink(path):
            if not self.file.settings.follow_links:
                raise NotWrittenError("it is a symbolic link; --follow-links changes the file that the link leads to")
            path = os.path.realpath(path)
        # Root may write any file, also one without permission to write.
        if not os.access(path, os.W_OK) or not os.stat(path).st_mode & _WRITABLE:
            raise NotWrittenError("it is read-only")
        return path


# --- writing


def _writes_location(edit: Edit, names: Collection[str]) -> bool:
    """Return whether an edit writes one of these names as the location of external data."""
    entry = edit.place.parent
    is_of_data = entry is not None and entry.field == "external_data"
    return isinstance(edit, Assign) and is_of_data and edit.value in names


def _write_checked(
    path: str,
    source: PatchedSource,
    lint: Callable[[Source], FileReport],
    problem_of: Callable[[FileReport], str | None],
    *,
    replaces: Replaced,
) -> FileReport:
    """Write the source to the file at `path`, and return the report on it.

    Raises NotWrittenError if the report shows a problem: then no file is written.
    """
    with whole_file(path, replaces) as (descriptor, new):
        copy_all(source, descriptor)
        report = lint(open_file(new))
        problem = problem_of(report)
        if problem is not None:
            raise NotWrittenError(problem)
    return report
