# SPDX-License-Identifier: Apache-2.0
"""The engine: runs the selected rules over a model and turns findings into diagnostics."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.deadline import OutOfTimeError, check_deadline
from onnx_lint.common.memory import collector_off_for_file
from onnx_lint.common.record import EMPTY, Record, replace
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
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import are_usual, decides_requirement, selected_rules, selection_of
from onnx_lint.engine.settings import Settings, options_of, schemas_of, trusted_folders
from onnx_lint.input.limits import LIMIT_OF_REPORT, describe_limit
from onnx_lint.input.locations import has_folder, is_remote, shown_location, without_query
from onnx_lint.input.source import ReadError, Source, SourceError, source_of
from onnx_lint.ir.crashes import is_bug, is_lack_of_numpy
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.loader import load
from onnx_lint.loader.limits.not_checked import within_time
from onnx_lint.model import ROOT, Model
from onnx_lint.report import NODES
from onnx_lint.report.file_report import Counted, FileReport, InternalError, TargetVerdict
from onnx_lint.rule import Finding, RuleError
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.engine.diagnose import Counts
    from onnx_lint.engine.structure import Structures
    from onnx_lint.engine.suppressions import PlacePatterns
    from onnx_lint.engine.targets.judge import TargetJudge
    from onnx_lint.engine.trials.trials import Trials
    from onnx_lint.ir.places.edits import Fix
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.remote import RemoteSource
    from onnx_lint.report.findings import Diagnostic
    from onnx_lint.report.pictures import Picture

    _Followup = Callable[[list[Diagnostic]], list[Diagnostic]]
    """What is done with the findings of all rules together: it returns them with what it found out."""

    _Located = tuple[int, Diagnostic]
    """A diagnostic and its first byte."""

_MANY_FINDINGS: Final = 500
"""For more findings, the time to release the model is small beside the time to write them."""

_NEEDS_NUMPY: Final = "to read this file, numpy is needed, which is not installed"

_NONE: Final[Any] = object()
"""Given in place of a first finding by a rule without findings; None may be what a wrong rule yields."""


class Verdict(Record):
    """The results of all rules on a model."""

    diagnostics: tuple[Diagnostic, ...]
    errors: tuple[InternalError, ...]
    """The bugs, each once."""
    cut: tuple[str, ...]
    """Descriptions, for people, of findings that limits removed and that may be violations of ONNX."""
    counted: tuple[Counted, ...]
    """Findings that are counted and not listed, one number for each rule."""
    patterns: Mapping[str, PlacePatterns]
    """Those of the suppressions for the file, by rule."""
    judge: TargetJudge | None
    """Judges the model by the target; None without one."""


class _Cut(Record):
    """The message that a rule found more than a limit allows to report."""

    limit: str
    message: str
    may_hide_violation: bool
    """True if a finding of the rule may be a violation of ONNX, so that it is not known whether there is one."""


def lint_model(model: Model, settings: Settings, errors: InternalErrors | None = None, path: str = "") -> Verdict:
    """Run every selected rule over `model`. If a rule raises, the others still run, and its earlier findings are kept.

    `errors`: records the bugs, if the caller records others as well. `path`: the name of the file, for suppressions.
    """
    errors = errors or InternalErrors(model)
    run = _Run(model, settings, errors, path)
    for entry in selection_of(settings).asked(model):
        check_deadline()
        try:
            run.judge(entry)
        except OutOfTimeError as error:
            error.rule = entry.id
            raise
    if run.cuts:
        errors.unless_it_crashes(run.report_cuts, None, "reporting limits")
    run.located.sort(key=lambda item: (item[0], item[1].rule, item[1].place, item[1].message))
    listed = [found for _, found in run.located]
    judge = _target_judge(model, settings)
    for work, step in _steps(run, model, settings, judge) if listed else ():
        listed = errors.unless_it_crashes(partial(step, listed), listed, work)
    if run.trials is not None:
        run.trials.release()
    return Verdict(
        tuple(listed),
        errors.all(),
        tuple(cut.message for cut in run.cuts if cut.may_hide_violation),
        tuple(Counted(rule, count, words) for (rule, words), count in run.counts.items()),
        run.patterns,
        judge,
    )


def _steps(run: _Run, model: Model, settings: Settings, judge: TargetJudge | None) -> Iterator[tuple[str, _Followup]]:
    """Yield the steps that a model with findings needs, in order, each after the name of the work."""
    if model.form != "binary":
        from onnx_lint.surroundings.text_lines import with_positions

        yield "looking for lines and columns", lambda listed: with_positions(listed, model)
    if judge is not None:
        yield "judging findings by the target", judge.with_target
    yield "looking for doubtful fixes", partial(_without_doubtful_deletions, run, model, settings)
    if run.trials is not None:
        yield "looking for findings of one cause", run.trials.with_causes
    yield "folding findings of one cause", _folded


def _without_doubtful_deletions(
    run: _Run, model: Model, settings: Settings, listed: list[Diagnostic]
) -> list[Diagnostic]:
    if not any(each.advice.edits and each.advice.edits.trusts for each in listed):
        return listed
    from onnx_lint.engine.doubtful_deletions import without_doubtful_deletions

    are_all_listed = are_usual(settings) and not run.cuts
    return without_doubtful_deletions(listed, model, are_all_listed=are_all_listed)


def _target_judge(model: Model, settings: Settings) -> TargetJudge | None:
    target = settings.target
    if not target.programs and target.ir_version is None and not target.opset_versions:
        return None
    from onnx_lint.engine.targets.judge import TargetJudge

    return TargetJudge(model, settings)


def _folded(listed: list[Diagnostic]) -> list[Diagnostic]:
    if len(listed) < 2:
        return listed
    from onnx_lint.report.folding import fold

    return list(fold(listed))


def _patterns(settings: Settings, path: str) -> Mapping[str, PlacePatterns]:
    if not settings.suppressions:
        return EMPTY
    from onnx_lint.engine.suppressions import patterns_for

    return patterns_for(settings.suppressions, path)


class _Run:
    """The findings of the rules on one model so far, within the limits."""

    def __init__(self, model: Model, settings: Settings, errors: InternalErrors, path: str) -> None:
        self._model = model
        self._settings = settings
        self._errors = errors
        self.patterns = _patterns(settings, path)
        self.located: list[_Located] = []
        self.cuts: list[_Cut] = []
        self.counts: Counter[Counts] = Counter()
        """The findings that are only counted."""
        self._structures: Structures | None = None
        self.trials: Trials | None = None

    def judge(self, entry: Registered) -> None:
        """Add the findings of one rule. If it raises, that is recorded."""
        try:
            self._take(entry, self._findings(entry))
        except SystemExit:
            self._errors.note(RuleError(f"rule {entry.id!r} in {entry.module} tried to end the program"), rule=entry.id)
        except GeneratorExit:
            self._errors.note(RuleError(f"rule {entry.id!r} in {entry.module} raised GeneratorExit"), rule=entry.id)
        except Exception as error:
            self._errors.note(error, rule=entry.id)

    def report_cuts(self) -> None:
        """Add the diagnostics about what was cut, from the rule of that clause."""
        limits = self._model.limits
        findings = [
            Finding(ROOT, cut.message, clause=LIMIT_OF_REPORT, allowed=describe_limit(cut.limit, limits))
            for cut in self.cuts
        ]
        for entry in selection_of(self._settings).judging(self._model):
            if LIMIT_OF_REPORT in entry.clauses:
                self._take(entry, iter(findings))

    def _structures_of_model(self) -> Structures:
        from onnx_lint.engine.structure import Structures

        if self._structures is None:
            self._structures = Structures(self._model)
        return self._structures

    def _trials_of_model(self) -> Trials:
        from onnx_lint.engine.trials.trials import Trials

        if self.trials is None:
            self.trials = Trials(self._model)
        return self.trials

    def _findings(self, entry: Registered) -> Iterator[Finding]:
        settings, rule = self._settings, entry.rule
        if settings.options:
            findings = iter(rule.check(self._model, **options_of(rule, settings)))
        else:
            findings = iter(rule.check(self._model))
        if entry.plugin is None:
            return findings
        from onnx_lint.engine.plugin_findings import checked

        return checked(entry, findings)

    def _take(self, entry: Registered, findings: Iterator[Finding]) -> None:
        """Add the diagnostics of the first findings of one rule; if a limit is reached, add that to `cuts`.

        At least one is added, so that the findings of one rule cannot hide another rule.
        """
        first = next(findings, _NONE)
        if first is _NONE:
            return  # as most rules do: then nothing else is set up
        from onnx_lint.engine.diagnose import diagnose

        limits = self._model.limits
        left = limits.findings - len(self.located)
        name = "findings_per_rule" if limits.findings_per_rule <= left else "findings"
        most = max(min(limits.findings_per_rule, left), 1)
        found = diagnose(
            entry,
            chain((first,), findings),
            self._model,
            self._structures_of_model,
            self._settings,
            self.counts,
            self._errors,
            self.patterns.get(entry.id),
            self._trials_of_model,
        )
        before = len(self.located)
        for located in islice(found, most):
            self.located.append(located)  # one by one, since the rule may crash at the next
        if len(self.located) - before == most and next(found, None) is not None:
            shown = "only the first finding is" if most == 1 else f"only the first {most:,} findings are"
            value = f"limit {name} of {getattr(limits, name):,} (option --limit {name}=N)"
            message = f"{shown} reported of rule {entry.id!r}: {value}"
            self.cuts.append(_Cut(name, message, decides_requirement(entry, self._settings)))


def _keeps_none(_: Fix) -> bool:
    """Return that a report has no edits, as that of `onnx-lint fix` has, which tries its fixes itself."""
    return False


def lint_source(
    source: Source,
    path: str,
    settings: Settings,
    *,
    is_file: bool = False,
    context: int = 0,
    beside: DataFolder | None = None,
    keeps_edits: Callable[[Fix], bool] = _keeps_none,
) -> FileReport:
    """Load and lint one source; `path` is its name in the report. The source is closed afterwards.

    `is_file`: whether external data can be looked for beside `path` (`has_folder`). `context`: what to report
    around the first findings of each rule: nothing, `LINES` or `NODES`. `beside`: the folder of the file; the caller
    can ask it afterwards which files were looked up. `keeps_edits`: returns whether the diagnostics have the edits of a
    fix. If the source cannot be read to its end, the report says why.
    """
    use_files(settings.plugins)
    check = _SourceCheck(source, path, settings, is_file, context, beside, keeps_edits)
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
    """Load one source under settings, see `onnx_lint.loader.load`; `is_file` and `beside` as in `lint_source`."""
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
    is_file: bool
    context: int
    beside: DataFolder | None
    keeps_edits: Callable[[Fix], bool]


def _lint(check: _SourceCheck) -> tuple[FileReport, Model | None]:
    """Return the report on a source, and the model unless loading it crashed."""
    try:
        model = load_source(check.source, check.path, check.settings, is_file=check.is_file, beside=check.beside)
    except Exception as error:
        if isinstance(error, OSError) or not is_bug(error):
            raise
        if is_lack_of_numpy(error):
            return FileReport(check.path, check.source.size, unreadable=f"{check.path}: {_NEEDS_NUMPY}"), None
        return FileReport(check.path, check.source.size, internal_errors=(InternalError.from_exception(error),)), None
    errors = InternalErrors(model)
    verdict = lint_model(model, check.settings, errors, check.path)
    report = _report_on(model, check, verdict, errors)
    if check.settings.suppressions:
        from onnx_lint.engine.suppressions import with_suppressed

        bare = report
        work = "suppressing findings"
        report = errors.unless_it_crashes(lambda: with_suppressed(bare, verdict.patterns), bare, work)
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
    judging, gaps = selection.judging(model), selection.gaps(model, verdict.diagnostics)
    targets: tuple[TargetVerdict, ...] = ()
    judge = verdict.judge
    if judge is not None:
        from onnx_lint.report.folding import unfold

        rules = {entry.id for entry in judging}
        found, crashes = unfold(verdict.diagnostics), len(errors.all())
        crashed = [counted(crashes, "internal error")] if crashes else ()
        left = (*verdict.cut, *incomplete, *errors.without_numpy(), *crashed)
        judged = judge.verdicts(found, rules, gaps, left)
        targets = part(lambda: tuple(judged), (), "judging the targets")
    listed = verdict.diagnostics
    if settings.suppressions and listed:
        from onnx_lint.engine.suppressions import without_deletions

        work = "looking for fixes of what is suppressed"
        listed = part(lambda: without_deletions(verdict.diagnostics, verdict.patterns), listed, work)
        if check.keeps_edits is _keeps_none:
            from onnx_lint.engine.withdrawn_fixes import without_withdrawn

            known, lint_again = listed, partial(_lint_again, check)
            listed = part(lambda: without_withdrawn(known, verdict.patterns, model, lint_again), listed, work)
    diagnostics = _shown(listed, model, check, errors)
    return FileReport(
        path=check.path,
        size=check.source.size,
        diagnostics=diagnostics,
        pictures=_pictures(diagnostics, model, errors) if diagnostics and check.context == NODES else (),
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


def _lint_again(check: _SourceCheck, source: Source, rules: Collection[str]) -> FileReport:
    """Return the report on another content of the file by some rules; no other rule runs.

    The others are ignored: to select these rules by name would also report what only their names select.
    """
    others = set(selected_rules(check.settings)).difference(rules)
    settings = replace(check.settings, ignore=(*check.settings.ignore, *sorted(others)), parts=())
    report, model = _lint(replace(check, source=source, settings=settings, context=0, keeps_edits=lambda _: True))
    if model is not None:
        model.release()
    return report


def _shown(
    found: tuple[Diagnostic, ...], model: Model, check: _SourceCheck, errors: InternalErrors
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with their fixes, and the lines around them if those are asked for."""
    part = errors.unless_it_crashes
    if any(item.advice.edits or item.folding.members for item in found):
        from onnx_lint.engine.proposed_fixes import with_proposed_fixes, without_edits

        bare, lists_edits = found, "edits" in check.settings.parts
        found = part(
            lambda: with_proposed_fixes(bare, model, lists_edits=lists_edits, keeps_edits=check.keeps_edits),
            without_edits(bare),
            "describing fixes",
        )
    if not found or not check.context:
        return found
    described = found
    return part(lambda: _with_surroundings(described, model), found, "showing the model around findings")


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
    context: int = 0,
    beside: DataFolder | None = None,
    opening: Callable[[], Source] | None = None,
) -> FileReport:
    """Lint the file at `path`, `-` for standard input, or a remote object under its address.

    One that cannot be read gives a report that says why.

    `name`: the path to use in the report and for external data, if it is not the path of the file.
    `context`, `beside`: as in `lint_source`. `opening`: returns the source, as `opened` does, if another
    thread has opened it already.
    """
    name = shown_location(path) if name is None else name
    try:
        source = opened(path, settings) if opening is None else opening()
        return lint_source(source, name, settings, is_file=has_folder(name), context=context, beside=beside)
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
