# SPDX-License-Identifier: Apache-2.0
"""Compares the findings before and after a change: whether it fixes one finding, and which others it fixes as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import Final, Literal

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

SideEffect = Literal["nothing new", "uncovers findings"]
"""What a change that fixes a finding does besides.

`nothing new`: no finding is new. `uncovers findings`: the new ones are at nodes that could not be checked before.
"""


class TrialResult(Record):
    """A change that fixes a finding."""

    proposal: Proposal
    side_effect: SideEffect
    also_fixed: tuple[FindingKey, ...]
    """The other findings that it fixes. If it uncovers others, only those of the same rule."""

    @property
    def adds_none(self) -> bool:
        """True if no finding is new."""
        return self.side_effect == "nothing new"


def trial_result(
    proposal: Proposal,
    edits: Sequence[Edit],
    finding: ComparedFinding,
    before: ComparedFindings,
    after: ComparedFindings,
) -> TrialResult | None:
    """Return what a change fixes; None if it does not fix the finding, or if it causes another one."""
    side_effect = _side_effect(proposal, edits, finding, before, after)
    if side_effect is None:
        return None
    also_fixed = [
        item.key
        for item in fixed_findings(before, after)
        if (side_effect == "nothing new" or item.rule == finding.rule)
        and item.place != finding.place
        and (_is_about_types(item.rule) or not proposal.leaves_out_numbers)
    ]
    return TrialResult(proposal, side_effect, tuple(also_fixed))


# --- the effect on the finding and on new ones


def _side_effect(
    proposal: Proposal,
    edits: Sequence[Edit],
    finding: ComparedFinding,
    before: ComparedFindings,
    after: ComparedFindings,
) -> SideEffect | None:
    """Return what a change that fixes the finding does besides; None if it does not fix it, or causes another one."""
    if _fixes_and_adds_none(finding, before.counts(), after.counts()):
        return "nothing new"
    own_node = before.nodes.key_at(finding.place)
    changed = {own_node, *(before.nodes.key_at(each.place) for each in edits)}
    judged = changed - after.fixable_nodes if proposal.tolerates_fixable_finding else changed
    uncovered = _uncovered_nodes(before, after, except_for=judged)
    if proposal.uncovers_own_node and own_node is not None and not after.has(finding.rule_and_clause, own_node):
        uncovered.add(own_node)
    counts, counts_after = before.counts(uncovered - changed), after.counts(uncovered)
    return "uncovers findings" if uncovered and _fixes_and_adds_none(finding, counts, counts_after) else None


def _fixes_and_adds_none(
    finding: ComparedFinding, counts: Counter[RuleAndClause], counts_after: Counter[RuleAndClause]
) -> bool:
    """Return whether the findings became fewer by this one, and none more."""
    key = finding.rule_and_clause
    return not counts_after - counts and counts[key] - counts_after[key] >= finding.count


def _uncovered_nodes(
    before: ComparedFindings, after: ComparedFindings, except_for: Set[NodeKey | None]
) -> set[NodeKey]:
    """Return the nodes with findings after a change that have inputs which were unknown before it."""
    found = set()
    for place in {item.node_place for item in after.items}:
        node = after.nodes.key_at(place)
        if node is None or node in except_for or node in found:
            continue
        if _is_more_known(before.nodes.inputs_of(node), after.nodes.inputs_at(place)):
            found.add(node)
    return found


def _is_more_known(before: Sequence[Fact], after: Sequence[Fact]) -> bool:
    """Return whether a type, shape or dimension became known, and none changed."""
    pairs = list(zip(before, after, strict=False))
    return any(one.bare is not other.bare for one, other in pairs) and all(_is_kept(*pair) for pair in pairs)


def _is_kept(before: Fact, after: Fact) -> bool:
    """Return whether each type, shape and dimension that was known is the same."""
    if before.kind not in (None, after.kind):
        return False
    if before.shape is None or after.shape is None:
        return before.shape is None
    dims = zip(before.shape, after.shape, strict=False)
    return len(before.shape) == len(after.shape) and all(one in (None, other) for one, other in dims)


# --- other findings that are fixed


def fixed_findings(before: ComparedFindings, after: ComparedFindings) -> Iterator[ComparedFinding]:
    """Yield the findings that a change certainly fixes. A finding is not certainly fixed if

    - its rule reports a new finding, because the old one may have moved there;
    - it is outside of nodes, and its rule still reports any finding;
    - less is known after the change about the values that it concerns.
    """
    known = {(item.rule_and_clause, before.nodes.key_at(item.place)) for item in before.items}
    left = {(item.rule_and_clause, after.nodes.key_at(item.place)) for item in after.items}
    rules_with_new = {rule for (rule, _), _ in left - known}
    rules_left = {rule for (rule, _), _ in left}
    for item in before.items:
        node = before.nodes.key_at(item.place)
        doubtful_rules = rules_left if node is None else rules_with_new
        if item.rule in doubtful_rules or (item.rule_and_clause, node) in left:
            continue
        values = before.nodes.values_at(item.place)
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
    """Return whether a rule reports what follows from types or declarations alone, whatever the numbers are."""
    entry = registry()[rule]
    return entry.chapter == _DECLARATION_CHAPTER or entry.about == "has_type_conflicts"
