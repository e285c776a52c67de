# SPDX-License-Identifier: Apache-2.0
"""Tries the changes that findings propose on the whole model, so that a report shows only those that fix it.

`Trials` decides what is tried, and words the hints. `ChangedModels` checks the model before and after a change, within
a `TrialBudget`, and `result` compares the two. `Consequences` has what a change fixes besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.engine.trials.changed_models import ChangedModels
from onnx_lint.engine.trials.compared_findings import ComparedFinding, FindingKey
from onnx_lint.engine.trials.consequences import Consequences
from onnx_lint.engine.trials.result import TrialResult
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic
from onnx_lint.rule import Finding, Related, Rule
from onnx_lint.wording import listed, with_more

MAX_WITHOUT_TRIAL: Final = 1_000
"""The most findings of a model whose proposals are reported without a trial."""

MAX_PROPOSALS_IN_HINT: Final = 2
"""The most changes that a hint offers. If more fix the model, it offers none."""


class HintDecision(Enum):
    """What follows from the trials for a finding."""

    REPORT = auto()
    """There are changes to report."""
    NONE_FITS = auto()
    """There is none, and no change that was not tried could alter that."""
    UNKNOWN = auto()
    """There is none, because not all changes were tried."""
    ELSEWHERE = auto()
    """An earlier finding has the change. The report folds this finding into that one, or the change for that one fixes
    this one as well."""


class TrialOutcome(Record):
    """The result of the trials for one finding, or for the findings with one cause."""

    decision: HintDecision
    passed: tuple[Proposal, ...] = ()
    """The changes to report."""


_UNKNOWN: Final = TrialOutcome(HintDecision.UNKNOWN)
_ELSEWHERE: Final = TrialOutcome(HintDecision.ELSEWHERE)


class Trials:
    """The trials of one model, and the hints that follow from them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._models = ChangedModels(model)
        self._left_without_trial = MAX_WITHOUT_TRIAL
        self._outcomes_by_shared_cause: dict[str, TrialOutcome] = {}
        """The outcomes of proposals that several findings share, by the cause in the proposals."""
        self._outcomes_by_cause: dict[tuple[str, str | None], TrialOutcome] = {}
        """The outcomes for the first finding of each rule and cause. The report folds the others into one."""
        self._consequences = Consequences()
        self._has_noted_imports = False
        """True once the findings that the imports fix are recorded as consequences of the first one with an import."""

    def with_hints(self, finding: Finding, rule: Rule) -> Finding:
        """Return the finding with the proposals that fix it as its hint or in its message, and without the others."""
        proposals = finding.proposals
        if proposals is None:
            return finding
        finding = replace(finding, proposals=None)
        if proposals.is_proven_import:
            return self._with_import(finding, proposals, rule)
        outcome = self._outcome_for(_compared(finding, rule), finding.cause, proposals)
        match outcome.decision:
            case HintDecision.REPORT:
                return _with_proposals(finding, proposals, outcome.passed)
            case HintDecision.NONE_FITS:
                return _without_proposals(finding, proposals, hint=proposals.if_none_fits)
            case HintDecision.UNKNOWN:
                return _without_proposals(finding, proposals)
            case HintDecision.ELSEWHERE:
                return finding

    def with_causes(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the diagnostics. If the change reported for one fixes others as well, all of them get one cause."""
        return self._consequences.with_causes(diagnostics)

    def release(self) -> None:
        """Release the model with other imports, if it was checked."""
        self._models.release()

    # --- imports

    def _with_import(self, finding: Finding, proposals: Proposals, rule: Rule) -> Finding:
        """Return the finding with the import that its node needs as its hint and its cause.

        If the import uncovers an error of the node, the finding keeps its own cause, and the hint has the error.
        """
        trial = self._models.with_imports
        if trial is None:
            if proposals.condition_in_model is not None:
                return finding  # only a check of the model could show that the import is meant
            unchecked = replace(proposals, sentence=proposals.sentence_if_unchecked)
            return _with_proposals(finding, unchecked, self._options_of(proposals))
        cause = proposals.cause or ""
        text = trial.texts.get(cause)
        if text is None:
            return finding
        errors = self._models.uncovered_errors_at(finding.place)
        if errors:
            return replace(finding, hint=f"{text}; the node has a fault then: {errors[0]}")
        if not self._has_noted_imports:
            self._has_noted_imports = True
            self._consequences.add(trial.fixed, _compared(finding, rule).key)
        sentence = proposals.sentence_if_unchecked if trial.uncovered_errors else proposals.sentence
        hint = sentence.format(text) + trial.uncovered_in_words
        return replace(finding, hint=hint, cause=cause, is_cause_shared=True)

    # --- outcomes

    def _outcome_for(self, tried: ComparedFinding, cause: str | None, proposals: Proposals) -> TrialOutcome:
        """Return the outcome for a finding with a cause: a known one, or that of new trials."""
        if proposals.cause is not None:
            if proposals.cause not in self._outcomes_by_shared_cause:
                self._outcomes_by_shared_cause[proposals.cause] = self._try_proposals(proposals, tried)
            return self._outcomes_by_shared_cause[proposals.cause]
        known = self._outcomes_by_cause.get((tried.rule, cause)) if cause else None
        if known is not None:
            # The first finding of this cause has the hint, and the report folds this finding into it.
            return _ELSEWHERE if known.decision is HintDecision.REPORT else known
        if tried.key in self._consequences:
            return _ELSEWHERE
        outcome = self._try_proposals(proposals, tried)
        if cause:
            self._outcomes_by_cause[tried.rule, cause] = outcome
        return outcome

    def _try_proposals(self, proposals: Proposals, finding: ComparedFinding) -> TrialOutcome:
        """Return the outcome of the trials of the changes: none to report if the budget does not allow all of them.

        One that was not tried might fit as well. So a large model has fewer hints than a small one, and no other ones.
        """
        if proposals.needs_no_trial:
            return self._outcome_without_trial(proposals)
        budget = self._models.budget
        if not budget.may_try(finding.rule):
            return _UNKNOWN
        options: Sequence[Proposal] = ()  # if the time is over before they are found
        with budget.time_limit():
            options = self._options_of(proposals)
        results: list[TrialResult] = []
        for index, proposal in enumerate(options):
            if _is_needless(proposal, results):
                break
            if not budget.may_try(finding.rule, _least_trials(options[index:])):
                return _UNKNOWN
            result = self._models.try_change(proposal, finding)
            if result is not None:
                results.append(result)
        if budget.is_time_over:
            return _UNKNOWN
        reported = _reported_results(results)
        if len(reported) == 1:
            self._note_consequences(reported[0], finding)
        if not reported:
            return TrialOutcome(HintDecision.NONE_FITS)
        return TrialOutcome(HintDecision.REPORT, tuple([each.proposal for each in reported]))

    def _outcome_without_trial(self, proposals: Proposals) -> TrialOutcome:
        """Return the outcome of changes that are proven already."""
        if self._left_without_trial <= 0:
            return _UNKNOWN
        self._left_without_trial -= 1
        options = tuple(self._options_of(proposals))
        return TrialOutcome(HintDecision.REPORT, options) if options else _UNKNOWN

    def _options_of(self, proposals: Proposals) -> Sequence[Proposal]:
        """Return the changes that are proposed; none after a crash."""
        with self._model.crashes.at("looking for a change that fixes a finding"):
            return proposals.options()
        return ()  # after a crash, which the context has recorded

    def _note_consequences(self, result: TrialResult, finding: ComparedFinding) -> None:
        """Record what the one change that is reported for a finding fixes as well."""
        also_fixes = [FindingKey(rule, clause, place.key) for rule, clause, place in result.proposal.also_fixes]
        self._consequences.add((*result.also_fixed, *also_fixes), finding.key)


def _compared(finding: Finding, rule: Rule) -> ComparedFinding:
    return ComparedFinding(rule.id, finding.clause or rule.clauses[0], finding.place, finding.count)


def _is_needless(proposal: Proposal, results: Sequence[TrialResult]) -> bool:
    """Return whether a change cannot alter the report any more, after these results of earlier ones."""
    return any(not each.uncovers_findings and (each.proposal.is_preferred or proposal.is_fallback) for each in results)


def _least_trials(options: Sequence[Proposal]) -> int:
    """Return how many of the options left must be tried at least, before any of them can be reported.

    A preferred one is reported alone. Others that fit are reported together, so all of the first one's kind must be
    tried: all that are no fallback, or all fallbacks.
    """
    if options[0].is_preferred:
        return 1
    return sum([each.is_fallback == options[0].is_fallback for each in options])


def _reported_results(results: Sequence[TrialResult]) -> Sequence[TrialResult]:
    """Return the results to report.

    1. If a preferred change adds no finding: that one.
    2. If other changes add none: all of them. None of them if they are more than MAX_PROPOSALS_IN_HINT, or if one of
       several must be the only one.
    3. Otherwise: a change that uncovers other findings, if only one is possible. Preferred changes exclude the others.
    """
    adding_none = [each for each in results if not each.uncovers_findings]
    if not adding_none:
        uncovering = [each for each in _preferred(results) or results if not each.proposal.must_add_no_finding]
        return uncovering if len(uncovering) == 1 else ()
    reported = _preferred(adding_none)[:1] or adding_none
    most = 1 if any(each.proposal.must_be_only for each in reported) else MAX_PROPOSALS_IN_HINT
    return reported if len(reported) <= most else ()


def _preferred(results: Sequence[TrialResult]) -> Sequence[TrialResult]:
    return [each for each in results if each.proposal.is_preferred]


# --- words


def _with_proposals(finding: Finding, proposals: Proposals, passed: Sequence[Proposal]) -> Finding:
    """Return the finding with the proposals that passed, in words."""
    words = proposals.sentence.format(listed([each.text for each in passed], "or"))
    notes = tuple(Related(*each.note) for each in passed if each.note is not None)
    finding = replace(finding, related=(*notes, *finding.related))
    if proposals.cause is not None:
        finding = replace(finding, cause=proposals.cause, is_cause_shared=True)
    if proposals.ends_message:
        return replace(finding, message=with_more(finding.message, words), hint=proposals.help_line or finding.hint)
    return replace(finding, hint=words)


def _without_proposals(finding: Finding, proposals: Proposals, hint: str | None = None) -> Finding:
    """Return the finding with what the proposals have for the case that none of them is reported, tried or not.

    `hint`: the hint, unless the finding has one or gets another fact.
    """
    cause = None if proposals.cause_if_none_fits is None else proposals.cause_if_none_fits()
    if cause is not None:
        finding = replace(finding, cause=cause, is_cause_shared=True)
    fact = None if proposals.otherwise is None else proposals.otherwise()
    if fact is not None:
        return replace(finding, message=with_more(finding.message, fact))
    return replace(finding, hint=finding.hint or hint)
