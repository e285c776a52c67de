# SPDX-License-Identifier: Apache-2.0
"""Assigns entries of a baseline to the findings of a file: a bipartite matching, in two passes.

1. By names: each finding gets the entry with its fingerprint, as long as the count of the entry allows.
2. By operators: each finding that is still without an entry gets one with the same operators around it. If another
   finding has that entry only by its names, because names have moved to other nodes, that finding has to get another
   entry by its operators, and so on. A breadth-first search finds such a chain: an augmenting path of the matching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.baselines.entries import (
    Entries,
    Entry,
    fingerprints_of,
    has_current_digests,
    may_be_renamed,
    weight_of,
)
from onnx_lint.configuration.baselines.listed_faults import ListedFaults
from onnx_lint.configuration.baselines.marks import LookupKey, Marks, marks_of_entry, marks_of_finding
from onnx_lint.configuration.baselines.older_forms import form_in_baseline, forms_of, may_be_listed_as
from onnx_lint.report.digests import MAX_LISTED, FaultDigests
from onnx_lint.report.findings import BaselineIdentity, Diagnostic
from onnx_lint.report.folding import unfold


class Matching(Record):
    """The findings of a file, each with its entry in the baseline, if it has one."""

    findings: Sequence[Diagnostic]
    """The findings, unfolded."""
    fingerprints: Sequence[str]
    """The fingerprint of each finding: of those that it may have, the one in the baseline."""
    entries: Mapping[int, str]
    """The fingerprints of the entries of findings, by the index of the finding."""


def match(diagnostics: Iterable[Diagnostic], entries: Entries) -> Matching:
    """Return the findings of a file with their entries."""
    findings = list(unfold(diagnostics))
    forms = [form_in_baseline(each, entries) for each in findings]
    fingerprints = [_fingerprint_in(entries, form) for form in forms]
    assignment = _Assignment(forms, entries)
    for index, fingerprint in enumerate(fingerprints):
        assignment.assign(index, fingerprint)
    unknown = [index for index in range(len(findings)) if index not in assignment.entry_of]
    if unknown and entries:
        search = _PathSearch(findings, assignment)
        for index in unknown:
            assignment.use_form(index, search.form_in_renamed_entry(index))
            assignment.augment(search.path_from(index))
    return Matching(findings=findings, fingerprints=fingerprints, entries=assignment.entry_of)


def _fingerprint_in(entries: Entries, form: Diagnostic) -> str:
    """Return the fingerprint of a finding that has an entry; that of today if none has."""
    possible = fingerprints_of(form)
    return next((fingerprint for fingerprint in possible if fingerprint in entries), possible[0])


class _Reassignment(Record):
    """An edge of an augmenting path: a finding gets an entry in place of the one that it has, if it has one."""

    finding: int
    entry: str
    """The fingerprint of the entry that the finding gets."""
    before: _Reassignment | None
    """That by which another finding gets the entry that this one leaves; None if this one has none."""


class _Assignment:
    """Which findings have which entries. An entry may be that of several findings, up to its count."""

    def __init__(self, forms: Sequence[Diagnostic], entries: Entries) -> None:
        self._forms = list(forms)
        """The findings, each at the place and under the clause where the baseline may have it."""
        self.entries = entries
        self.entry_of: dict[int, str] = {}
        """The fingerprints of the entries of findings, by the index of the finding."""
        self.last_finding_of: dict[str, int] = {}
        """The last finding that got each entry."""
        self.left = {fingerprint: entry.count for fingerprint, entry in entries.items()}
        """How much of the count of each entry is left."""
        self._faults = {
            fingerprint: ListedFaults(entry.faults) for fingerprint, entry in entries.items() if entry.faults
        }

    def form_of(self, index: int) -> Diagnostic:
        """Return a finding at the place and under the clause where the baseline may have it."""
        return self._forms[index]

    def use_form(self, index: int, form: Diagnostic) -> None:
        """Compare a finding in another form from now on."""
        self._forms[index] = form

    def assign(self, index: int, fingerprint: str) -> bool:
        """Assign an entry to a finding; False if it does not list each fault of it, or if its count is used up."""
        diagnostic = self._forms[index]
        weight = weight_of(diagnostic)
        if self.left.get(fingerprint, 0) < weight or not self._use_faults(diagnostic, fingerprint):
            return False
        self.left[fingerprint] -= weight
        self.last_finding_of[fingerprint] = index
        self.entry_of[index] = fingerprint
        return True

    def _use_faults(self, diagnostic: Diagnostic, fingerprint: str) -> bool:
        """Remove the faults of a finding from those listed; False without a change if the entry does not know them."""
        entry, identity = self.entries[fingerprint], diagnostic.identity
        if not entry.faults or _has_same_content(entry, identity):
            return True
        faults = identity.elements if entry.element_count and identity.elements else identity.parts
        if not faults:
            # Others are faults of a value as a whole, while the entry is about a place inside of it.
            return diagnostic.collective or identity.are_uses_of_one_fault
        if _is_part_of_many(diagnostic, entry) or _is_use_of_one_name(diagnostic, entry):
            return True
        listed, is_renamed = self._faults[fingerprint], may_be_renamed(entry, identity)
        if identity.are_uses_of_one_fault and not entry.element_count:
            return listed.has_same_fault(faults, may_be_renamed=is_renamed)
        return listed.remove(faults, may_be_renamed=is_renamed)

    def augment(self, last: _Reassignment | None) -> None:
        """Assign entries along a path, from its last edge on: so each finding gets an entry that is free by then.

        This ends at the first entry that does not list the faults of its new finding.
        """
        edge = last
        while edge is not None:
            former = self._release(edge.finding)
            if not self.assign(edge.finding, edge.entry):
                if former is not None:
                    self.assign(edge.finding, former)
                return
            edge = edge.before

    def _release(self, index: int) -> str | None:
        """Take the entry from a finding, which is the only one that has it, and return it; None if it has none."""
        fingerprint = self.entry_of.pop(index, None)
        if fingerprint is not None:
            entry = self.entries[fingerprint]
            self.left[fingerprint], self._faults[fingerprint] = entry.count, ListedFaults(entry.faults)
            del self.last_finding_of[fingerprint]
        return fingerprint


class _PathSearch:
    """Searches augmenting paths, which give a finding without an entry one by the operators around it."""

    def __init__(self, findings: Sequence[Diagnostic], assignment: _Assignment) -> None:
        self._findings, self._assignment, self._entries = findings, assignment, assignment.entries
        self._marks = {fingerprint: marks_of_entry(entry) for fingerprint, entry in self._entries.items()}
        self._at: dict[tuple[str, LookupKey], str] = {}
        """The entry that has a key, by the rule and the key."""
        for fingerprint, marks in self._marks.items():
            self._at.update(((self._entries[fingerprint].rule, key), fingerprint) for key in marks.keys)
        self._tried: set[str] = set()
        """Entries that are not free. Each is tried once for all findings: a chain may be as long as the baseline."""
        self._rules_with_moved_names = self._find_rules_with_moved_names()

    def _find_rules_with_moved_names(self) -> set[str]:
        """Return the rules whose findings mostly have, by their names, entries of findings at other places."""
        balance: Counter[str] = Counter()
        for index, fingerprint in self._assignment.entry_of.items():
            finding = self._findings[index]
            if self._entries[fingerprint].structure and finding.identity.structure:
                balance[finding.rule] += 1 if self._is_elsewhere(finding, fingerprint) else -1
        return {rule for rule, count in balance.items() if count > 0}

    def _is_elsewhere(self, finding: Diagnostic, fingerprint: str) -> bool:
        """Return whether there are other operators around a finding than around that of an entry."""
        return set(self._marks[fingerprint].operators).isdisjoint(marks_of_finding(finding.identity).operators)

    def form_in_renamed_entry(self, index: int) -> Diagnostic:
        """Return the first form of a finding that an entry may list under other names; its present form without any."""
        finding = self._findings[index]
        forms = forms_of(finding)
        if len(forms) > 1:
            for form in forms:
                entries = self._entries_with_keys(form.rule, marks_of_finding(form.identity))
                if any(may_be_listed_as(form, finding, self._entries[fingerprint]) for fingerprint in entries):
                    return form
        return self._assignment.form_of(index)

    def _entries_with_keys(self, rule: str, marks: Marks) -> Iterable[str]:
        """Return the entries of a rule that have a key of a finding, the surest first."""
        return dict.fromkeys(filter(None, [self._at.get((rule, key)) for key in marks.keys]))

    def path_from(self, index: int) -> _Reassignment | None:
        """Return the last edge of a path that gives a finding an entry; None if there is no such path."""
        have_names_moved = self._findings[index].rule in self._rules_with_moved_names
        pending: list[tuple[int, _Reassignment | None]] = [(index, None)]
        for finding, before in pending:
            for fingerprint in self._possible_entries(finding):
                edge = _Reassignment(finding=finding, entry=fingerprint, before=before)
                if self._assignment.left[fingerprint]:
                    return edge
                self._tried.add(fingerprint)
                holder = self._assignment.last_finding_of[fingerprint]
                is_only_one = self._entries[fingerprint].count == 1
                if have_names_moved and is_only_one and self._is_elsewhere(self._findings[holder], fingerprint):
                    pending.append((holder, edge))
        return None

    def _possible_entries(self, index: int) -> Iterator[str]:
        """Yield the entries that have not been tried and that may be of the finding, with the names of before."""
        form = self._assignment.form_of(index)
        marks = marks_of_finding(form.identity)
        for fingerprint in self._entries_with_keys(self._findings[index].rule, marks):
            entry = self._entries[fingerprint]
            if fingerprint in self._tried:
                continue
            if self._is_renamed(fingerprint, form, marks) or _has_new_storage(entry, form.identity):
                yield fingerprint

    def _is_renamed(self, fingerprint: str, form: Diagnostic, marks: Marks) -> bool:
        """Return whether an entry with the operators of a finding may be of this finding under other names."""
        entry = self._entries[fingerprint]
        if not may_be_renamed(entry, form.identity):
            return False
        # A finding that shares names with the entry, and yet has another fingerprint, is another one at that place. But
        # if a node has come before what it reads, the name that it reads is new, while its own is not.
        shares_names = not self._marks[fingerprint].names.isdisjoint(marks.names)
        return not shares_names or _reads_new_node(entry, form)


def _has_new_storage(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an initializer has become a Constant of the same name, or the other way round."""
    if not _have_different_storage(entry, identity):
        return False
    return _content(entry)[:1] == _content(identity)[:1]  # the digest of its name


