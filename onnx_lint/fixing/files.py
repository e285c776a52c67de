# SPDX-License-Identifier: Apache-2.0
"""Fixes one file, and reports the remaining findings."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from onnx_lint.common.deadline import lift_deadline
from onnx_lint.common.record import Record, replace
from onnx_lint.common.whole_file import NotWrittenError, OpenFile, Replaced, whole_file
from onnx_lint.engine.lint import lint_source, load_source, opened
from onnx_lint.engine.proposed_fixes import without_edits
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rounds import FixOutcome, Lint, Load, Round, check, fix_in_rounds
from onnx_lint.input.copying import copy_all
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import FileSource, Source, SourceError, open_file
from onnx_lint.ir.places.edits import Assign, DataCopy, Edit
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.loader.limits.not_checked import NotCheckedError, within_time
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport, Repair
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold


class FixOptions(Record):
    """The settings for fixing files."""

    unsafe: bool = False
    """True to make unsafe fixes too."""
    shows_difference: bool = False
    """True to show what would change, and to change nothing."""
    target: str | None = None
    """The path of the fixed file, which must not exist; None to replace the file."""


class FileToFix(Record):
    """A file to fix, or a model in memory, with the settings for it."""

    path: str
    """The file, or `-` for standard input, which is copied to standard output."""
    name: str
    """The name in the report."""
    settings: Settings
    fix_options: FixOptions
    context: int = 0
    """As in `onnx_lint.engine.lint.lint_file`."""
    receive: Callable[[PatchedSource], None] | None = None
    """Called with the fixed model in place of writing it; None to write a file."""

    def lint(self, source: Source, beside: DataFolder | None = None) -> FileReport:
        """Return the report on a source as if it were the file, with the edits of the fixes that may be made."""
        return lint_source(
            source,
            self.name,
            self.settings,
            is_file=self.receive is None,
            context=self.context,
            beside=beside,
            keeps_edits=lambda fix: self.fix_options.unsafe or fix.is_safe,
        )

    def load(self, source: Source) -> Model:
        """Load a source as if it were the file."""
        return load_source(source, path=self.name, settings=self.settings, is_file=self.receive is None)


def fix_file(
    path: str,
    settings: Settings,
    fix_options: FixOptions,
    name: str | None = None,
    *,
    context: int = 0,
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
    """Fix a file, which is open as `source`, as `fix_file` does; close the source."""
    if file.path == "-":
        file = replace(file, receive=_write_to_standard_output)
    try:
        with within_time(file.settings.limits):
            return _fix(source, file)
    except NotCheckedError as error:
        return FileReport(path=file.name, size=0, unreadable=f"{file.name}: {error}")
    finally:
        source.close()


def _fix(source: Source, file: FileToFix) -> FileReport:
    replaces: Replaced = "no file"
    if isinstance(source, FileSource) and file.receive is None:
        replaces = OpenFile(source.descriptor, os.fstat(source.descriptor))
    report = file.lint(unpatched(source))
    try:
        outcome = fix_in_rounds(source, report, file.lint, file.load, unsafe=file.fix_options.unsafe)
        if file.fix_options.shows_difference:
            return _reported(report, _shown(file, outcome))
        lift_deadline()  # a stop from here on would report a written file as not checked
        if file.fix_options.target is not None:
            outcome = _write_copy(file, file.fix_options.target, outcome)
        elif file.receive is None:
            outcome = _replace(file, outcome, replaces)
        if file.receive is not None:
            file.receive(outcome.source)
    except NotWrittenError as error:
        return _reported(report, Repair(problem=f"{file.name}: {error}; it was left as it is"))
    except OSError as error:
        return _reported(report, Repair(problem=f"{file.name}: {error.strerror or error}; it was left as it is"))
    except Exception as error:
        return _reported(report, Repair()).with_crash(error, "fixing the file")
    return _reported(outcome.report, outcome.repair)


def _reported(report: FileReport, repair: Repair) -> FileReport:
    return replace(report, diagnostics=without_edits(report.diagnostics), repair=repair)


def _needing_data(file: FileToFix, outcome: FixOutcome) -> list[Diagnostic]:
    """Return the findings that are left whose fixes need new data files, if these can be written.

    They cannot for a model in memory, and beside a link.
    """
    is_replaced_link = file.fix_options.target is None and os.path.islink(file.path)
    if outcome.report.form != "binary" or file.receive is not None or is_replaced_link:
        return []
    return [each for each in unfold(outcome.report.diagnostics) if each.edits is not None and each.edits.copies]


def _shown(file: FileToFix, outcome: FixOutcome) -> Repair:
    """Return what the report says of the fixes, with what they would change; nothing is written."""
    needing = _needing_data(file, outcome)
    if needing:
        outcome = _with_new_data(outcome, needing, is_copy=file.fix_options.target is not None)
    return replace(outcome.repair, difference=difference_of(outcome, file.name, file.settings))


def _write_copy(file: FileToFix, target: str, outcome: FixOutcome) -> FixOutcome:
    """Write the result to a new file in another folder, with its data files, and return it with all fixes.

    Raises NotWrittenError and OSError.
    """

    def lint(copy: Source) -> FileReport:
        settings = file.settings
        folder = DataFolder(os.path.dirname(target), most=settings.limits.external_bytes)
        return file.lint(copy, folder if settings.external_data else None)

    writing = _Writing(target, "no file", lint, file.load)
    return _write_with_data(writing, outcome, _needing_data(file, outcome))


_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def _replace(file: FileToFix, outcome: FixOutcome, replaces: Replaced) -> FixOutcome:
    """Put the result in the place of the file, and return it with all fixes. Raises NotWrittenError and OSError."""
    needing = _needing_data(file, outcome)
    if not outcome.rounds and not needing:
        return outcome
    path = file.path
    if os.path.islink(path):
        if not file.settings.follow_links:
            raise NotWrittenError("is a symbolic link; --follow-links changes the file that the link leads to")
        path = os.path.realpath(path)
    # Root may write any file, also one that nobody is meant to write.
    if not os.access(path, os.W_OK) or not os.stat(path).st_mode & _WRITABLE:
        raise NotWrittenError("the file is read-only")
    if needing:
        return _write_with_data(_Writing(path, replaces, file.lint, file.load), outcome, needing)
    _write_checked(path, outcome.source, lambda written: check(outcome, file.lint(written)), replaces)
    return outcome


class _Writing(Record):
    """Where to write the result, and how to check what was written."""

    path: str
    replaces: Replaced
    lint: Lint
    load: Load

    @property
    def is_copy(self) -> bool:
        """True if it is a new file in another folder, to which the other data files are copied as well."""
        return self.replaces == "no file"


def _with_new_data(outcome: FixOutcome, last: list[Diagnostic], *, is_copy: bool) -> FixOutcome:
    """Return the result with one more round: the fixes of these findings, which need new data files.

    `is_copy`: whether the files are written to another folder, where a data file can keep its name.
    """
    fixes = [each.edits for each in last if each.edits is not None]
    copies = [each for fix in fixes for each in fix.copies]
    edits = [edit for fix in fixes for edit in fix.edits]
    if is_copy:
        edits = _without_names(edits, copies)
        copies = [replace(each, target=each.location) for each in copies]
    source, kind = outcome.source, outcome.report.kind
    if edits:
        splicer = Splicer(source, kind)
        source = source.patched(splice.patch for splice in splicer.with_lengths(splicer.splices_of(edits)))
    rounds = (*outcome.rounds, Round(outcome.source, tuple(edits), kind, tuple(copies)))
    fixed = Counter(dict(outcome.repair.fixed)) + Counter(each.rule for each in last)
    repair = replace(outcome.repair, fixed=tuple(sorted(fixed.items())))
    return replace(outcome, source=source, rounds=rounds, repair=repair)


def _without_names(edits: Iterable[Edit], copies: Iterable[DataCopy]) -> list[Edit]:
    """Return the edits but for those that write the names of the new data files."""
    names = [each.target for each in copies]
    return [edit for edit in edits if not (isinstance(edit, Assign) and edit.value in names)]


def _write_with_data(writing: _Writing, outcome: FixOutcome, needing: list[Diagnostic]) -> FixOutcome:
    """Write the result with the fixes of these findings, which need new data files."""
    from onnx_lint.fixing.data_files import copies_of, new_data_files

    path, is_copy = writing.path, writing.is_copy
    if is_copy and os.path.lexists(path):
        raise NotWrittenError(f"{path} is there already")
    made = _with_new_data(outcome, needing, is_copy=is_copy)
    model = writing.load(outcome.source)
    copies, left = list(made.rounds[-1].copies), list[str]()
    if is_copy:
        copies, left = copies_of(model, copies)
    folder = model.data_folder
    model.release()
    verify = partial(check, outcome, has_new_data=True, is_copy=is_copy)
    with new_data_files(copies, folder, os.path.dirname(path)) as written:
        _write_checked(path, made.source, lambda new: verify(writing.lint(new)), writing.replaces)
    new = (*([(path, made.source.size)] if is_copy else []), *written)
    repair = replace(made.repair, not_made=(*made.repair.not_made, *left), written=new)
    return replace(made, report=writing.lint(made.source), repair=repair)


def _write_checked(
    target: str, source: PatchedSource, check: Callable[[Source], str | None], replaces: Replaced
) -> None:
    """Write the source to the file at `target`, if `check` finds nothing wrong with the new file."""
    with whole_file(target, replaces) as (descriptor, written):
        copy_all(source, descriptor)
        problem = check(open_file(written))
        if problem is not None:
            raise NotWrittenError(problem)


def _write_to_standard_output(source: PatchedSource) -> None:
    assert sys.__stdout__ is not None
    sys.__stdout__.flush()
    copy_all(source, sys.__stdout__.fileno())
