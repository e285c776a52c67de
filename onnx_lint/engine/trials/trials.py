# SPDX-License-Identifier: Apache-2.0
"""Tries the changes that findings propose on the whole model, so that a report shows only those that fix it.

`Trials` decides what is tried, and words the hints. `ChangedModels` checks the model before and after a change, within
a `TrialBudget`, and `trial_result` compares the two. `Consequences` has what a change fixes besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.engine.trials.changed_models import ChangedModels
from onnx_lint.engine.trials.compared_findings import ComparedFinding
from onnx_lint.engine.trials.consequences import Consequences
from onnx_lint.engine.trials.import_trial import ImportTrial
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


class TrialOutcome(Record):
    """The result of the trials for one finding, or for the findings with one cause."""

    passed: tuple[Proposal, ...] = ()
    """The changes to report."""
    is_conclusive: bool = False
    """True if no untried change could alter the report."""


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
        if outcome is None:
            return finding
        if outcome.passed:
            return _with_proposals(finding, proposals, outcome.passed)
        return _without_proposals(finding, proposals, is_conclusive=outcome.is_conclusive)

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
        cause = proposals.cause or ""
        if proposals.holds_in is not None and (trial is None or cause not in trial.texts):
            return finding
        if trial is None:
            unchecked = replace(proposals, sentence=proposals.sentence_if_unchecked)
            return _with_proposals(finding, unchecked, self._options_of(proposals))
        errors = self._models.uncovered_errors_at(finding.place)
        if errors:
            return replace(finding, hint=f"{trial.texts[cause]}; the node has a fault then: {errors[0]}")
        if not self._has_noted_imports:
            self._has_noted_imports = True
            self._consequences.add(trial.fixed, _compared(finding, rule).key)
        return _with_checked_import(finding, proposals, trial)

    # --- outcomes

    def _outcome_for(self, tried: ComparedFinding, cause: str | None, proposals: Proposals) -> TrialOutcome | None:
        """Return the outcome for a finding with a cause: a known one, or that of new trials.

        None if an earlier finding has the change in its place: the report folds this finding into that one, or the
        change for that one fixes this one as well.
        """
        if proposals.cause is not None:
            if proposals.cause not in self._outcomes_by_shared_cause:
                self._outcomes_by_shared_cause[proposals.cause] = self._try_proposals(proposals, tried)
            return self._outcomes_by_shared_cause[proposals.cause]
        known = self._outcomes_by_cause.get((tried.rule, cause)) if cause else None
        if known is not None:
            return None if known.passed else known
        if tried.key in self._consequences:
            return None
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
            return TrialOutcome()
        options: Sequence[Proposal] = ()
        with budget.time_limit():
            options = self._options_of(proposals)
        results: list[TrialResult] = []
        for index, proposal in enumerate(options):
            if _is_needless(proposal, results):
                break
            if not budget.may_try(finding.rule, _least_trials(options[index:])):
                return TrialOutcome()
            result = self._models.try_change(proposal, finding)
            if result is not None:
                results.append(result)
        if budget.is_time_over:
            return TrialOutcome()
        reported = _reported_results(results)
        if len(reported) == 1:
            self._note_consequences(reported[0], finding)
        return TrialOutcome(tuple([each.proposal for each in reported]), is_conclusive=True)

    def _outcome_without_trial(self, proposals: Proposals) -> TrialOutcome:
        """Return the outcome of changes that are proven already."""
        if self._left_without_trial <= 0:
            return TrialOutcome()
        self._left_without_trial -= 1
        return TrialOutcome(tuple(self._options_of(proposals)))

    def _options_of(self, proposals: Proposals) -> Sequence[Proposal]:
        """Return the changes that are proposed; none after a crash."""
        with self._model.crashes.at("looking for a change that fixes a finding"):
            return proposals.options()
        return ()

    def _note_consequences(self, result: TrialResult, finding: ComparedFinding) -> None:
        """Record what the one change that is reported for a finding fixes as well."""
        also_fixes = [(rule, clause, place.key) for rule, clause, place in result.proposal.also_fixes]
        self._consequences.add((*result.also_fixed, *also_fixes), finding.key)


def _compared(finding: Finding, rule: Rule) -> ComparedFinding:
    return ComparedFinding(rule.id, finding.clause or rule.clauses[0], finding.place, finding.count)


def _is_needless(proposal: Proposal, results: Sequence[TrialResult]) -> bool:
    """Return whether a change cannot alter the report any more, after these results of earlier ones."""
    return any(each.adds_none and (each.proposal.is_preferred or proposal.is_fallback) for each in results)


def _least_trials(options: Sequence[Proposal]) -> int:
    """Return how many of the options left must be tried at least, before any of them can be reported."""
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
    adding_none = [each for each in results if each.adds_none]
    if adding_none:
        preferred = [each for each in adding_none if each.proposal.is_preferred]
        reported = preferred[:1] or adding_none
        must_be_one = any(each.proposal.must_be_only for each in reported)
        return reported if len(reported) <= (1 if must_be_one else MAX_PROPOSALS_IN_HINT) else ()
    uncovering = [each for each in results if each.proposal.is_preferred] or results
    uncovering = [each for each in uncovering if not each.proposal.must_add_no_finding]
    return uncovering if len(uncovering) == 1 else ()


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


def _without_proposals(finding: Finding, proposals: Proposals, *, is_conclusive: bool) -> Finding:
    """Return the finding with what the proposals have for the case that none of them is reported, tried or not."""
    cause = None if proposals.cause_if_none_fits is None else proposals.cause_if_none_fits()
    if cause is not None:
        finding = replace(finding, cause=cause, is_cause_shared=True)
    fact = None if proposals.otherwise is None else proposals.otherwise()
    if fact is not None:
        return replace(finding, message=with_more(finding.message, fact))
    return replace(finding, hint=finding.hint or proposals.if_none_fits) if is_conclusive else finding


def _with_checked_import(finding: Finding, proposals: Proposals, trial: ImportTrial) -> Finding:
    """Return the finding with an import with which the model was checked, and with what the import uncovers."""
    cause = proposals.cause or ""
    sentence = proposals.sentence_if_unchecked if trial.uncovered_errors else proposals.sentence
    hint = sentence.format(trial.texts[cause]) + trial.uncovered_in_words
    return replace(finding, hint=hint, cause=cause, is_cause_shared=True)
