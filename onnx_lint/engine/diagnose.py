# SPDX-License-Identifier: Apache-2.0
"""Turns the findings of rules into diagnostics, and counts those that are not listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from onnx_lint.common.cached import cached_property
from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.registry import Registered
from onnx_lint.engine.selection import presence
from onnx_lint.engine.settings import Settings
from onnx_lint.model import Model
from onnx_lint.report.file_report import Counted
from onnx_lint.rule import Finding, Rule
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity

if TYPE_CHECKING:
    from onnx_lint.engine.describe import LocatedDiagnostic
    from onnx_lint.engine.structure import Structures
    from onnx_lint.engine.suppressions import PlacePatterns
    from onnx_lint.engine.trials.trials import Trials


class _Reporting(Record):
    """How the findings of a rule for one clause are reported."""

    is_counted: bool
    """True if the report only has their number."""
    level: Severity | None
    """The severity of those that are listed; None if none is."""


class Diagnoser:
    """Turns the findings of the rules on one model into diagnostics.

    `errors`: records the crashes. `patterns`: those of the suppressions for the file, by rule.
    """

    def __init__(
        self, model: Model, settings: Settings, errors: InternalErrors, patterns: Mapping[str, PlacePatterns]
    ) -> None:
        self._model = model
        self._settings = settings
        self._errors = errors
        self._patterns = patterns
        self._counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
        """The number of findings that are only counted, by rule and the words for one and for several."""
        self.trials: Trials | None = None
        """The trials of the changes that findings propose; None if no finding has proposed any."""

    def diagnose(self, entry: Registered, findings: Iterable[Finding]) -> Iterator[LocatedDiagnostic]:
        """Yield the diagnostics for the selected findings of one rule. Each crash costs one finding at most."""
        by_clause: dict[str, _Reporting] = {}
        for finding in self._split(entry, findings):
            check_deadline()
            found = None
            try:
                clause = _clause_of(entry.rule, finding)
                if clause.id not in by_clause:
                    by_clause[clause.id] = self._reporting_of(entry, clause)
                reporting = by_clause[clause.id]
                if reporting.is_counted:
                    self._counts[entry.id, clause.counted] += finding.count
                if reporting.level is not None:
                    found = self._located(entry.rule, finding, clause, reporting.level)
                    if clause.chapter == "policy":  # if this crashes, the finding is reported without it
                        found = _cited_from_policy(found, self._settings)
            except Exception as error:
                self._errors.note(error, rule=entry.id)
            if found is not None:
                yield found

    def counted(self) -> tuple[Counted, ...]:
        """Return the findings that are only counted, one number for each rule."""
        return tuple(Counted(rule, count, words) for (rule, words), count in self._counts.items())

    def release(self) -> None:
        """Release the models that trials have loaded."""
        if self.trials is not None:
            self.trials.release()

    def _split(self, entry: Registered, findings: Iterable[Finding]) -> Iterable[Finding]:
        """Return the findings, each split where a suppression names a part of it."""
        patterns = self._patterns.get(entry.id)
        if patterns is None:
            return findings
        from onnx_lint.engine.suppressions import split_by_entry

        return (piece for finding in findings for piece in split_by_entry(finding, patterns, self._model))

    def _reporting_of(self, entry: Registered, clause: Clause) -> _Reporting:
        edition = self._settings.standard.edition
        how = presence(entry, clause, self._settings) if edition in clause.keyword else None
        level = severity(clause, edition) if how == "listed" else None
        if level is not None:
            level = self._settings.severities.get(entry.id, level)
        return _Reporting(is_counted=how == "counted", level=level)

    def _located(self, rule: Rule, finding: Finding, clause: Clause, level: Severity) -> LocatedDiagnostic:
        """Return the diagnostic for a finding that is listed."""
        # Most findings of a plain run are only counted, so what describes findings is imported here.
        from onnx_lint.engine.describe import located

        if finding.proposals is not None:
            finding = self._trials_of_model().with_hints(finding, rule)
        found = located(rule, finding, clause, level, self._model, self._settings)
        diagnostic = found.diagnostic
        if self._settings.has_baseline:
            from onnx_lint.engine.identities import with_identity

            with self._model.crashes.at("identifying a finding", finding.place):
                diagnostic = with_identity(diagnostic, finding, self._structures, self._model)
        return replace(found, diagnostic=diagnostic)

    def _trials_of_model(self) -> Trials:
        if self.trials is None:
            from onnx_lint.engine.trials.trials import Trials

            self.trials = Trials(self._model)
        return self.trials

    @cached_property
    def _structures(self) -> Structures:
        """The identities of places, for a baseline."""
        from onnx_lint.engine.structure import Structures

        return Structures(self._model)


def _cited_from_policy(found: LocatedDiagnostic, settings: Settings) -> LocatedDiagnostic:
    from onnx_lint.engine.describe import cited_from_policy

    return replace(found, diagnostic=cited_from_policy(found.diagnostic, settings))


def _clause_of(rule: Rule, finding: Finding) -> Clause:
    name = finding.clause or rule.clauses[0]
    if name not in rule.clauses:
        raise ValueError(f"the finding cites clause {name!r}, which the rule does not declare")
    if finding.clause is None and len(rule.clauses) > 1:
        raise ValueError("the rule decides several clauses and the finding does not say which")
    return clauses()[name]
