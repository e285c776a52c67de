# SPDX-License-Identifier: Apache-2.0
"""Compares the findings before and after a change: whether it fixes one finding, and which others it fixes as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from enum import Enum, auto
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.engine.registry import registry
from onnx_lint.engine.trials.compared_findings import ComparedFinding, ComparedFindings, FindingKey, RuleAndClause
from onnx_lint.engine.trials.node_lookup import NodeKey
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.ir.places.edits import Edit

_DECLARATION_CHAPTER: Final = "value-info"
"""The chapter of the rules that compare declarations with each other, and not with what is inferred."""

_ABOUT_TYPES: Final = "has_type_conflicts"
"""What the rules on types are about, see `Registered.about`."""


class Effect(Enum):
    """What a change does to the findings of a model."""

    REJECTED = auto()
    """It does not fix the finding, or causes another one."""
    FIXES = auto()
    """It fixes the finding, and no finding is new."""
    UNCOVERS = auto()
    """It fixes the finding. New findings are at nodes that could not be checked before."""


class TrialResult(Record):
    """A change that fixes a finding."""

    proposal: Proposal
    uncovers_findings: bool
    """True if findings are new, at nodes that could not be checked before. False if no finding is new."""
    also_fixed: tuple[FindingKey, ...]
    """The other findings that it fixes. If it uncovers others, only those of the same rule."""


class Trial(Record):
    """A change that is tried for a finding, and the findings before and after it."""

    proposal: Proposal
    edits: Sequence[Edit]
    finding: ComparedFinding
    before: ComparedFindings
    after: ComparedFindings

    def result(self) -> TrialResult | None:
        """Return what the change fixes; None if it does not fix the finding, or if it causes another one."""
        effect = self._effect()
        if effect is Effect.REJECTED:
            return None
        uncovers_findings = effect is Effect.UNCOVERS
        also_fixed = [
            item.key
            for item in fixed_findings(self.before, self.after)
            if (item.rule == self.finding.rule or not uncovers_findings)
            and item.place != self.finding.place
            and (_is_about_types(item.rule) or not self.proposal.leaves_out_numbers)
        ]
        return TrialResult(self.proposal, uncovers_findings, tuple(also_fixed))

    # --- the effect on the finding and on new ones

    def _effect(self) -> Effect:
        before, after = self.before, self.after
        if self._fixes_and_adds_none(before.counts(), after.counts()):
            return Effect.FIXES
        changed = self._changed_nodes()
        uncovered = self._uncovered_nodes(changed)
        # The changed nodes keep their old findings, also if the change uncovers them: the one to fix is among these.
        not_checked_before = uncovered - changed
        counts, counts_after = before.counts(without=not_checked_before), after.counts(without=uncovered)
        return Effect.UNCOVERS if uncovered and self._fixes_and_adds_none(counts, counts_after) else Effect.REJECTED

    def _fixes_and_adds_none(self, counts: Counter[RuleAndClause], counts_after: Counter[RuleAndClause]) -> bool:
        """Return whether the change fixes the finding, and no rule and clause has more mistakes than before."""
        key = self.finding.rule_and_clause
        return not counts_after - counts and counts[key] - counts_after[key] >= self.finding.count

    def _changed_nodes(self) -> Set[NodeKey | None]:
        """Return the node of the finding, and those that the change edits."""
        return {self.before.nodes.key_at(place) for place in (self.finding.place, *(each.place for each in self.edits))}

    def _uncovered_nodes(self, changed: Set[NodeKey | None]) -> set[NodeKey]:
        """Return the nodes with findings after the change that could not be checked before it.

        They have inputs which were unknown. A changed node is only among them if the proposal tolerates that.
        """
        judged = changed - self.after.fixable_nodes if self.proposal.tolerates_fixable_finding else changed
        uncovered = set(_nodes_with_new_facts(self.before, self.after)) - judged
        own_node = self.before.nodes.key_at(self.finding.place)
        is_own_checked = own_node is not None and not self.after.has(self.finding.rule_and_clause, own_node)
        if self.proposal.uncovers_own_node and own_node is not None and is_own_checked:
            uncovered.add(own_node)
        return uncovered


def _nodes_with_new_facts(before: ComparedFindings, after: ComparedFindings) -> Iterator[NodeKey]:
    """Yield the nodes with findings after a change that have inputs which were unknown before it."""
    for place in {item.node_place for item in after.items}:
        node = after.nodes.key_at(place)
        if node is not None and _is_more_known(before.nodes.inputs_of(node), after.nodes.inputs_at(place)):
            yield node


def _is_more_known(before: Sequence[Fact], after: Sequence[Fact]) -> bool:
    """Return whether a type, shape or dimension became known, and none changed.

    A change may give a node more inputs or fewer. Only those that it had before and has after it are compared.
    """
    pairs = list(zip(before, after, strict=False))
    return any(one.bare is not other.bare for one, other in pairs) and all(_is_kept(*pair) for pair in pairs)


def _is_kept(before: Fact, after: Fact) -> bool:
    """Return whether each type, shape and dimension that was known is the same."""
    if before.kind not in (None, after.kind):
        return False
    if before.shape is None or after.shape is None:
        return before.shape is None
    if len(before.shape) != len(after.shape):
        return False
    return all(one in (None, other) for one, other in zip(before.shape, after.shape, strict=True))


# --- other findings that are fixed


def fixed_findings(before: ComparedFindings, after: ComparedFindings) -> Iterator[ComparedFinding]:
    """Yield the findings that a change certainly fixes. A finding is not certainly fixed if

    - its rule reports a new finding, because the old one may have moved there;
    - it is outside of nodes, and its rule still reports any finding;
    - less is known after the change about the values that it concerns.
    """
    known = {(item.rule_and_clause, before.nodes.key_at(item.place)) for item in before.items}
    left = {(item.rule_and_clause, after.nodes.key_at(item.place)): item.rule for item in after.items}
    rules_with_new = {rule for finding, rule in left.items() if finding not in known}
    rules_left = set(left.values())
    for item in before.items:
        node = before.nodes.key_at(item.place)
        doubtful_rules = rules_left if node is None else rules_with_new
        if item.rule in doubtful_rules or (item.rule_and_clause, node) in left:
            continue
        values = before.nodes.values_at(item.place)
        # If the changed model does not have the graph, it has no facts to compare.
        facts = zip(before.nodes.facts_of(*values), after.nodes.facts_of(*values), strict=False)
        if all(_is_still_known(one, other, item.rule) for one, other in facts):
            yield item


def _is_still_known(before: Fact, after: Fact, rule: str) -> bool:
    """Return whether at least as much is known about a value as before: about its type alone, for a rule on types."""
    if before.kind is not None and after.kind is None:
        return False
    if _is_about_types(rule) or before.shape is None:
        return True
    if after.shape is None or (before.content is not None and after.content is None):
        return False
    return _known_dims(after.shape) >= _known_dims(before.shape)


def _known_dims(shape: Sequence[Dim]) -> int:
    """Return how many dimensions are numbers."""
    return sum([isinstance(each, int) for each in shape])


def _is_about_types(rule: str) -> bool:
    """Return whether a rule reports what follows from types or declarations alone, whatever the numbers are.

    `tests/engine/trials/test_result.py` lists these rules.
    """
    entry = registry()[rule]
    return entry.chapter == _DECLARATION_CHAPTER or entry.about == _ABOUT_TYPES
