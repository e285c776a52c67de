# SPDX-License-Identifier: Apache-2.0
"""Tries the changes that findings propose on the whole model, so that a report shows only those that fix it.

`Trials` decides what is tried, and words the hints. `compared_findings` checks the model before and after a change, and
`trial_result` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.deadline import SubDeadline, seconds_used
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.compared_findings import ComparedFinding, ComparedFindings, FindingKey, compared_findings
from onnx_lint.engine.import_trial import MAX_CHECKS, ImportTrial, import_trial
from onnx_lint.engine.trial_result import TrialResult, trial_result
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource, ReadError, Source
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.edits import Edit
from onnx_lint.ir.places.splices import EditError, Splicer
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.model.model import reloaded
from onnx_lint.report.findings import Diagnostic, Folding
from onnx_lint.rule import Finding, Related, Rule
from onnx_lint.wording import listed, with_more

MAX_PARTS: Final = 200_000
"""The most parts of a model for which changes are tried. Its parts are the nodes, inputs and initializers.

Costs are measured in parts: the time in which a run checks one of them.
"""

START_COST: Final = 12_000
"""The cost of starting a run, in parts."""

TRIAL_COST: Final = 375
"""The cost of a trial in the smallest model, in parts."""

FINDING_COST: Final = 10
"""The cost of one finding of the model in each trial, in parts."""

MAX_TRIALS: Final = 15
"""The most trials of a model."""

MAX_WITHOUT_TRIAL: Final = 1_000
"""The most findings of a model whose proposals are reported without a trial."""

MIN_SECONDS: Final = 1.0
"""The processor time that all trials together may take, however short the first pass is."""

MAX_PASSES: Final = 2
"""The most processor time of all trials together, in first passes until the first trial.

