# SPDX-License-Identifier: Apache-2.0
"""Lints one source: loads the model, runs the rules over it, and reports what they find."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from onnx_lint.common.memory import collector_off_for_file
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.facts import (
    data_files_of,
    facts_of,
    nodes_not_verified,
    not_examined,
    operators_not_listed,
    shapes_of,
    why_not_judged,
)
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.plugins import use_files
from onnx_lint.engine.registry import registry
from onnx_lint.engine.rule_runs import Verdict, lint_model
from onnx_lint.engine.selection import selected_rules, selection_of
from onnx_lint.engine.settings import Settings, schemas_of, trusted_folders
from onnx_lint.input.locations import has_folder, is_remote, shown_location, without_query
from onnx_lint.input.source import ReadError, Source, SourceError, source_of
from onnx_lint.ir.crashes import is_bug, is_lack_of_numpy
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.loader import load
from onnx_lint.loader.limits.not_checked import within_time
from onnx_lint.model import Model
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport, InternalError, TargetVerdict
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import Fix
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.remote import RemoteSource
    from onnx_lint.report.findings import Diagnostic
    from onnx_lint.report.pictures import Picture

_MANY_FINDINGS: Final = 500
"""For more findings, the time to release the model is small beside the time to write them."""

_NEEDS_NUMPY: Final = "to read this file, numpy is needed, which is not installed"


class LintOptions(Record):
    """How one source is linted, besides its settings."""

    is_file: bool = False
    """True if external data can be looked for beside the path of the source, see `has_folder`."""
    context: Context = Context.NONE
    """What to report around the first findings of each rule."""
    beside: DataFolder | None = None
    """The folder of the file. The caller can ask it afterwards which files were looked up."""
    keeps_edits: Callable[[Fix], bool] | None = None
    """Returns whether the diagnostics have the edits of a fix. None: they have none, and fixes that would also change
    suppressed findings are withdrawn.
    """


DEFAULT_OPTIONS: Final = LintOptions()


def lint_source(source: Source, path: str, settings: Settings, options: LintOptions = DEFAULT_OPTIONS) -> FileReport:
    """Load and lint one source; `path` is its name in the report. The source is closed afterwards.

    If the source cannot be read to its end, the report says why.
    """
    use_files(settings.plugins)
    check = _SourceCheck(source, path, settings, options)
    with collector_off_for_file() as leave:
        try:
            with within_time(settings.limits):
                report, model = _lint(check)
            report = _with_traffic(report, source)
            if model is None:
                pass
            elif len(report.diagnostics) > _MANY_FINDINGS:
                model.release()  # the report needs memory as well, and does not need the model
            else:
                leave(model.release)
            return report
        except ReadError as error:
            return FileReport(path=path, size=0, unreadable=f"{path}: {error}")
        finally:
            source.close()


def opened(path: str, settings: Settings) -> Source:
    """Return the source of the file at `path`, of standard input for `-`, or of a remote object.

    Raises SourceError if it cannot be read.
    """
    if is_remote(path):
        from onnx_lint.remote import open_remote  # late: it imports packages that only remote models need

        return open_remote(path, settings.limits)
    # One byte beyond the limit shows that there is more.
    return source_of(path, settings.limits.file_bytes + 1)


def _remote(source: Source) -> RemoteSource | None:
    """Return the source if it is a remote object; nothing is imported for a local one."""
    module = sys.modules.get("onnx_lint.remote.source")
    return source if module is not None and isinstance(source, module.RemoteSource) else None


def _with_traffic(report: FileReport, source: Source) -> FileReport:
    """Return the report with the network traffic. Raises ReadError if a remote object has changed meanwhile."""
    remote = _remote(source)
    return report if remote is None else replace(report, traffic=remote.finish())


def load_source(
    source: Source, path: str, settings: Settings, *, is_file: bool, beside: DataFolder | None = None
) -> Model:
    """Load one source under settings, see `onnx_lint.loader.load`; `is_file` and `beside` as in `LintOptions`."""
    directory = os.path.dirname(path) if settings.external_data and is_file else None
    remote = _remote(source) if directory is not None else None
    if remote is None and is_remote(path):
        directory = None  # the path is only a name for data from elsewhere
    return load(
        source,
        path if remote is None else without_query(path),
        settings.standard,
        directory,
        settings.limits,
        settings.proto,
        schemas=schemas_of(settings),
        target=settings.target,
        opset_imports=settings.opset_imports,
        trusted_folders=trusted_folders(directory, settings),
        given_folder=remote.beside(settings.limits.external_bytes) if remote is not None else beside,
    )


class _SourceCheck(Record):
    """The arguments of `lint_source`."""

    source: Source
    path: str
    settings: Settings
    options: LintOptions


def _lint(check: _SourceCheck) -> tuple[FileReport, Model | None]:
    """Return the report on a source, and the model unless loading it crashed."""
    path, settings, options = check.path, check.settings, check.options
    try:
        model = load_source(check.source, path, settings, is_file=options.is_file, beside=options.beside)
    except Exception as error:
        if isinstance(error, OSError) or not is_bug(error):
            raise
        if is_lack_of_numpy(error):
            return FileReport(path, check.source.size, unreadable=f"{path}: {_NEEDS_NUMPY}"), None
        return FileReport(path, check.source.size, internal_errors=(InternalError.from_exception(error),)), None
    errors = InternalErrors(model)
    verdict = lint_model(model, settings, errors, path)
    report = _report_on(model, check, verdict, errors)
    if settings.suppressions:
        from onnx_lint.engine.suppressions import with_suppressed

        split = partial(with_suppressed, report, verdict.patterns)
        report = errors.unless_it_crashes(split, report, "suppressing findings")
    if found := errors.all():
        report = replace(report, internal_errors=found)
    if lacking := errors.without_numpy():
        report = replace(report, incomplete=(*report.incomplete, *lacking), lacks_numpy=True)
    return report, model


def _report_on(model: Model, check: _SourceCheck, verdict: Verdict, errors: InternalErrors) -> FileReport:
    """Return the report with the verdict, and the facts about the file."""
    settings, part = check.settings, errors.unless_it_crashes
    facts = part(lambda: facts_of(model, settings), None, "counting nodes and graphs")
    not_verified = part(lambda: nodes_not_verified(model), (), "counting unknown operators")
    not_listed = part(lambda: operators_not_listed(model), (), "naming unknown operators") if not_verified else ()
    shapes = part(lambda: shapes_of(model), None, "counting known shapes")
    incomplete = part(lambda: tuple(not_examined(model, settings)), (), "listing what was left out")
    data_files = part(lambda: data_files_of(model, settings), (), "listing the files of external data")
    selection = selection_of(settings)
    judging = selection.judging(model)
    gaps = selection.gaps(model, verdict.diagnostics)
    targets = _target_verdicts(verdict, {entry.id for entry in judging}, gaps, incomplete, errors)
    diagnostics = _described(_without_fixes_of_suppressed(model, check, verdict, errors), model, check, errors)
    shows_pictures = bool(diagnostics) and check.options.context == Context.NODES
    return FileReport(
        path=check.path,
        size=check.source.size,
        diagnostics=diagnostics,
        pictures=_pictures(diagnostics, model, errors) if shows_pictures else (),
        facts=facts,
        kind=model.kind,
        judged_by=len(judging),
        gaps=gaps,
        not_verified=not_verified,
        not_listed=not_listed,
        targets=targets,
        shapes=shapes,
        not_judged=why_not_judged(model),
        incomplete=(*verdict.cut, *incomplete),
        counted=verdict.counted,
        form=model.form,
        data_files=data_files,
    )


def _target_verdicts(
    verdict: Verdict, rules: Set[str], gaps: Sequence[str], incomplete: Sequence[str], errors: InternalErrors
) -> tuple[TargetVerdict, ...]:
    """Return the verdict for each program of the target.

    `rules`: those that checked the file. `gaps` and `incomplete`: as in `FileReport`.
    """
    judge = verdict.judge
    if judge is None:
        return ()
    from onnx_lint.report.folding import unfold

    crashes = len(errors.all())
    crashed = [counted(crashes, "internal error")] if crashes else []
    unjudged = (*verdict.cut, *incomplete, *errors.without_numpy(), *crashed)
    judged = judge.verdicts(unfold(verdict.diagnostics), rules, gaps, unjudged)
    return errors.unless_it_crashes(lambda: tuple(judged), (), "judging the targets")


def _without_fixes_of_suppressed(
    model: Model, check: _SourceCheck, verdict: Verdict, errors: InternalErrors
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without the fixes that would also change suppressed findings."""
    listed = verdict.diagnostics
    if not check.settings.suppressions or not listed:
        return listed
    from onnx_lint.engine.suppressions import without_deletions

    work = "looking for fixes of what is suppressed"
    listed = errors.unless_it_crashes(partial(without_deletions, listed, verdict.patterns), listed, work)
    if check.options.keeps_edits is not None:
        return listed  # the caller decides itself which edits it makes
    from onnx_lint.engine.withdrawn_fixes import without_withdrawn

    withdraw = partial(without_withdrawn, listed, verdict.patterns, model, partial(_lint_again, check))
    return errors.unless_it_crashes(withdraw, listed, work)


