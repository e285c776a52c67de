# SPDX-License-Identifier: Apache-2.0
"""Turns the findings of a rule into diagnostics, and counts those that are not listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from onnx_lint.common.deadline import check_deadline
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.registry import Registered
from onnx_lint.engine.selection import presence
from onnx_lint.engine.settings import Settings
from onnx_lint.model import Model
from onnx_lint.rule import Finding, Rule
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity

if TYPE_CHECKING:
    from onnx_lint.engine.structure import Structures
    from onnx_lint.engine.suppressions import PlacePatterns
    from onnx_lint.engine.trials.trials import Trials
    from onnx_lint.report.findings import Diagnostic

Counts = tuple[str, tuple[str, ...]]
"""A rule, and the words for one and for several of its findings that are only counted."""


def diagnose(
    entry: Registered,
    findings: Iterable[Finding],
    model: Model,
    structures: Callable[[], Structures],
    settings: Settings,
    counts: Counter[Counts],
    errors: InternalErrors,
    patterns: PlacePatterns | None,
    trials: Callable[[], Trials],
) -> Iterator[tuple[int, Diagnostic]]:
    """Yield the diagnostics for the selected findings of one rule, each with its first byte.

    Findings that are only counted are added to `counts`, under the rule and the words for one and for several.
    Crashes are added to `errors`; each costs one finding at most. `patterns`: those of the suppressions for the rule.
    `structures`: returns the identities of places, for a baseline. `trials`: returns the trials of the changes that
    findings propose.
    """
    edition = settings.standard.edition
    if patterns is not None:
        from onnx_lint.engine.suppressions import split_by_entry

        whole, own = findings, patterns
        findings = (piece for finding in whole for piece in split_by_entry(finding, own, model))
    levels: dict[str, tuple[str | None, Severity | None]] = {}
    for finding in findings:
        check_deadline()
        located = None
        try:
            clause = _clause_of(entry.rule, finding)
            if clause.id not in levels:
                how = presence(entry, clause, settings) if edition in clause.keyword else None
                levels[clause.id] = how, _level(entry, clause, settings) if how == "listed" else None
            how, level = levels[clause.id]
            if how == "counted":
                counts[entry.id, clause.counted] += finding.count
            if level is not None:
                if finding.proposals is not None:
                    finding = trials().with_hints(finding, entry.rule)
                located = _located(entry.rule, finding, clause, level, model, settings)
                if settings.has_baseline:
                    from onnx_lint.engine.identities import with_identity

                    with model.crashes.at("identifying a finding", finding.place):
                        located = located[0], with_identity(located[1], finding, structures(), model)
                if clause.chapter == "policy":
                    located = located[0], _cited_from_policy(located[1], settings)
        except Exception as error:
            errors.note(error, rule=entry.id)
        if located is not None:
            yield located


# Most findings of a plain run are only counted, and described nowhere. So these import what describes them.
def _located(
    rule: Rule, finding: Finding, clause: Clause, level: Severity, model: Model, settings: Settings
) -> tuple[int, Diagnostic]:
    from onnx_lint.engine.describe import located

    return located(rule, finding, clause, level, model, settings)


def _cited_from_policy(diagnostic: Diagnostic, settings: Settings) -> Diagnostic:
    from onnx_lint.engine.describe import cited_from_policy

    return cited_from_policy(diagnostic, settings)


def _level(entry: Registered, clause: Clause, settings: Settings) -> Severity | None:
    """Return the severity of the rule's findings for a listed clause; None if the edition has none for it."""
    level = severity(clause, settings.standard.edition)
    return level and settings.severities.get(entry.id, level)


def _clause_of(rule: Rule, finding: Finding) -> Clause:
    name = finding.clause or rule.clauses[0]
    if name not in rule.clauses:
        raise ValueError(f"the finding cites clause {name!r}, which the rule does not declare")
    if finding.clause is None and len(rule.clauses) > 1:
        raise ValueError("the rule decides several clauses and the finding does not say which")
    return clauses()[name]