def _has_same_content(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an initializer with a known fault has become a Constant, or the other way round."""
    return _have_different_storage(entry, identity) and not set(_content(entry)).isdisjoint(_content(identity))


def _have_different_storage(entry: Entry, identity: BaselineIdentity) -> bool:
    before, now = entry.content, identity.content
    return before is not None and now is not None and before.is_initializer != now.is_initializer


def _content(item: Entry | BaselineIdentity) -> list[tuple[str, str]]:
    return [] if item.content is None else item.content.place.items()


def _reads_new_node(entry: Entry, diagnostic: Diagnostic) -> bool:
    """Return whether a node at fault reads the value in the entry through a node that may be new.

    Without a new node, it is another value in the place of the known one.
    """
    structure = diagnostic.identity.structure
    if structure is None or not has_current_digests(entry):
        return False
    if entry.structure is not None and structure.whole[0] in entry.structure.whole:
        return False
    before = (replace(diagnostic, subject=name) for name in diagnostic.identity.inputs_of_producer)
    return any(entry.fingerprint in fingerprints_of(each) for each in before)


def _is_part_of_many(diagnostic: Diagnostic, entry: Entry) -> bool:
    """Return whether the finding has fewer faults than the entry, and these are too many to be listed one by one."""
    identity = diagnostic.identity
    if entry.element_count and identity.elements:
        return entry.element_count > max(MAX_LISTED, identity.element_count)
    are_many = any(map(_is_of_many, (*entry.faults, *identity.parts)))
    return are_many and entry.count > weight_of(diagnostic)


def _is_of_many(fault: FaultDigests) -> bool:
    """Return whether many faults are identified together: an older version wrote a digest of their names alone."""
    return fault.is_of_many or [kind for kind, _ in fault.place.items()] == ["names"]


def _is_use_of_one_name(diagnostic: Diagnostic, entry: Entry) -> bool:
    """Return whether an older version wrote the uses of a name as one finding, and listed the first of them alone."""
    return diagnostic.collective and entry.count > len(entry.faults)
