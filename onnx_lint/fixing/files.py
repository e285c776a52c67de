# SPDX-License-Identifier: Apache-2.0
"""Fixes one file, and reports the remaining findings."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

from onnx_lint.common.deadline import lift_deadline
from onnx_lint.common.record import Record, replace
from onnx_lint.common.whole_file import NotWrittenError, OpenFile, Replaced, whole_file
from onnx_lint.engine.lint import lint_source, load_source, opened
from onnx_lint.engine.proposed_fixes import without_edits
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rounds import Lint, Load, Mended, Round, check, mend
from onnx_lint.input.copying import copy_all
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import FileSource, Source, SourceError, open_file
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.splices import Splicer
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.loader.limits.not_checked import NotCheckedError, within_time
from onnx_lint.report.file_report import FileReport, Repair
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold


class Mending(Record):
    """The settings for fixing files."""

    unsafe: bool = False
    """True to make unsafe fixes too."""
    shows_difference: bool = False
    """True to show what would change, and to change nothing."""
    target: str | None = None
    """The path of the mended file, which must not exist; None to replace the file."""


def fix_file(
    path: str,
    settings: Settings,
    mending: Mending,
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
    return fix_source(source, path, settings, mending, name, context=context)


def fix_source(
    source: Source,
    path: str,
    settings: Settings,
    mending: Mending,
    name: str,
    *,
    context: int = 0,
    receive: Callable[[PatchedSource], None] | None = None,
) -> FileReport:
    """Mend the file at `path`, which is open as `source`, as `fix_file` does; close the source.

    `receive`: is called with the result in place of writing it, if the source is a model in memory, without a path.
    """
    try:
        with within_time(settings.limits):
            return _fix(source, path, settings, mending, name, context, receive)
    except NotCheckedError as error:
        return FileReport(path=name, size=0, unreadable=f"{name}: {error}")
    finally:
        source.close()


def _fix(
    source: Source,
    path: str,
    settings: Settings,
    mending: Mending,
    name: str,
    context: int,
    receive: Callable[[PatchedSource], None] | None,
) -> FileReport:
    """Do the work of `fix_source`, whose arguments these are."""
    if path == "-":
        receive = _write_to_standard_output
    lint = partial(
        lint_source,
        path=name,
        settings=settings,
        is_file=receive is None,
        context=context,
        keeps_edits=lambda fix: mending.unsafe or fix.is_safe,
    )
    load = partial(load_source, path=name, settings=settings, is_file=receive is None)

    def lint_copy(result: Source) -> FileReport:
        folder = DataFolder(os.path.dirname(mending.target or path), most=settings.limits.external_bytes)
        return lint(result, beside=folder if settings.external_data else None)

    replaces: Replaced = "no file"
    if isinstance(source, FileSource) and receive is None:
        replaces = OpenFile(source.descriptor, os.fstat(source.descriptor))
    report = lint(unpatched(source))
    try:
        outcome = mend(source, report, lint, load, unsafe=mending.unsafe)
        is_kept = receive is not None or (mending.target is None and os.path.islink(path))
        needing = [] if is_kept else _needing_data(outcome)
        if mending.shows_difference:
            if needing:
                outcome = _with_new_data(outcome, needing, is_copy=mending.target is not None)
            return _reported(report, replace(outcome.repair, difference=difference_of(outcome, name, settings)))
        lift_deadline()  # a stop from here on would report a written file as not checked
        if mending.target is not None:
            outcome = _write_with_data(mending.target, outcome, needing, "no file", lint_copy, load)
        elif receive is None:
            outcome = _write(path, outcome, needing, replaces, lint, load, follows_links=settings.follow_links)
        if receive is not None:
            receive(outcome.source)
    except NotWrittenError as error:
        return _reported(report, Repair(problem=f"{name}: {error}; it was left as it is"))
    except OSError as error:
        return _reported(report, Repair(problem=f"{name}: {error.strerror or error}; it was left as it is"))
    except Exception as error:
        return _reported(report, Repair()).with_crash(error, "fixing the file")
    return _reported(outcome.report, outcome.repair)


_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def _reported(report: FileReport, repair: Repair) -> FileReport:
    return replace(report, diagnostics=without_edits(report.diagnostics), repair=repair)


def _needing_data(outcome: Mended) -> list[Diagnostic]:
    """Return the findings that are left whose fixes need new data files."""
    found = unfold(outcome.report.diagnostics) if outcome.report.form == "binary" else ()
    return [each for each in found if each.edits is not None and each.edits.copies]


def _write(
    path: str,
    outcome: Mended,
    last: list[Diagnostic],
    replaces: Replaced,
    lint: Lint,
    load: Load,
    *,
    follows_links: bool,
) -> Mended:
    """Put the result in the place of the file, and return it with the fixes of `last`, which need new data files.

    Raises NotWrittenError and OSError.
    """
    if not outcome.rounds and not last:
        return outcome
    if os.path.islink(path):
        if not follows_links:
            raise NotWrittenError("is a symbolic link; --follow-links changes the file that the link leads to")
        path = os.path.realpath(path)
    # Root may write any file, also one that nobody is meant to write.
    if not os.access(path, os.W_OK) or not os.stat(path).st_mode & _WRITABLE:
        raise NotWrittenError("the file is read-only")
    if last:
        return _write_with_data(path, outcome, last, replaces, lint, load)
    _write_checked(path, outcome.source, lambda written: check(outcome, lint(written)), replaces)
    return outcome


def _with_new_data(outcome: Mended, last: list[Diagnostic], *, is_copy: bool) -> Mended:
    """Return the result with one more round: the fixes of these findings, which need new data files.

    `is_copy`: whether the files are written to another folder, where a data file can keep its name.
    """
    fixes = [each.edits for each in last if each.edits is not None]
    copies = [each for fix in fixes for each in fix.copies]
    edits = [edit for fix in fixes for edit in fix.edits]
    if is_copy:
        names = [each.target for each in copies]
        edits = [edit for edit in edits if not (isinstance(edit, Assign) and edit.value in names)]
        copies = [replace(each, target=each.location) for each in copies]
    source, kind = outcome.source, outcome.report.kind
    if edits:
        splicer = Splicer(source, kind)
        source = source.patched(splice.patch for splice in splicer.with_lengths(splicer.splices_of(edits)))
    rounds = (*outcome.rounds, Round(outcome.source, tuple(edits), kind, tuple(copies)))
    fixed = Counter(dict(outcome.repair.fixed)) + Counter(each.rule for each in last)
    repair = replace(outcome.repair, fixed=tuple(sorted(fixed.items())))
    return replace(outcome, source=source, rounds=rounds, repair=repair)


def _write_with_data(
    path: str, outcome: Mended, last: list[Diagnostic], replaces: Replaced, lint: Lint, load: Load
) -> Mended:
    """Write the result with the fixes of these findings, which need new data files.

    If it replaces no file, it is a new file in another folder, to which the other data files are copied too.
    """
    from onnx_lint.fixing.data_files import copies_of, new_data_files

    is_copy = replaces == "no file"
    if is_copy and os.path.lexists(path):
        raise NotWrittenError(f"{path} is there already")
    made = _with_new_data(outcome, last, is_copy=is_copy)
    model = load(outcome.source)
    copies, left = list(made.rounds[-1].copies), list[str]()
    if is_copy:
        copies, left = copies_of(model, copies)
    folder = model.data_folder
    model.release()
    verify = partial(check, outcome, has_new_data=True, is_copy=is_copy)
    with new_data_files(copies, folder, os.path.dirname(path)) as written:
        _write_checked(path, made.source, lambda new: verify(lint(new)), replaces)
    new = (*([(path, made.source.size)] if is_copy else []), *written)
    repair = replace(made.repair, not_made=(*made.repair.not_made, *left), written=new)
    return replace(made, report=lint(made.source), repair=repair)


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
