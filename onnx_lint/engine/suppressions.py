# SPDX-License-Identifier: Apache-2.0
"""Suppressions: findings that the user accepts in the configuration, each with a reason."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.proposed_fixes import without_edits
from onnx_lint.input.globs import matches
from onnx_lint.ir.places.edits import Delete, Fix
from onnx_lint.ir.places.place import EnclosingNames, PlaceKey
from onnx_lint.model import Model, Place
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic, Folding
from onnx_lint.report.folding import fold, unfold
from onnx_lint.rule import ALSO_SUPPRESSED, Finding
from onnx_lint.wording import Suggestions, quote, quote_some, report_name

_MAGIC: Final = frozenset("*?[")

MAX_INNER: Final = 1_000
"""The most entries of one rule whose pattern for the place has a `*` before its end: a finding is compared with all."""

_MAX_SEEN: Final = 10_000
"""The most findings of a rule whose names are kept, to say what an entry that matches nothing may mean."""

_MAX_SHOWN: Final = 3
"""The most nodes that such a sentence names."""


class Suppression(Record):
    """One suppression."""

    where: str
    """The file, and the number of the entry in it, such as `onnx-lint.toml: suppress[0]`."""
    rule: str
    reason: str
    place: str = ""
    """A pattern for the place, or for the name of its node or value; empty for every place."""
    file: str = ""
    """A pattern for the path; empty for every file."""
    directory: str = ""
    """The folder that the pattern for the path is relative to."""
    until: datetime.date | None = None
    """The last day on which it suppresses; None for no end."""

    @property
    def description(self) -> str:
        """The text that suppressed findings have in `suppressed_by`."""
        return f"{self.where}: {self.reason}"

    def is_expired(self, today: datetime.date) -> bool:
        """Return whether the last day is over."""
        return self.until is not None and today > self.until

    def is_for(self, path: str) -> bool:
        """Return whether it applies to the file at `path`."""
        if not self.file:
            return True
        # Most of thousands of entries name another file, which is seen before the path is made absolute.
        name = self.file.rpartition("/")[2]
        if _MAGIC.isdisjoint(name) and name != os.path.basename(path):
            return False
        return matches(self.file, path, self.directory)

    @property
    def has_inner_star(self) -> bool:
        """True if the pattern for the place has a `*` before its end."""
        return "*" in self.place[:-1]


class PlacePatterns:
    """The entries of one rule for one file, by their patterns for the place.

    Both may be thousands, so a finding is compared with few of them: a pattern without `*` is looked up, and one with a
    `*` at its end alone is looked up by the text before it. Of another one, the longest text is searched for first.
    """

    def __init__(self, entries: Iterable[Suppression]) -> None:
        self.entries = list(entries)
        self.seen: dict[str, None] = {}
        """The names of the faults that were compared, as the configuration may give them; the first ones."""
        self.faults: dict[str, dict[str, None]] = {}
        """The best name of each of these faults, with the names of the nodes that have it under another name."""
        self._of_elements: set[str] = set()
        """The names of values with several faults inside, each of which has a name of its own."""
        self.of_graphs: set[tuple[str, str]] = set()
        """The places and the subjects of findings about several faults whose subject is the graph around these."""
        self._everywhere = len(self.entries)
        self._exact: dict[str, int] = {}
        self._beginnings: dict[int, dict[str, int]] = {}
        """By the length of the text before the `*`."""
        self._others: list[tuple[int, str, list[str]]] = []
        """The texts between the `*` of each other pattern, and before them the longest one."""
        for number, entry in enumerate(self.entries):
            if not entry.place:
                self._everywhere = min(self._everywhere, number)
            elif entry.has_inner_star:
                texts = entry.place.split("*")
                self._others.append((number, max(texts, key=len), texts))
            elif entry.place.endswith("*"):
                self._beginnings.setdefault(len(entry.place) - 1, {}).setdefault(entry.place[:-1], number)
            else:
                self._exact.setdefault(entry.place, number)

    def first(
        self,
        place: str,
        subject: str | None,
        around: EnclosingNames,
        *,
        user: str | None = None,
        elements: Collection[str] = (),
        is_fault: bool = True,
    ) -> Suppression | None:
        """Return the first entry whose pattern matches the place, or a name: of the subject, node or value.

        `user`: the name of a node that is not around the place, or the place of the only wrong element, see
        `Diagnostic`. `elements`: the names of an element without a place of its own. `is_fault`: whether it is a single
        fault, and no finding about several that have been compared.
        """
        innermost = _innermost(around)
        names = {name for name in (place, subject, around.node, innermost, user, *elements) if name is not None}
        if is_fault and len(self.seen) < _MAX_SEEN:
            # A user that an entry names may be an element.
            nodes = list(filter(None, (around.node, None if user in self._exact else user)))
            own = list(elements)  # with the place of the element first
            self.seen.update(dict.fromkeys(filter(None, (subject, innermost, *nodes, *own[:1], place))))
            self._note_fault(subject or next(iter(nodes), place), nodes, own)
        found = self._everywhere
        for name in names:
            found = min(found, self._exact.get(name, found))
            for size, known in self._beginnings.items():
                found = min(found, known.get(name[:size], found))
        all_names = "\n".join(names)
        for number, longest, texts in self._others:
            if number >= found:
                break
            if longest in all_names and any(_is_like(name, texts) for name in names):
                found = number
        return self.entries[found] if found < len(self.entries) else None

    def _note_fault(self, name: str, nodes: Iterable[str], elements: list[str]) -> None:
        """Note the best name of a fault: that of the element, as the name of the value would hide all elements."""
        if elements:
            self._of_elements.add(name)
            name = next((each for each in elements if each.startswith(f"{name}[")), elements[-1])
        elif name in self._of_elements:
            return
        known = self.faults.setdefault(name, {})
        known.update((node, None) for node in nodes if node != name)


def _innermost(around: EnclosingNames) -> str | None:
    """Return the name of what the place is in; None if that is only the graph around something without a name."""
    name = next(filter(None, reversed(around.scope)), None)
    is_graph = name is not None and name == around.graph and name != around.scope[-1]
    return None if is_graph else name


def split_by_entry(finding: Finding, patterns: PlacePatterns, model: Model) -> list[Finding]:
    """Return a finding about several faults as one for each entry that suppresses some of them, and one for the rest.

    `patterns`: those of the entries for the rule and the file. Where an entry gives the name of a fault and none that
    the finding has, the finding gets that name, by which the entry finds it again.
    """

    def entry_for(place: Place, name: str | None, caller: Place | None, inner: str) -> Suppression | None:
        check_deadline()
        reader = finding.user or caller
        user = None if reader is None else model.places.enclosing_names(reader).node
        around = model.places.enclosing_names(place)
        elements = _elements_at(str(place), (name, _innermost(around)), inner)
        return patterns.first(
            str(place), None if name is None else report_name(name), around, user=user, elements=elements
        )

    def findable(piece: Finding) -> Finding:
        if piece.parts is None:
            return piece
        around = model.places.enclosing_names(piece.place)
        subject = None if piece.subject is None else report_name(piece.subject)
        place, name = piece.parts.first
        is_of_graph = piece.subject != name and subject in around.scope
        if patterns.first(str(piece.place), None if is_of_graph else subject, around, is_fault=False) is not None:
            return piece
        if name is not None and entry_for(place, name, piece.caller, piece.inner) is not None:
            return replace(piece, subject=name)
        if subject is not None and is_of_graph:
            patterns.of_graphs.add((str(piece.place), subject))
        return piece

    faults = finding.elements or finding.parts
    pieces = [finding] if faults is None else [*map(findable, faults.split(finding, entry_for))]
    return [_with_element(piece, patterns, model) for piece in pieces]


def _with_element(finding: Finding, patterns: PlacePatterns, model: Model) -> Finding:
    """Return a finding whose first element an entry names, with that name as `Finding.element`."""
    faults = finding.elements
    place, inner, _ = (
        (finding.place, finding.inner, ()) if faults is None else next(faults.identities(), (finding.place, "", ()))
    )
    around = model.places.enclosing_names(place)
    for name in _elements_at(str(place), (finding.subject, _innermost(around)), inner):
        if patterns.first(name, None, EnclosingNames(), is_fault=False) is not None:
            return replace(finding, element=name)
    return finding


def _elements_at(place: str, names: Iterable[str | None], inner: str) -> tuple[str, ...]:
    """Return the place of an element that has none of its own, as `initializer[0].raw_data[3]` and as `w[3]`.

    An entry of `int32_data` or another list of a tensor has a place of its own, and the other form.
    """
    numbers = re.findall(r"(?:element|byte|index|value) (\d+)$", inner)
    entries = re.findall(r"_data\[(\d+)\]$", place)
    return (
        *(f"{each}[{number}]" for number in numbers for each in (place, *names) if each),
        *(f"{each}[{number}]" for number in entries for each in names if each),
    )


def _is_like(text: str, texts: list[str]) -> bool:
    """Return whether the text begins with the first of two or more texts, ends with the last, and has the others.

    They are in this order and do not overlap, as between the `*` of a pattern.
    """
    first, *inner, last = texts
    end = len(text) - len(last)
    if end < len(first) or not text.startswith(first) or not text.endswith(last):
        return False
    position = len(first)
    for each in inner:
        position = text.find(each, position, end)
        if position < 0:
            return False
        position += len(each)
    return True


def patterns_for(entries: Iterable[Suppression], path: str) -> dict[str, PlacePatterns]:
    """Return the patterns of the entries for the file at `path`, by rule."""
    by_rule: dict[str, list[Suppression]] = {}
    for each in entries:
        if each.is_for(path):
            by_rule.setdefault(each.rule, []).append(each)
    return {rule: PlacePatterns(own) for rule, own in by_rule.items()}


def with_suppressed(file: FileReport, patterns: Mapping[str, PlacePatterns]) -> FileReport:
    """Return the report with the findings suppressed that an entry covers. The fixes of these are not made.

    `patterns`: those for the file, by rule, as its findings were compared with them.
    """
    left: list[Diagnostic] = []
    suppressed: list[Diagnostic] = []
    for finding in unfold(file.diagnostics):
        entry = _entry_for(finding, patterns)
        if entry is None:
            left.append(finding)
        else:
            suppressed.append(replace(finding, suppressed_by=entry.description))
    used = {each.suppressed_by for each in suppressed}
    unused = [entry for own in patterns.values() for entry in own.entries if entry.description not in used]
    file = replace(file, unmatched=tuple(_with_hints(unused, patterns, left, file))) if unused else file
    if not suppressed:
        return file
    shared = {id(finding.fix) for finding in suppressed if finding.fix is not None}
    left = [without_fix(finding) if id(finding.fix) in shared else finding for finding in left]
    return replace(file, diagnostics=fold(left), suppressed=(*file.suppressed, *without_edits(fold(suppressed))))


def without_deletions(
    diagnostics: tuple[Diagnostic, ...], patterns: Mapping[str, PlacePatterns]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics without the fixes that delete the place of a suppressed one, which `fix` does not make."""
    found = unfold(diagnostics)
    fixes = {id(each.advice.edits): each.advice.edits for each in found if each.advice.edits is not None}
    suppressed = {id(each): each.at.key for each in found if fixes and _entry_for(each, patterns) is not None}
    if not suppressed:
        return diagnostics
    around = {key[:depth] for key in suppressed.values() for depth in range(1, len(key) + 1)}
    refused = {mark for mark, fix in fixes.items() if _deletes_any(fix, around)}
    if not refused:
        return diagnostics
    # A finding without its fix is not folded with others that have theirs.
    return fold(
        replace(without_fix(each), folding=Folding())
        if id(each.advice.edits) in refused and id(each) not in suppressed
        else each
        for each in found
    )


