# SPDX-License-Identifier: Apache-2.0
"""Runs the selected rules over a model, and turns their findings into diagnostics, within the limits of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.deadline import OutOfTimeError, check_deadline
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.registry import Registered
from onnx_lint.engine.selection import are_usual, decides_requirement, selection_of
from onnx_lint.engine.settings import Settings, options_of
from onnx_lint.input.limits import LIMIT_OF_REPORT, describe_limit
from onnx_lint.model import ROOT, Model
from onnx_lint.report.file_report import Counted, InternalError
from onnx_lint.rule import Finding, RuleError

if TYPE_CHECKING:
    from onnx_lint.engine.describe import LocatedDiagnostic
    from onnx_lint.engine.diagnose import Diagnoser
    from onnx_lint.engine.suppressions import PlacePatterns
    from onnx_lint.engine.targets.judge import TargetJudge
    from onnx_lint.report.findings import Diagnostic

    _LaterStep = Callable[[list[Diagnostic]], list[Diagnostic]]
    """A step over the findings of all rules together. It returns them with what it found out."""

_NO_FINDING: Final[Any] = object()
"""Marks a rule without findings; None may be what a wrong rule yields."""


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
    judge = _target_judge(model, settings)
    listed = run.listed()
    for work, step in _steps(run, model, settings, judge) if listed else ():
        listed = errors.unless_it_crashes(partial(step, listed), listed, work)
    diagnoser = run.diagnoser
    if diagnoser is not None:
        diagnoser.release()
    return Verdict(
        diagnostics=tuple(listed),
        errors=errors.all(),
        cut=tuple(cut.message for cut in run.cuts if cut.may_hide_violation),
        counted=diagnoser.counted() if diagnoser is not None else (),
        patterns=run.patterns,
        judge=judge,
    )


def _steps(run: _Run, model: Model, settings: Settings, judge: TargetJudge | None) -> Iterator[tuple[str, _LaterStep]]:
    """Yield the steps that a model with findings needs, in order, each after the name of the work."""
    if model.form != "binary":
        from onnx_lint.surroundings.text_lines import with_positions

        yield "looking for lines and columns", lambda listed: with_positions(listed, model)
    if judge is not None:
        yield "judging findings by the target", judge.with_target
    yield "looking for doubtful fixes", partial(_without_doubtful_deletions, run, model, settings)
    trials = None if run.diagnoser is None else run.diagnoser.trials
    if trials is not None:
        yield "looking for findings of one cause", trials.with_causes
    yield "folding findings of one cause", _folded


def _without_doubtful_deletions(
    run: _Run, model: Model, settings: Settings, listed: list[Diagnostic]
) -> list[Diagnostic]:
    """Return the diagnostics without the deletions that findings which are not listed make doubtful."""
    if not any(each.advice.edits and each.advice.edits.trusts for each in listed):
        return listed
    from onnx_lint.engine.doubtful_deletions import without_doubtful_deletions

    are_all_listed = are_usual(settings) and not run.cuts
    return without_doubtful_deletions(listed, model, are_all_listed=are_all_listed)


def _folded(listed: list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics with those of one cause folded into one."""
    if len(listed) < 2:
        return listed
    from onnx_lint.report.folding import fold

    return list(fold(listed))


def _target_judge(model: Model, settings: Settings) -> TargetJudge | None:
    """Return what judges the model by the target; None without a target."""
    target = settings.target
    if not target.programs and target.ir_version is None and not target.opset_versions:
        return None
    from onnx_lint.engine.targets.judge import TargetJudge

    return TargetJudge(model, settings)


def _patterns(settings: Settings, path: str) -> Mapping[str, PlacePatterns]:
    """Return the patterns of the suppressions for a file, by rule."""
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
        self.diagnoser: Diagnoser | None = None
        """Describes the findings; None before the first one."""
        self._located: list[LocatedDiagnostic] = []
        self.cuts: list[_Cut] = []

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

    def listed(self) -> list[Diagnostic]:
        """Return the diagnostics in the order of a report: by byte, rule, place and message."""
        self._located.sort(
            key=lambda each: (
                each.first_byte,
                each.diagnostic.rule,
                each.diagnostic.place,
                each.diagnostic.message,
            )
        )
        return [each.diagnostic for each in self._located]

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
        first = next(findings, _NO_FINDING)
        if first is _NO_FINDING:
            return  # as most rules do: then nothing else is set up
        limits = self._model.limits
        left = limits.findings - len(self._located)
        name = "findings_per_rule" if limits.findings_per_rule <= left else "findings"
        most = max(min(limits.findings_per_rule, left), 1)
        found = self._diagnoser_of_run().diagnose(entry, chain((first,), findings))
        before = len(self._located)
        for located in islice(found, most):
            self._located.append(located)  # one by one, since the rule may crash at the next
        if len(self._located) - before == most and next(found, None) is not None:
            shown = "only the first finding is" if most == 1 else f"only the first {most:,} findings are"
            value = f"limit {name} of {getattr(limits, name):,} (option --limit {name}=N)"
            message = f"{shown} reported of rule {entry.id!r}: {value}"
            self.cuts.append(_Cut(name, message, decides_requirement(entry, self._settings)))

    def _diagnoser_of_run(self) -> Diagnoser:
        if self.diagnoser is None:
            from onnx_lint.engine.diagnose import Diagnoser

            self.diagnoser = Diagnoser(self._model, self._settings, self._errors, self.patterns)
        return self.diagnoser
