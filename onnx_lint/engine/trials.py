# SPDX-License-Identifier: Apache-2.0
"""Tries the changes that findings propose on the whole model, so that a report shows only those that fix it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.deadline import Briefly, check_deadline
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import has_subject, presence, question_of
from onnx_lint.engine.settings import Settings
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource, ReadError, Source
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.edits import Edit
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError, Splicer
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.model.model import reloaded
from onnx_lint.report.findings import Diagnostic, Folding
from onnx_lint.rule import Finding, Related, Rule
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity
from onnx_lint.wording import listed, with_more

MAX_PARTS: Final = 200_000
"""The most parts of a model for which changes are tried. Its parts are the nodes, inputs and initializers."""

PARTS_OF_START: Final = 6_000
"""The parts that a run checks in less time than it needs to begin."""

PARTS_OF_TRIAL: Final = 375
"""The parts that a run checks in the time of a trial in the smallest model."""

PARTS_OF_FAULT: Final = 10
"""The parts that a run checks in the time that a trial needs for a finding of the model."""

MAX_FINDINGS: Final = 200
"""From this number of causes on, no change is tried: a single change would be of little help."""

MAX_FAULTS: Final = 5_000
"""The most findings of a rule that a trial counts."""

MAX_CERTAIN: Final = 1_000
"""The most proposals of a model that are reported without a trial."""

SECONDS: Final = 5
"""The most processor time of all trials together. It limits them if a model takes unusually long for its parts."""

MAX_SHOWN: Final = 2
"""The most changes that a hint offers."""

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

_OF_DECLARATIONS: Final = "value-info"
"""The chapter of the rules that compare declarations with each other, and not with what is inferred."""

RuleAndClause = tuple[str, str]
"""The rule and the clause of a fault."""

FaultAt = tuple[str, str, PlaceKey]
"""The rule, the clause and the place of a fault."""


class Trials:
    """The trials of one model. Together they check no more parts than the first pass, so that they take no longer."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._seconds = float(SECONDS)
        self._certain_left = MAX_CERTAIN
        self._has_passed: dict[tuple[str, str], bool] = {}
        """By rule and cause of the findings whose proposals were tried: whether one passed. Others are folded."""
        self._passed_by_cause: dict[str, list[Proposal]] = {}
        """The passed proposals that several findings share, by the cause in the proposals."""
        self._consequences: dict[FaultAt, FaultAt] = {}
        """The faults that the reported change of another fault fixes as well, and that other fault."""
        self._are_all_tried = False
        """True if each change of the latest proposals was tried."""

    @cached_property
    def _left(self) -> dict[str, int]:
        """The number of trials that each rule has left.

        All rules that propose changes share the trials, also those that are not selected: the selection of rules does
        not change a hint.
        """
        if self._before is None:
            return {}
        proposing = self._before.proposing()
        share, rest = divmod(most_trials(self._model, len(self._before.faults)), len(proposing) or 1)
        return {rule: share + (number < rest) for number, rule in enumerate(proposing)}

    def with_hints(self, finding: Finding, rule: Rule) -> Finding:
        """Return the finding with the proposals that fix it as its hint or in its message, and without the others."""
        proposals = finding.proposals
        if proposals is None:
            return finding
        kind = (rule.id, finding.clause or rule.clauses[0])
        finding = replace(finding, proposals=None)
        if proposals.cause is not None:
            if proposals.cause not in self._passed_by_cause:
                self._passed_by_cause[proposals.cause] = self._passed(proposals, kind, finding)
            passed = self._passed_by_cause[proposals.cause]
        elif finding.cause and (rule.id, finding.cause) in self._has_passed:
            passed = []
            if self._has_passed[rule.id, finding.cause]:
                proposals = replace(proposals, cause_if_none_fits=None, otherwise=None)
        elif (*kind, finding.place.key) in self._consequences:
            return finding
        else:
            passed = self._passed(proposals, kind, finding)
            self._has_passed[rule.id, finding.cause or ""] = bool(passed)
        if not passed:
            return _without_proposals(finding, proposals, are_all_tried=self._are_all_tried)
        return _with_proposals(finding, proposals, passed)

    def with_causes(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the diagnostics. A fault that the reported change of another one fixes has the cause of that one."""
        items = list(diagnostics)
        by_fault = {_fault_of(item): item for item in items}
        causes: dict[object, str] = {}
        for consequence, origin in self._consequences.items():
            item, first = by_fault.get(consequence), by_fault.get(origin)
            if item is None or first is None or item.severity != first.severity:
                continue
            known = first.folding.cause
            own = f"{first.rule} {first.clause} {known or first.place}"
            cause = known if known and first.folding.is_shared else own
            if item.folding.cause != cause:
                causes[consequence] = cause
                causes.setdefault(_group_of(first), own)
        if not causes:
            return items
        return [_with_cause(item, causes) for item in items]

    def _passed(self, proposals: Proposals, kind: RuleAndClause, finding: Finding) -> list[Proposal]:
        """Return the changes that fix the finding and cause no new fault.

        If there are none, return the one change that fixes it and only shows faults that it had hidden.
        """
        if proposals.is_certain:
            return self._certain(proposals)
        found = self._tried_in_turn(proposals, kind, finding)
        whole = [each for each in found if each.is_whole]
        others = [each for each in found if each.proposal.is_preferred] or found
        others = [each for each in others if not each.proposal.must_be_whole]
        found = whole or (others if len(others) == 1 else [])
        if len(found) == 1:
            self._note_consequences(found[0], (*kind, finding.place.key))
        return [each.proposal for each in found] if len(found) <= MAX_SHOWN else []

    def _tried_in_turn(self, proposals: Proposals, kind: RuleAndClause, finding: Finding) -> list[Tried]:
        """Return the changes that fix the finding.

        A preferred one that neither causes nor shows another fault is returned alone.
        """
        found: list[Tried] = []
        self._are_all_tried = self._left.get(kind[0], 0) > 0
        for each in self._options_of(proposals) if self._are_all_tried else ():
            tried = self._tried(each, kind, finding)
            if tried is None:
                continue
            if tried.is_whole and each.is_preferred:
                return [tried]
            found.append(tried)
        return found

    def _note_consequences(self, tried: Tried, fault: FaultAt) -> None:
        """Record what the one change that is reported for a fault fixes as well."""
        also = [(rule, clause, place.key) for rule, clause, place in tried.proposal.also_fixes]
        for consequence in (*tried.fixed, *also):
            self._consequences.setdefault(consequence, fault)

    def _certain(self, proposals: Proposals) -> list[Proposal]:
        """Return the changes that need no trial."""
        self._are_all_tried = False
        if self._certain_left <= 0:
            return []
        self._certain_left -= 1
        return list(self._options_of(proposals))

    def _options_of(self, proposals: Proposals) -> Sequence[Proposal]:
        """Return the changes that are proposed; none after a crash."""
        with self._model.crashes.at("looking for a change that fixes a finding"):
            return proposals.options()
        return ()

    def _tried(self, proposal: Proposal, kind: RuleAndClause, finding: Finding) -> Tried | None:
        """Return what the change fixes; None if it does not fix the finding, causes a new fault, or is not tried."""
        if self._left.get(kind[0], 0) <= 0 or self._before is None:
            self._are_all_tried = False
            return None
        self._left[kind[0]] -= 1
        tried = None
        brief = Briefly(self._seconds)
        with brief, self._model.crashes.at("trying a change"):
            tried = self._trial_of(proposal, kind, finding, self._before)
        self._seconds -= brief.used
        if brief.is_over:
            self._are_all_tried = False
            self._left.clear()
        return tried

    @cached_property
    def _before(self) -> FaultsOfModel | None:
        """The faults of the model without a change; None if they have too many causes."""
        return faults_of(self._model)

    @cached_property
    def _source(self) -> Source:
        """The serialized document."""
        model = self._model
        return model.source if model.form == "binary" else BytesSource(schema.serialized(model.document))

    @cached_property
    def _splicer(self) -> Splicer:
        return Splicer(self._source, self._model.kind)

    def _trial_of(
        self, proposal: Proposal, kind: RuleAndClause, finding: Finding, before: FaultsOfModel
    ) -> Tried | None:
        """Check the changed model, and return what the change fixes; None as in `compared`."""
        edits = list(proposal.edits(self._model.operators))
        changed = self._changed(edits)
        if changed is None:
            return None
        after = faults_of(changed) if changed.loaded else None
        tried = None if after is None else compared(proposal, edits, kind, finding, before, after)
        changed.release()
        return tried

    def _changed(self, edits: Sequence[Edit]) -> Model | None:
        """Return the model after a change; None if it cannot be made."""
        try:
            splices = self._splicer.splices_of(edits)
            patches = [each.patch for each in self._splicer.with_lengths(splices)]
            return reloaded(self._model, load, unpatched(self._source).patched(patches))
        except (EditError, ReadError):
            return None


def _fault_of(item: Diagnostic) -> FaultAt:
    return item.rule, item.clause, item.at.key


def _group_of(item: Diagnostic) -> object:
    """Return the key of the group that a diagnostic is in: those of one rule and clause with one cause."""
    return item.rule, item.clause, item.severity, item.folding.cause or _fault_of(item)


def _with_cause(item: Diagnostic, causes: Mapping[object, str]) -> Diagnostic:
    """Return a diagnostic with its new cause, if it has one.

    `causes`: by fault, those of consequences of other faults; by group, those of the faults with consequences.
    """
    cause_of_fault = causes.get(_fault_of(item))
    cause = cause_of_fault or causes.get(_group_of(item))
    if cause is None or (item.folding.is_shared and cause_of_fault is None):
        return item
    return replace(item, folding=Folding(cause, is_shared=True, is_consequence=cause_of_fault is not None))


class Tried(Record):
    """A change that fixes a finding."""

    proposal: Proposal
    is_whole: bool
    """True if no fault is new. Otherwise the new ones are at nodes whose inputs were unknown because of the finding."""
    fixed: tuple[FaultAt, ...]
    """The other faults that it fixes. Unless `is_whole`, only those of the same rule."""


class FaultsOfModel:
    """The faults that rules find in a model, each with the node around it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.faults: list[tuple[RuleAndClause, int, Place]] = []
        """The rule and clause of each finding, the number of its faults, and its place."""
        self._changing_node: list[Finding] = []
        """The findings whose proposals change the node around their place."""
        self._first_places: dict[str, tuple[int, ...]] = {}
        """The rules with findings that propose a change, and the first place of such findings."""

    def add(self, rule: str, clause: str, finding: Finding, *, is_counted: bool) -> None:
        """Add a finding. It is a fault if it is counted."""
        if is_counted:
            self.faults.append(((rule, clause), finding.count, finding.place))
        if finding.proposals is not None and finding.proposals.changes_node:
            self._changing_node.append(finding)
        if finding.proposals is not None and not finding.proposals.is_certain:
            place = tuple([index or 0 for _, index in finding.place.key])
            self._first_places[rule] = min(place, self._first_places.get(rule, place))

    def proposing(self) -> list[str]:
        """Return the rules whose findings propose changes, in the order of their first places."""
        return sorted(self._first_places, key=self._first_places.__getitem__)

    @property
    def fixable_nodes(self) -> set[NodeKey | None]:
        """The nodes whose operands do not fit, but would fit after a change of the node."""
        fixable = (each for each in self._changing_node if each.proposals is not None and each.proposals.options())
        return {self.node_key(each.place) for each in fixable}

    def counts(self, without: Set[NodeKey] = frozenset()) -> Counter[RuleAndClause]:
        """Return the number of faults of each rule and clause. Faults at the nodes of `without` are left out."""
        found: Counter[RuleAndClause] = Counter()
        for kind, count, place in self.faults:
            if not without or self.node_key(place) not in without:
                found[kind] += count
        return found

    def kinds_at(self, node: NodeKey | None) -> set[RuleAndClause]:
        """Return the kinds of the faults at a node."""
        return {kind for kind, _, place in self.faults if self.node_key(place) == node}

    def node_key(self, place: Place) -> NodeKey | None:
        """Return the key of the innermost node around a place. It is the same before and after a change."""
        found = self._node_around(place)
        return None if found is None else (_graph_key(found[0]), tuple(found[0].node_outputs[found[1]]))

    def values_at(self, place: Place) -> tuple[GraphKey, Sequence[str]]:
        """Return the inputs of the innermost node around a place, or the value that it declares, with their graph."""
        found = self._node_around(place)
        if found is not None:
            return _graph_key(found[0]), found[0].node_inputs[found[1]]
        steps = place.key
        for length in range(len(steps) - 1, 0, -1):
            field, index = steps[length]
            graph = self._graphs_by_place.get(steps[:length])
            if graph is not None and index is not None and field in graph.value_infos:
                return _graph_key(graph), graph.value_infos[field].names[index : index + 1]
        return (), ()

    def facts_of(self, graph: GraphKey, names: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of values; empty if the model does not have their graph."""
        found = self._graphs_by_key.get(graph)
        return () if found is None else tuple([self.model.value_flow.fact_of(name, found) for name in names])

    def inputs_at(self, place: Place) -> tuple[Fact, ...]:
        """Return the facts of the inputs of the innermost node around a place."""
        found = self._node_around(place)
        return () if found is None else self._inputs(*found)

    def inputs_of(self, node: NodeKey) -> tuple[Fact, ...]:
        """Return the facts of the inputs of a node; empty if the model does not have it."""
        graph = self._graphs_by_key.get(node[0])
        if graph is None:
            return ()
        index = next((graph.positions[name] for name in node[1] if name in graph.positions), -1)
        return self._inputs(graph, index) if index >= 0 else ()

    def _inputs(self, graph: Graph, index: int) -> tuple[Fact, ...]:
        return tuple([self.model.value_flow.fact_of(name, graph) for name in graph.node_inputs[index]])

    @cached_property
    def _graphs_by_place(self) -> dict[PlaceKey, Graph]:
        return {graph.place.key: graph for graph in self.model.graphs}

    @cached_property
    def _graphs_by_key(self) -> dict[GraphKey, Graph]:
        return {_graph_key(graph): graph for graph in self.model.graphs}

    def _node_around(self, place: Place) -> tuple[Graph, int] | None:
        """Return the innermost node around a place, as its graph and index."""
        steps = place.key
        for length in range(len(steps) - 1, -1, -1):
            field, index = steps[length]
            graph = self._graphs_by_place.get(steps[:length]) if field == "node" else None
            if graph is not None and index is not None and index < len(graph.node_outputs):
                return graph, index
        return None


GraphKey = tuple[object, ...]
"""Identifies a graph before and after a change: the outputs of the nodes around it, and its place in them."""

NodeKey = tuple[GraphKey, tuple[str, ...]]
"""Identifies a node before and after a change: its graph and the names of its outputs. Indices may change."""


def _graph_key(graph: Graph) -> GraphKey:
    steps: list[object] = []
    while graph.parent is not None:
        steps += [graph.place.key[-2:], *graph.parent.node_outputs[graph.position : graph.position + 1]]
        graph = graph.parent
    return (*steps, graph.place.key if graph.function is None else graph.function.qualified_name)


def compared(
    proposal: Proposal,
    edits: Sequence[Edit],
    kind: RuleAndClause,
    finding: Finding,
    before: FaultsOfModel,
    after: FaultsOfModel,
) -> Tried | None:
    """Return what a change fixes; None if it does not fix the finding, or if it causes another fault."""

    def fixes_only(counts: Counter[RuleAndClause], counts_after: Counter[RuleAndClause]) -> bool:
        return not counts_after - counts and counts[kind] - counts_after[kind] >= finding.count

    is_whole = fixes_only(before.counts(), after.counts())
    if not is_whole:
        changed = {before.node_key(each.place) for each in edits} | {before.node_key(finding.place)}
        shown = _unknown_before(before, after, changed - after.fixable_nodes if proposal.is_sure else changed)
        if proposal.opens_node:
            shown = shown | _opened(before.node_key(finding.place), kind, after)
        if not shown or not fixes_only(before.counts(shown - changed), after.counts(shown)):
            return None
    fixed = [
        (*each, place.key)
        for each, place in _gone(before, after)
        if (is_whole or each[0] == kind[0])
        and place != finding.place
        and (_is_of_types(each[0]) or not proposal.leaves_out_numbers)
    ]
    return Tried(proposal, is_whole, tuple(fixed))


def _opened(node: NodeKey | None, kind: RuleAndClause, after: FaultsOfModel) -> set[NodeKey]:
    """Return the node, of which other faults do not count after a change; empty if its fault of that kind is left."""
    return set() if node is None or kind in after.kinds_at(node) else {node}


def _gone(before: FaultsOfModel, after: FaultsOfModel) -> Iterator[tuple[RuleAndClause, Place]]:
    """Yield the faults that a change fixes. In doubt it does not, since a report shows no more than their places.

    A fault may move: so none of a rule is fixed if another one is new, and none outside nodes if any is left. Nor is
    it fixed if less is known of the values that it is about.
    """
    known = {(kind, before.node_key(place)) for kind, _, place in before.faults}
    left = {(kind, after.node_key(place)) for kind, _, place in after.faults}
    rules_with_new = {rule for (rule, _), _ in left - known}
    rules_left = {rule for (rule, _), _ in left}
    for kind, _, place in before.faults:
        node = before.node_key(place)
        remaining = rules_with_new if node is not None else rules_left
        if kind[0] in remaining or (kind, node) in left:
            continue
        values = before.values_at(place)
        facts = zip(before.facts_of(*values), after.facts_of(*values), strict=False)
        if all(_is_still_known(one, other, kind[0]) for one, other in facts):
            yield kind, place


def _is_still_known(before: Fact, after: Fact, rule: str) -> bool:
    """Return whether a fact says no less than it said before: of types alone, for a rule about types."""
    if before.kind is not None and after.kind is None:
        return False
    if _is_of_types(rule) or before.shape is None:
        return True
    if after.shape is None or (before.content is not None and after.content is None):
        return False
    return _sizes(after.shape) >= _sizes(before.shape)


def _sizes(shape: Sequence[Dim]) -> int:
    """Return how many dimensions are numbers."""
    return sum([isinstance(each, int) for each in shape])


def _is_of_types(rule: str) -> bool:
    """Return whether a rule reports what follows from types or declarations alone, whatever the numbers are."""
    entry = registry()[rule]
    return entry.chapter == _OF_DECLARATIONS or entry.about == "has_type_conflicts"


def _unknown_before(before: FaultsOfModel, after: FaultsOfModel, changed: Set[NodeKey | None]) -> set[NodeKey]:
    """Return the nodes with faults after a change, except `changed`, that have inputs unknown before the change."""
    found = set()
    for place in {each for _, _, each in after.faults}:
        node = after.node_key(place)
        if node is None or node in changed or node in found:
            continue
        if _is_more_known(before.inputs_of(node), after.inputs_at(place)):
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


def most_trials(model: Model, faults: int = 0) -> int:
    """Return how many trials cost as much as the start of the run and the first pass; 0 for a large model.

    `faults`: the number of findings in the model, which each trial finds again.

    A node counts once for each time that the first pass inferred it, such as a node of a function for several calls.
    """
    graphs = model.graphs
    nodes = sum(len(graph.node_inputs) for graph in graphs)
    parts = nodes + sum(len(graph.input_names) + len(graph.initializer_names) for graph in graphs)
    if parts > MAX_PARTS:
        return 0
    parts += model.value_flow.nodes_walked_again
    return (parts + PARTS_OF_START) // (parts + PARTS_OF_TRIAL + faults * PARTS_OF_FAULT)


def faults_of(model: Model) -> FaultsOfModel | None:
    """Return the faults that the rules on graphs find; None if they have too many causes."""
    found = FaultsOfModel(model)
    causes = set()
    usual = Settings(standard=model.standard)
    for entry in _rules(model):
        check_deadline()
        for finding in islice(entry.rule.check(model), MAX_FAULTS):
            name = finding.clause or entry.clauses[0]
            is_counted = _counts(entry, clauses()[name], usual)
            found.add(entry.id, name, finding, is_counted=is_counted)
            if is_counted:
                causes.add((entry.id, finding.cause or finding.place))
        if len(causes) >= MAX_FINDINGS:
            return None
    return found


def _counts(entry: Registered, clause: Clause, usual: Settings) -> bool:
    """Return whether a report with the usual settings lists the finding as more than a note."""
    level = severity(clause, usual.standard.edition)
    return level is not None and level >= Severity.WARNING and presence(entry, clause, usual) == "listed"


def _rules(model: Model) -> Iterator[Registered]:
    """Yield the rules on graphs that have something to check in the model."""
    held = KINDS[model.kind].holds
    for entry in registry().values():
        if entry.chapter in _CHAPTERS and entry.plugin is None and entry.needs in held:
            question = None if entry.about is None else question_of(entry.about)
            if has_subject(model, question):
                yield entry


def _without_proposals(finding: Finding, proposals: Proposals, *, are_all_tried: bool) -> Finding:
    """Return the finding with what is said if none of the proposals passed."""
    cause = None if proposals.cause_if_none_fits is None else proposals.cause_if_none_fits()
    if cause is not None:
        finding = replace(finding, cause=cause, is_cause_shared=True)
    fact = None if proposals.otherwise is None else proposals.otherwise()
    if fact is not None:
        return replace(finding, message=with_more(finding.message, fact))
    return replace(finding, hint=finding.hint or proposals.if_none_fits) if are_all_tried else finding


def _with_proposals(finding: Finding, proposals: Proposals, passed: list[Proposal]) -> Finding:
    """Return the finding with the proposals that passed, in words."""
    words = proposals.sentence.format(listed([each.text for each in passed], "or"))
    notes = tuple(Related(*each.note) for each in passed if each.note is not None)
    finding = replace(finding, related=(*notes, *finding.related))
    if proposals.cause is not None:
        finding = replace(finding, cause=proposals.cause, is_cause_shared=True)
    if proposals.ends_message:
        return replace(finding, message=with_more(finding.message, words), hint=proposals.help_line or finding.hint)
    return replace(finding, hint=words)