def _deletes_any(fix: Fix, places: Container[PlaceKey]) -> bool:
    return any(isinstance(edit, Delete) and edit.place.key in places for edit in fix.with_edits().edits)


def is_suppressed(finding: Diagnostic, patterns: Mapping[str, PlacePatterns]) -> bool:
    """Return whether an entry suppresses a finding."""
    return _entry_for(finding, patterns) is not None


def _entry_for(finding: Diagnostic, patterns: Mapping[str, PlacePatterns]) -> Suppression | None:
    """Return the entry that suppresses a finding; None if none does."""
    check_deadline()
    own = patterns.get(finding.rule)
    if own is None:
        return None
    name, is_fault, former = _name(finding, own), not finding.collective, finding.identity.at_former_place
    found = own.first(finding.place, name, finding.around, user=finding.element or finding.user, is_fault=is_fault)
    if found is not None or former is None:
        return found
    return own.first(former.place, former.subject, former.around, is_fault=is_fault)


def _name(finding: Diagnostic, patterns: PlacePatterns) -> str | None:
    """Return the name that the finding is about, unless that is the graph around its faults."""
    is_of_graph = finding.subject is not None and (finding.place, finding.subject) in patterns.of_graphs
    return None if is_of_graph else finding.subject


def without_fix(finding: Diagnostic) -> Diagnostic:
    """Return a finding without its fix, which would also fix one that is suppressed."""
    reason = f"no fix: {ALSO_SUPPRESSED}"
    hint = f"{finding.hint}; {reason}" if finding.hint else reason
    return finding.with_advice(fix=None, edits=None, hint=hint)