def _lint_again(check: _SourceCheck, source: Source, rules: Collection[str]) -> FileReport:
    """Return the report on another content of the file by some rules; no other rule runs.

    The others are ignored: to select these rules by name would also report what only their names select.
    """
    others = set(selected_rules(check.settings)).difference(rules)
    settings = replace(check.settings, ignore=(*check.settings.ignore, *sorted(others)), parts=())
    options = replace(check.options, context=Context.NONE, keeps_edits=lambda _: True)
    report, model = _lint(_SourceCheck(source, check.path, settings, options))
    if model is not None:
        model.release()
    return report


def _described(
    found: tuple[Diagnostic, ...], model: Model, check: _SourceCheck, errors: InternalErrors
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with their fixes, and the lines around them if those are asked for."""
    if any(item.advice.edits or item.folding.members for item in found):
        from onnx_lint.engine.proposed_fixes import with_proposed_fixes, without_edits

        describe = partial(
            with_proposed_fixes,
            found,
            model,
            lists_edits="edits" in check.settings.parts,
            keeps_edits=check.options.keeps_edits or _keeps_none,
        )
        found = errors.unless_it_crashes(describe, without_edits(found), "describing fixes")
    if not found or check.options.context == Context.NONE:
        return found
    surround = partial(_with_surroundings, found, model)
    return errors.unless_it_crashes(surround, found, "showing the model around findings")


def _keeps_none(_: Fix) -> bool:
    """Return that the edits of a fix are not kept."""
    return False


def _pictures(diagnostics: tuple[Diagnostic, ...], model: Model, errors: InternalErrors) -> tuple[Picture, ...]:
    from onnx_lint.surroundings.pictures import pictures_of

    return errors.unless_it_crashes(lambda: pictures_of(diagnostics, model), (), "drawing the nodes around findings")


def _with_surroundings(diagnostics: tuple[Diagnostic, ...], model: Model) -> tuple[Diagnostic, ...]:
    from onnx_lint.surroundings.of_findings import with_surroundings

    # The findings of the rules on bytes have no structure around them.
    on_bytes = frozenset(entry.id for entry in registry().values() if entry.chapter == "file")
    return with_surroundings(diagnostics, model, on_bytes)


def lint_file(
    path: str,
    settings: Settings,
    name: str | None = None,
    *,
    context: Context = Context.NONE,
    beside: DataFolder | None = None,
    opening: Callable[[], Source] | None = None,
) -> FileReport:
    """Lint the file at `path`, `-` for standard input, or a remote object under its address.

    If it cannot be read, the report says why.

    `name`: the path to use in the report and for external data, if it is not the path of the file.
    `context`, `beside`: as in `LintOptions`. `opening`: returns the source, as `opened` does, if another thread has
    opened it already.
    """
    name = shown_location(path) if name is None else name
    try:
        source = opened(path, settings) if opening is None else opening()
        options = LintOptions(is_file=has_folder(name), context=context, beside=beside)
        return lint_source(source, name, settings, options)
    except (SourceError, OSError) as error:
        return FileReport(path=name, size=0, unreadable=str(error))


def import_usual_rules(settings: Settings) -> None:
    """Import the rules and modules that nearly any model needs, so that their time is not that of the first one."""
    import onnx_lint.inference.flow.traversal
    import onnx_lint.ir.places.byte_ranges
    import onnx_lint.ir.places.enclosing_names  # noqa: F401 - all imported for later

    for entry in selection_of(settings).entries:
        if entry.about is None and entry.needs in KINDS["ModelProto"].holds:
            with suppress(Exception):  # each file that needs the rule reports the failure
                entry.rule  # noqa: B018 - reading it imports the file of the rule
