# SPDX-License-Identifier: Apache-2.0
"""Tries the changes that findings propose on the whole model, so that a report shows only those that mend it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.deadline import Briefly, look
from onnx_lint.common.record import replace
from onnx_lint.engine.plugins import files_in_use
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.selection import has_subject, presence, question_of
from onnx_lint.engine.settings import Settings
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource, ReadError, Source
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.splices import EditError, Splicer
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.model.model import remade
from onnx_lint.rule import Finding, Related, Rule
from onnx_lint.spec.clauses import Clause, Severity, clauses, severity
from onnx_lint.wording import listed, with_more

MOST_TRIALS: Final = 20
"""The most changes that are tried of one model."""

MOST_NODES: Final = 100_000
"""The most nodes of all trials together: a trial takes as long as the first pass over the graphs at most."""

MOST_FINDINGS: Final = 200
"""The most faults of a model that is worth a trial. With more of them, no single change is of much help."""

SECONDS: Final = 5
"""The processor time of all trials, for a model that takes unusually long for its nodes."""

MOST_SHOWN: Final = 2
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

_Kinds = Counter[tuple[str, str]]
"""The number of faults by rule and clause."""


class Trials:
    """The trials of one model, within bounds."""

    def __init__(self, model: Model) -> None:
        self._model = model
        nodes = sum(len(graph.node_inputs) for graph in model.graphs)
        self._left = min(MOST_TRIALS, MOST_NODES // max(nodes, 1))
        self._seconds = float(SECONDS)
        self._causes: set[tuple[str, str]] = set()
        """The causes of findings whose proposals were tried: a report folds the others of one cause."""
        self._shared: dict[str, list[Proposal]] = {}
        """What passed of the proposals that several findings share, by their cause."""

    def settled(self, finding: Finding, rule: Rule) -> Finding:
        """Return the finding with the proposals that mend it in words, and no other."""
        proposals = finding.proposals
        if proposals is None:
            return finding
        kind = (rule.id, finding.clause or rule.clauses[0])
        finding = replace(finding, proposals=None)
        if proposals.cause is not None:
            if proposals.cause not in self._shared:
                self._shared[proposals.cause] = self._passed(proposals, kind, finding.count)
            passed = self._shared[proposals.cause]
        elif finding.cause and (rule.id, finding.cause) in self._causes:
            passed = []
        else:
            passed = self._passed(proposals, kind, finding.count)
            self._causes.add((rule.id, finding.cause or ""))
        return _with(finding, proposals, passed)

    def _passed(self, proposals: Proposals, kind: tuple[str, str], count: int) -> list[Proposal]:
        found: list[Proposal] = []
        for each in self._options(proposals):
            if self._mends(each, kind, count):
                if each.is_preferred:
                    return [each]
                found.append(each)
        return found if len(found) <= MOST_SHOWN else []

    def _options(self, proposals: Proposals) -> Sequence[Proposal]:
        if self._left > 0:
            with self._model.crashes.at("looking for a change that mends a finding"):
                return proposals.options()
        return ()

    def _mends(self, proposal: Proposal, kind: tuple[str, str], count: int) -> bool:
        """Return whether the finding is gone after the change, and there is no other new one."""
        if self._left <= 0:
            return False
        self._left -= 1
        before = after = None
        brief = Briefly(self._seconds)
        with brief, self._model.crashes.at("trying a change"):
            before = self._before
            after = None if before is None else self._after(proposal)
        self._seconds -= brief.used
        if brief.is_over:
            self._left = 0
        if before is None or after is None:
            return False
        return before[kind] - after[kind] >= count and not after - before

    @cached_property
    def _before(self) -> _Kinds | None:
        return _kinds(self._model)

    @cached_property
    def _source(self) -> Source:
        """The serialized document."""
        model = self._model
        return model.source if model.form == "binary" else BytesSource(schema.serialized(model.document))

    @cached_property
    def _splicer(self) -> Splicer:
        return Splicer(self._source, self._model.kind)

    def _after(self, proposal: Proposal) -> _Kinds | None:
        """Return the faults after the change; None if it cannot be made."""
        try:
            splices = self._splicer.splices_of(proposal.edits(self._model.operators))
            patches = [each.patch for each in self._splicer.with_lengths(splices)]
            changed = remade(self._model, load, unpatched(self._source).patched(patches))
        except (EditError, ReadError):
            return None
        found = _kinds(changed) if changed.loaded else None
        changed.release()
        return found


def _kinds(model: Model) -> _Kinds | None:
    """Return the faults that the rules on graphs find; None if there are too many."""
    found: _Kinds = Counter()
    usual = Settings(standard=model.standard, plugins=files_in_use())  # settings put their plugins into use
    for entry in _rules(model):
        look()
        for finding in islice(entry.rule.check(model), MOST_FINDINGS):
            name = finding.clause or entry.clauses[0]
            if _counts(entry, clauses()[name], usual):
                found[entry.id, name] += finding.count
        if found.total() >= MOST_FINDINGS:
            return None
    return found


def _counts(entry: Registered, clause: Clause, usual: Settings) -> bool:
    """Return whether a report with the usual settings lists the finding as more than a note."""
    level = severity(clause, usual.standard.edition)
    return level is not None and level >= Severity.WARNING and presence(entry, clause, usual) == "listed"


def _rules(model: Model) -> Iterator[Registered]:
    held = KINDS[model.kind].holds
    for entry in registry().values():
        if entry.chapter in _CHAPTERS and entry.plugin is None and entry.needs in held:
            question = None if entry.about is None else question_of(entry.about)
            if has_subject(model, question):
                yield entry


def _with(finding: Finding, proposals: Proposals, passed: list[Proposal]) -> Finding:
    """Return the finding with these proposals in words."""
    if not passed:
        fact = None if proposals.otherwise is None else proposals.otherwise()
        return finding if fact is None else replace(finding, message=with_more(finding.message, fact))
    words = proposals.sentence.format(listed([each.text for each in passed], "or"))
    notes = tuple(Related(*each.note) for each in passed if each.note is not None)
    finding = replace(finding, related=(*notes, *finding.related))
    if proposals.cause is not None:
        finding = replace(finding, cause=proposals.cause, is_cause_shared=True)
    if proposals.ends_message:
        return replace(finding, message=with_more(finding.message, words), hint=proposals.help_line or finding.hint)
    return replace(finding, hint=words)