def _with_hints(
    unused: Iterable[Suppression],
    patterns: Mapping[str, PlacePatterns],
    left: Iterable[Diagnostic],
    file: FileReport,
) -> Iterator[tuple[str, str]]:
    """Yield the description of each entry that matched nothing, with what it may mean, in words that may be empty."""
    by_place = PlacePatterns(entry for entry in unused if entry.place)
    of_others: dict[str, str] = {}
    for finding in left:
        is_of_graph = finding.collective and finding.subject in finding.around.scope
        subject = None if is_of_graph else finding.subject
        entry = by_place.first(finding.place, subject, finding.around, user=finding.element or finding.user)
        if entry is not None:
            of_others.setdefault(entry.description, finding.rule)
    are_counted = {each.rule for each in file.counted}
    suggestions = Suggestions()
    firsts = {(each.rule, each.place): each for own in patterns.values() for each in reversed(own.entries)}
    for entry in unused:
        other = of_others.get(entry.description)
        first = firsts[entry.rule, entry.place]
        if entry.rule in are_counted:
            hint = "its findings are only counted, and --pedantic lists them"
        elif first is not entry:
            hint = f"it has the same place as {first.where}"
        else:
            hint = _meant_place(entry, patterns[entry.rule], suggestions)
        if not hint and other is not None:
            hint = f"did you mean {other}, which has a finding there?"
        yield entry.description, hint


