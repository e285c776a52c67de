# SPDX-License-Identifier: Apache-2.0
"""The errors and warnings that a trial compares: those of the model before a change, and those after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from itertools import islice
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import has_subject, presence, question_of
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.trials.node_lookup import NodeKey, NodeLookup
from onnx_lint.engine.trials.proposed_changes import ProposedChanges
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.model import Model
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity

TOO_MANY_CAUSES: Final = 200
"""With so many causes of findings, no change is tried: a single change would be of little help."""

MAX_COMPARED_PER_RULE: Final = 5_000
"""The most findings of a rule that are compared."""

_CHAPTERS: Final = frozenset(
    {
        "attribute",
        "function",
        "graph",
        "initializer",
        "name",
        "node",
        "opset",
        "quantization",
        "shape",
        "signature",
        "subgraph",
        "value-info",
        "versioning",
    }
)
"""The chapters of the rules that a change of a node or a name can concern."""

RuleAndClause = tuple[str, str]


class FindingKey(Record):
    """Identifies a finding in one model."""

    rule: str
    clause: str
    place: PlaceKey


class ComparedFinding(Record):
    """An error or a warning."""

    rule: str
    clause: str
    place: Place
    count: int
    """The number of mistakes that it reports."""
    message: str = ""
    user: Place | None = None
    """The node that makes the value wrong, see `Finding.user`."""

    @property
    def node_place(self) -> Place:
        """The node that makes the value wrong, if the place is outside of it: that of an initializer."""
        return self.user or self.place

    @property
    def rule_and_clause(self) -> RuleAndClause:
        """The rule and the clause."""
        return self.rule, self.clause

    @property
    def key(self) -> FindingKey:
        """The key of the finding."""
        return FindingKey(self.rule, self.clause, self.place.key)


class ComparedFindings:
    """The errors and warnings in a model, each with the node around it."""

    def __init__(self, model: Model) -> None:
        self.nodes = NodeLookup(model)
        self.items: list[ComparedFinding] = []
        self.proposed = ProposedChanges()
        """The changes that findings of any severity propose."""

    @property
    def fixable_nodes(self) -> set[NodeKey | None]:
        """The nodes whose operands do not fit, but would fit after a change of the node."""
        return {self.nodes.key_at(place) for place in self.proposed.fixable_places()}

    def counts(self, without: Set[NodeKey] = frozenset()) -> Counter[RuleAndClause]:
        """Return the number of mistakes by rule and clause. Those at the nodes of `without` are left out."""
        found: Counter[RuleAndClause] = Counter()
        for item in self.items:
            if not without or self.nodes.key_at(item.node_place) not in without:
                found[item.rule_and_clause] += item.count
        return found

    def has(self, rule_and_clause: RuleAndClause, node: NodeKey) -> bool:
        """Return whether a node has a finding of this rule and clause."""
        return any(
            item.rule_and_clause == rule_and_clause and self.nodes.key_at(item.node_place) == node
            for item in self.items
        )


def compared_findings(model: Model) -> ComparedFindings | None:
    """Return the errors and warnings of the rules on graphs; None if they have too many causes.

    They have the usual severities, whatever the settings of the run are: the selection of rules does not change a hint.
    """
    found = ComparedFindings(model)
    causes = set()
    usual = Settings(standard=model.standard)
    for entry in _rules(model, usual):
        check_deadline()
        for finding in islice(entry.rule.check(model), MAX_COMPARED_PER_RULE):
            clause = finding.clause or entry.clauses[0]
            found.proposed.add(entry.id, finding)
            if _is_compared(entry, clauses()[clause], usual):
                item = ComparedFinding(entry.id, clause, finding.place, finding.count, finding.message, finding.user)
                found.items.append(item)
                causes.add((entry.id, finding.cause or finding.place))
        if len(causes) >= TOO_MANY_CAUSES:
            return None
    return found


def _rules(model: Model, usual: Settings) -> Iterator[Registered]:
    """Yield the rules on graphs that have something to check in the model, without those that only report notes.

    The latter propose no changes.
    """
    held = KINDS[model.kind].holds
    for entry in registry().values():
        if entry.chapter not in _CHAPTERS or entry.plugin is not None or entry.needs not in held:
            continue
        if any(_is_compared(entry, clauses()[clause], usual) for clause in entry.clauses):
            question = None if entry.about is None else question_of(entry.about)
            if has_subject(model, question):
                yield entry


def _is_compared(entry: Registered, clause: Clause, usual: Settings) -> bool:
    """Return whether a report with the usual settings lists findings of the clause as more than notes."""
    level = severity(clause, usual.standard.edition)
    return level is not None and level >= Severity.WARNING and presence(entry, clause, usual) == "listed"