It limits them if a changed model takes unusually long, for example because an undefined name had hidden most of it.
"""

MAX_PROPOSALS_IN_HINT: Final = 2
"""The most changes that a hint offers. If more fix the model, it offers none."""


class TrialOutcome(Record):
    """What became of the proposals for one finding, or for the findings with one cause."""

    passed: tuple[Proposal, ...] = ()
    """The changes to report."""
    are_all_tried: bool = False
    """True if each change was tried, or enough to know the one to report."""


class Trials:
    """The trials of one model. Together they take no longer than the start of the run, or than the first pass.

    `most_trials` has the costs.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._seconds_left = max(MIN_SECONDS, MAX_PASSES * seconds_used())
        self._left_without_trial = MAX_WITHOUT_TRIAL
        self._outcomes_by_shared_cause: dict[str, TrialOutcome] = {}
        """The outcomes of proposals that several findings share, by the cause in the proposals."""
        self._outcomes_by_cause: dict[tuple[str, str], TrialOutcome] = {}
        """The outcomes for the first finding of each rule and cause. The report folds the others into one."""
        self._consequences: dict[FindingKey, FindingKey] = {}
        """The findings that the reported change for another finding fixes as well, and that other finding."""
        self._has_noted_imports = False
        """True after the first finding with an import, which all findings that the imports fix belong to."""

    def with_hints(self, finding: Finding, rule: Rule) -> Finding:
        """Return the finding with the proposals that fix it as its hint or in its message, and without the others."""
        proposals = finding.proposals
        if proposals is None:
            return finding
        finding = replace(finding, proposals=None)
        if proposals.is_import:
            return self._with_import(finding, proposals, rule)
        outcome = self._outcome_for(finding, proposals, rule)
        if outcome is None:
            return finding
        if outcome.passed:
            return _with_proposals(finding, proposals, outcome.passed)
        return _without_proposals(finding, proposals, are_all_tried=outcome.are_all_tried)

    def with_causes(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the diagnostics. If the change reported for one fixes others as well, all of them get one cause."""
        items = list(diagnostics)
        by_key = {_key_of(item): item for item in items}
        cause_of_consequence: dict[FindingKey, str] = {}
        cause_of_group: dict[object, str] = {}
        for consequence, origin in self._consequences.items():
            item, first = by_key.get(consequence), by_key.get(origin)
            if item is None or first is None or item.severity != first.severity:
                continue
            known = first.folding.cause
            own = f"{first.rule} {first.clause} {known or first.place}"
            cause = known if known and first.folding.is_shared else own
            if item.folding.cause != cause:
                cause_of_consequence[consequence] = cause
                cause_of_group.setdefault(_group_of(first), own)
        if not cause_of_consequence:
            return items
        return [_with_cause(item, cause_of_consequence, cause_of_group) for item in items]

    def release(self) -> None:
        """Release the model with other imports, if it was checked."""
        trial = vars(self).pop("_import_trial", None)
        if trial is not None:
            trial.model.release()

    # --- imports

    def _with_import(self, finding: Finding, proposals: Proposals, rule: Rule) -> Finding:
        """Return a finding with the import that its node needs, whose cause it has.

        If the import uncovers an error of the node, the finding keeps its own cause and says so.
        """
        trial = self._import_trial
        cause = proposals.cause or ""
        if proposals.holds_in is not None and (trial is None or cause not in trial.texts):
            return finding
        if trial is None or self._unchanged is None:
            unchecked = replace(proposals, sentence=proposals.sentence_if_unchecked)
            return _with_proposals(finding, unchecked, self._options_of(proposals))
        node = self._unchanged.nodes.key_at(finding.place)
        if node is not None and node in trial.left:
            return replace(finding, hint=f"{trial.texts[cause]}; the node has a fault then: {trial.left[node][0]}")
        if not self._has_noted_imports:
            self._has_noted_imports = True
            for fixed in trial.fixed:
                self._consequences.setdefault(fixed, (rule.id, finding.clause or rule.clauses[0], finding.place.key))
        sentence = proposals.sentence_if_unchecked if trial.left else proposals.sentence
        hint = sentence.format(trial.texts[cause]) + trial.uncovered
        return replace(finding, hint=hint, cause=cause, is_cause_shared=True)

    @cached_property
    def _import_trial(self) -> ImportTrial | None:
        """What is known of the model with the imports that it needs; None if it needs none or there are no trials."""
        found = self._unchanged
        if found is None or not found.imports or not self._most_trials:
            return None
        trial = None
        part = SubDeadline(self._seconds_left)
        with part, self._model.crashes.at("trying an import"):
            trial = import_trial(found, self._model.operators, self._changed_model, self._most_trials)
        self._seconds_left -= part.used
        return trial

    # --- outcomes

    def _outcome_for(self, finding: Finding, proposals: Proposals, rule: Rule) -> TrialOutcome | None:
        """Return the outcome for a finding: a known one, or that of new trials.

        None if the change that an earlier finding proposes fixes this one as well.
        """
        tried = ComparedFinding(rule.id, finding.clause or rule.clauses[0], finding.place, finding.count)
        if proposals.cause is not None:
            if proposals.cause not in self._outcomes_by_shared_cause:
                self._outcomes_by_shared_cause[proposals.cause] = self._try_proposals(proposals, tried)
            return self._outcomes_by_shared_cause[proposals.cause]
        if finding.cause:
            known = self._outcomes_by_cause.get((rule.id, finding.cause))
            if known is not None:
                return None if known.passed else known
        if tried.key in self._consequences:
            return None
        outcome = self._try_proposals(proposals, tried)
        if finding.cause:
            self._outcomes_by_cause[rule.id, finding.cause] = outcome
        return outcome

    def _try_proposals(self, proposals: Proposals, finding: ComparedFinding) -> TrialOutcome:
        """Return the outcome of the trials of each change, as far as there are trials left."""
        if proposals.needs_no_trial:
            return self._outcome_without_trial(proposals)
        if self._left.get(finding.rule, 0) <= 0:
            return TrialOutcome()
        results: list[TrialResult] = []
        are_all_tried = True
        for proposal in self._options_of(proposals):
            if self._left.get(finding.rule, 0) <= 0:
                are_all_tried = False
                break
            if proposal.is_fallback and any(each.adds_none for each in results):
                break
            result = self._run_trial(proposal, finding)
            if result is not None and result.adds_none and proposal.is_preferred:
                results = [result]
                break
            if result is not None:
                results.append(result)
            elif not self._left:  # the time was up
                are_all_tried = False
        reported = _to_report(results)
        if len(reported) == 1:
            self._note_consequences(reported[0], finding)
        return TrialOutcome(tuple([each.proposal for each in reported]), are_all_tried)

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
        for consequence in (*result.also_fixed, *also_fixes):
            self._consequences.setdefault(consequence, finding.key)

    # --- single trials

    @cached_property
    def _left(self) -> dict[str, int]:
        """The number of trials that each rule has left; empty after the time of all trials is up.

        All rules that propose changes share the trials, also those that are not selected: the selection of rules does
        not change a hint.
        """
        if self._unchanged is None:
            return {}
        rules = self._unchanged.proposing_rules
        trials = self._most_trials - MAX_CHECKS if self._unchanged.imports else self._most_trials
        share, rest = divmod(max(trials, 0), len(rules) or 1)
        return {rule: share + (number < rest) for number, rule in enumerate(rules)}

    @cached_property
    def _most_trials(self) -> int:
        return 0 if self._unchanged is None else most_trials(self._model, len(self._unchanged.items))

    @cached_property
    def _unchanged(self) -> ComparedFindings | None:
        """The findings in the model without a change; None if they have too many causes."""
        return compared_findings(self._model)

    @cached_property
    def _before(self) -> ComparedFindings | None:
        """The findings that a change is compared with: those that the imports leave which the model needs anyway."""
        return self._unchanged if self._import_trial is None else self._import_trial.findings

    def _run_trial(self, proposal: Proposal, finding: ComparedFinding) -> TrialResult | None:
        """Try a change within the time that is left; see `_check_changed_model`. None also after a crash.

        If the time is up, no rule has trials left.
        """
        self._left[finding.rule] -= 1
        result = None
        part = SubDeadline(self._seconds_left)
        with part, self._model.crashes.at("trying a change"):
            result = self._check_changed_model(proposal, finding)
        self._seconds_left -= part.used
        if part.is_over:
            self._left.clear()
        return result

    def _check_changed_model(self, proposal: Proposal, finding: ComparedFinding) -> TrialResult | None:
        """Return what the change fixes; None if it does not fix the finding, or if it causes another one."""
        imports = () if self._import_trial is None else self._import_trial.edits
        edits = [*imports, *proposal.edits(self._model.operators)]
        changed = self._changed_model(edits)
        if changed is None:
            return None
        try:
            after = compared_findings(changed) if changed.loaded else None
            if self._before is None or after is None:
                return None
            return trial_result(proposal, edits, finding, self._before, after)
        finally:
            changed.release()

    def _changed_model(self, edits: Sequence[Edit]) -> Model | None:
        """Return the model after a change; None if it cannot be made."""
        try:
            splices = self._splicer.splices_of(edits)
            patches = [each.patch for each in self._splicer.with_lengths(splices)]
            return reloaded(self._model, load, unpatched(self._source).patched(patches))
        except (EditError, ReadError):
            return None

    @cached_property
    def _source(self) -> Source:
        """The serialized document."""
        model = self._model
        return model.source if model.form == "binary" else BytesSource(schema.serialized(model.document))

    @cached_property
    def _splicer(self) -> Splicer:
        return Splicer(self._source, self._model.kind)


def most_trials(model: Model, findings: int = 0) -> int:
    """Return how many trials cost as much as the start of the run; at least one, and 0 for a very large model.

    One trial costs less than the first pass, so it is within the time of the first pass where that is longer than the
    start. `findings`: the number of findings in the model, which each trial finds again.

    A node counts once for each time that the first pass inferred it, such as a node of a function for several calls.
    """
    graphs = model.graphs
    nodes = sum(len(graph.node_inputs) for graph in graphs)
    parts = nodes + sum(len(graph.input_names) + len(graph.initializer_names) for graph in graphs)
    if parts > MAX_PARTS:
        return 0
    parts += model.value_flow.nodes_walked_again
    cost = parts + TRIAL_COST + findings * FINDING_COST
    return min(max(START_COST // cost, 1), MAX_TRIALS)


def _to_report(results: Sequence[TrialResult]) -> Sequence[TrialResult]:
    """Return the changes to report: those that add no finding.

    If there are none, the only one, or the only preferred one, that uncovers others. Of too many none.
    """
    adding_none = [each for each in results if each.adds_none]
    if adding_none:
        return adding_none if len(adding_none) <= MAX_PROPOSALS_IN_HINT else ()
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


def _without_proposals(finding: Finding, proposals: Proposals, *, are_all_tried: bool) -> Finding:
    """Return the finding with what the proposals have for the case that none of them passes."""
    cause = None if proposals.cause_if_none_fits is None else proposals.cause_if_none_fits()
    if cause is not None:
        finding = replace(finding, cause=cause, is_cause_shared=True)
    fact = None if proposals.otherwise is None else proposals.otherwise()
    if fact is not None:
        return replace(finding, message=with_more(finding.message, fact))
    return replace(finding, hint=finding.hint or proposals.if_none_fits) if are_all_tried else finding


# --- causes


def _key_of(item: Diagnostic) -> FindingKey:
    return item.rule, item.clause, item.at.key


def _group_of(item: Diagnostic) -> object:
    """Return the key of the group that a diagnostic is in: those of one rule and clause with one cause."""
    return item.rule, item.clause, item.severity, item.folding.cause or _key_of(item)


def _with_cause(
    item: Diagnostic, cause_of_consequence: Mapping[FindingKey, str], cause_of_group: Mapping[object, str]
) -> Diagnostic:
    """Return a diagnostic with its new cause, if it has one."""
    own = cause_of_consequence.get(_key_of(item))
    cause = own or cause_of_group.get(_group_of(item))
    if cause is None or (item.folding.is_shared and own is None):
        return item
    return replace(item, folding=Folding(cause, is_shared=True, is_consequence=own is not None))