def _meant_place(entry: Suppression, patterns: PlacePatterns, suggestions: Suggestions) -> str:
    """Return which place of a finding of the rule an entry may mean; empty if the rule has none."""
    near = suggestions.nearest(entry.place.replace("*", ""), patterns.seen) if entry.place else None
    if near:
        return f"did you mean {quote(near)}?"
    if not patterns.faults:
        return ""
    shown = [_fault(*each) for each in islice(patterns.faults.items(), _MAX_SHOWN)]
    return f"it has findings at {', '.join(shown)}{_more(patterns.faults)}"


def _fault(name: str, nodes: Collection[str]) -> str:
    """Return the name of a fault, and the nodes that an entry may name as well."""
    if not nodes:
        return quote(name)
    return f"{quote(name)} ({'node' if len(nodes) == 1 else 'nodes'} {quote_some(nodes, _MAX_SHOWN)}{_more(nodes)})"


def _more(names: Collection[str]) -> str:
    return ", ..." if len(names) > _MAX_SHOWN else ""


def used_in(file: FileReport) -> set[str]:
    """Return the descriptions of the suppressions that suppress a finding of the file."""
    return {item.suppressed_by for item in unfold(file.suppressed) if item.suppressed_by is not None}


def complaints(
    entries: Iterable[Suppression],
    paths: Collection[str],
    used: Container[str],
    rules: Container[str],
    hints: Mapping[str, str],
) -> Iterator[str]:
    """Yield a sentence for each entry that has expired, or suppressed nothing although its rule ran on its files.

    `used`: the descriptions of those that suppress a finding. `hints`: what others may mean, by their descriptions.
    """
    today = datetime.date.today()
    for entry in entries:
        if entry.until is not None and entry.is_expired(today):
            yield f"{entry.where}: the suppression of {entry.rule} expired on {entry.until.isoformat()}"
        elif entry.description not in used and entry.rule in rules and any(map(entry.is_for, paths)):
            hint = hints.get(entry.description)
            yield f"{entry.where}: the suppression of {entry.rule} matches no finding" + (f"; {hint}" if hint else "")
