# SPDX-License-Identifier: Apache-2.0
"""Baselines: lists of known findings, so that a run reports only new ones.

A baseline is a JSON file. It identifies a finding by the path of the file, relative to the baseline, and by a
fingerprint of names. An entry has the number of findings that agree in both. A finding with several faults, or with one
inside of a value, is known if the entry lists each of these faults. A finding whose names have changed is known by the
operators around it, and all before or behind. The other fields of an entry are for people who read the file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.input.locations import is_remote
from onnx_lint.input.regular_file import read_regular
from onnx_lint.report.file_report import OWN_ERRORS, FileReport
from onnx_lint.report.findings import ALL_FAULTS, DIGEST, INNER_DIGEST, MAX_LISTED, BaselineIdentity, Diagnostic
from onnx_lint.report.folding import fold, unfold
from onnx_lint.reporters.escape import STANDARD_INPUT, encodable, shortened
from onnx_lint.reporters.fingerprint import digest_of
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.former_clauses import has_changed_since, rows_known
from onnx_lint.wording import with_more

if TYPE_CHECKING:
    from onnx_lint.ir.places.place import Place

VERSION: Final = 1
"""The newest version of the format that can be read, and the one that is written."""
MAX_BYTES: Final = 1 << 26
"""The largest baseline that is read."""
MAX_KEPT_NAME_CHARACTERS: Final = 200
"""The most characters of a name in an entry."""


class Entry(Record):
    """The findings of one file with one fingerprint."""

    fingerprint: str
    rule: str
    where: str
    """The names around the place, for people."""
    count: int
    structure: str = ""
    """See `BaselineIdentity.structure` and `_Kinds`: some of its digests, others in an entry of an older version."""
    parts: tuple[str, ...] = ()
    """The same for `BaselineIdentity.parts`; empty if unknown."""
    names: str = ""
    """See `BaselineIdentity.names`; empty if unknown."""
    elements: int = 0
    """See `BaselineIdentity.element_count`. If it is not 0, `parts` has the texts of `BaselineIdentity.elements`."""
    content: str = ""
    """See `BaselineIdentity.content`."""
    clauses: int = 0
    """See `rows_known`; 0 if an older version wrote the entry, or if no clause has been divided since."""


Entries = Mapping[str, Entry]
"""The entries of one file, by their fingerprints."""
Baseline = Mapping[str, Entries]
"""The entries of each file, by its name in the baseline."""


def file_key(path: str, baseline: str) -> str:
    """Return the name of the file at `path` in `baseline`: its path relative to the baseline, with forward slashes."""
    if path == "-":
        return STANDARD_INPUT
    if is_remote(path):
        return path
    path, folder = os.path.abspath(path), os.path.dirname(os.path.abspath(baseline))
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return path.replace(os.sep, "/")


def entries_of(diagnostics: Iterable[Diagnostic]) -> dict[str, Entry]:
    """Return the entries for the diagnostics of one file, by fingerprint."""
    found: dict[str, Entry] = {}
    for each in unfold(diagnostics):
        digest = _fingerprint(each)
        known = found.get(digest)
        identity = each.identity
        # Elements keep the order that they have in the value. Parts have no order of their own.
        parts = tuple(map(_written, identity.elements or sorted(identity.parts)))
        if known is None:
            structure = _chosen(identity.structure, _STRUCTURE)
            texts = each.rule, _where(each), _weight(each), structure, parts, identity.names
            content = _written_content(identity.content)
            found[digest] = Entry(digest, *texts, identity.element_count, content, rows_known(each.clause))
        else:
            # If the elements of only one of two values are listed, the entry has no list for both.
            parts = (*known.parts, *parts) if known.parts and parts else ()
            elements = known.elements + identity.element_count if known.elements and identity.elements else 0
            count = known.count + _weight(each)
            found[digest] = replace(known, count=count, structure="", parts=parts, elements=elements, content="")
    return found


def _weight(diagnostic: Diagnostic) -> int:
    """Return how much the diagnostic adds to the count of an entry.

    It is 1 if the clause is only counted by default: that is a habit of an exporter, which is not new if it concerns
    more names. Otherwise it is the number of faults.
    """
    clause = clauses().get(diagnostic.clause)
    return 1 if clause is not None and clause.counted else diagnostic.count


def _fingerprint(diagnostic: Diagnostic, *, with_main: bool = False) -> str:
    return digest_of(diagnostic, with_main=with_main)[:32]


_SURE: Final = "+"
"""The mark before the digests of an entry that knows the operators on one side of a place, as `View.before` does."""


class _Kinds(Record):
    """The kinds of the digests in a text, one letter each.

    c: the operators, as `Structure.steps`. x and N: the names. o: the names without the place inside of the value. n:
    the names with it, in entries of older versions also without what came to the end of the text since then. w: the
    same with all of it. The others are those of the fields of `View`, in their order, with all of `View.whole`; it is
    enough if one of these agrees. The digests of a tensor's content have capitals.
    """

    by_count: Mapping[int, str]
    """The kinds by the number of digests: the longest is that of a finding, the others are those of older versions."""
    written: str
    """The kinds in an entry behind `_SURE`."""


_PARTS: Final = _Kinds(
    {1: "o", 2: "co", 4: "nabm", 12: "nabmsepttttt", 13: "onabmsepttttt", 14: "conabmsepttttt"}, "wsept"
)
"""The kinds in a text of `parts`."""

_ENDS_ABOUT_PLACE: Final = 2
"""The number of ends of a text of `parts` that are about the place: what is wrong inside of it, and the keys."""

_STRUCTURE: Final = _Kinds({2: "cx", 5: "cxabm", 13: "cxabmsepttttt"}, "xsept")
_CONTENT: Final = _Kinds({1: "N", 4: "NABM", 12: "NABMSEPTTTTT"}, "NSEPT")

_NAMES: Final = "wno"
"""The kinds of digests of names in a text of `parts`."""
_VIEWS: Final = "cabmsept"
"""The kinds of digests of operators."""
_OF_OLD_ENTRIES: Final = "conabm"
_WHOLE: Final = "t"
_OF_TODAY: Final = "sept"
"""The kinds of digests of operators that entries of today have."""


def _marks(text: str, kinds: _Kinds) -> list[str]:
    """Return the digests in a text, each after its kind; none if their number is that of a damaged entry."""
    text = text.removeprefix(ALL_FAULTS)
    digits = text.removeprefix(_SURE)
    digests = [digits[at : at + DIGEST] for at in range(0, len(digits), DIGEST)]
    letters = kinds.by_count.get(len(digests), "") if digits == text else kinds.written
    return [kind + digest for kind, digest in zip(letters, digests, strict=False)]


def _marks_of_part(text: str) -> list[str]:
    """Return the digests in a text of `parts` of an entry, each after its kind and before the ends about the place.

    If other places belong to the fault, their digest of the same kind is at the end of each.
    """
    outer, *ends = text.split(INNER_DIGEST)
    marks = [INNER_DIGEST.join((each, *ends[:_ENDS_ABOUT_PLACE])) for each in _marks(outer, _PARTS)]
    if len(ends) <= _ENDS_ABOUT_PLACE:
        return marks
    sure = _SURE if outer.removeprefix(ALL_FAULTS).startswith(_SURE) else ""
    partners: dict[str, list[str]] = {}
    for mark in _marks(sure + ends[_ENDS_ABOUT_PLACE], _PARTS):
        partners.setdefault(mark[0], []).append(mark[1:])
    seen: Counter[str] = Counter()
    found = []
    for mark in marks:
        of_kind = partners.get(mark[0], ())
        if seen[mark[0]] < len(of_kind):
            found.append(f"{mark}{INNER_DIGEST}{of_kind[seen[mark[0]]]}")
        seen[mark[0]] += 1
    return found


def _marks_of_fault(text: str) -> list[str]:
    """Return the same for a finding, then again with fewer and fewer ends, as entries of older versions have them."""
    pieces = text.split(INNER_DIGEST)
    rows = [pieces[:count] for count in range(len(pieces) - 1, 0, -1)]
    if len(pieces) > _ENDS_ABOUT_PLACE:
        rows.insert(0, [pieces[0], "", *pieces[2:]])  # what is wrong inside was not compared, but the other ends were
    texts = [INNER_DIGEST.join(row).rstrip(INNER_DIGEST) for row in rows]
    former = (mark for each in texts for mark in _marks_of_part(each) if mark[0] in _OF_OLD_ENTRIES)
    whole = _marks_of_part(text)
    exact = (f"w{mark[1:]}" for mark in whole if mark[0] == "n")
    return list(dict.fromkeys((*exact, *whole, *former)))


def _written(part: str) -> str:
    """Return a text of `BaselineIdentity.parts` as an entry has it: without the digests that older versions wrote."""
    outer, *ends = part.removeprefix(ALL_FAULTS).split(INNER_DIGEST)
    if len(ends) > _ENDS_ABOUT_PLACE:
        ends[_ENDS_ABOUT_PLACE] = _chosen(ends[_ENDS_ABOUT_PLACE], _PARTS).removeprefix(_SURE)
    start = ALL_FAULTS if part.startswith(ALL_FAULTS) else ""
    return start + INNER_DIGEST.join((_chosen(outer, _PARTS), *ends))


def _chosen(digests: str, kinds: _Kinds) -> str:
    """Return the digests of a finding that an entry has: the first of each kind."""
    first: dict[str, str] = {}
    for mark in _marks(digests, kinds):
        first.setdefault(mark[0], mark[1:])
    written = "".join(first.get("n" if kind == "w" else kind, "") for kind in kinds.written)
    return f"{_SURE}{written}" if written else ""


def _written_content(content: str) -> str:
    """Return `BaselineIdentity.content` as an entry has it."""
    kind, mark, digests = content.partition(":")
    return f"{kind}{mark}{_chosen(digests, _CONTENT)}"


def _all_marks(item: Entry | BaselineIdentity) -> list[str]:
    """Return the digests of the structure and of all faults, each after its kind."""
    marks_of = _marks_of_part if isinstance(item, Entry) else _marks_of_fault
    return [
        *_marks(item.structure, _STRUCTURE),
        *(mark for part in _all_parts(item) for mark in marks_of(part)),
    ]


def _all_parts(item: Entry | BaselineIdentity) -> tuple[str, ...]:
    return item.parts if isinstance(item, Entry) else (*item.parts, *item.elements)


def _have_one_content(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an entry and a finding are about the same of a stored tensor, be it an initializer or not."""
    return _are_of_two_kinds(entry, identity) and not set(_contents(entry)).isdisjoint(_contents(identity))


def _has_new_storage(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an initializer of one name has become a Constant, or the other way round."""
    return _are_of_two_kinds(entry, identity) and _contents(entry)[:1] == _contents(identity)[:1]


def _are_of_two_kinds(entry: Entry, identity: BaselineIdentity) -> bool:
    kinds = {item.content.partition(":")[0] for item in (entry, identity)}
    return len(kinds) == 2 and "" not in kinds


def _contents(item: Entry | BaselineIdentity) -> list[str]:
    """Return the digests of a stored tensor, that of its name first."""
    return _marks(item.content.partition(":")[2], _CONTENT)


def _parts_for(entry: Entry, identity: BaselineIdentity) -> tuple[str, ...]:
    """Return the texts of a finding that are compared with `Entry.parts`."""
    return identity.elements if entry.elements and identity.elements else identity.parts


def _views(item: Entry | BaselineIdentity) -> list[str]:
    """Return the digests of operators. An entry and a finding with different names agree if they share one."""
    views = [mark for mark in _all_marks(item) if mark[0] in _VIEWS]
    # If an entry has newer ones, its oldest one (c) is there for older versions only.
    is_new = isinstance(item, Entry) and any(mark[0] != "c" for mark in views)
    return [mark for mark in views if mark[0] != "c"] if is_new else views


def _keys(item: Entry | BaselineIdentity) -> list[str]:
    """Return the digests by which an entry with other names than the finding is looked up, the surest first."""
    of_content = _contents(item)
    return [*of_content[:1], *_views(item), *of_content[1:]]


def _names(item: Entry | BaselineIdentity) -> set[str]:
    """Return the digests of names, without those that are of the place since there are no names around it."""
    nameless = {mark for part in _all_parts(item) if _is_nameless(part) for mark in _marks_of_fault(part)}
    return {mark for mark in _all_marks(item) if mark[0] in f"x{_NAMES}"} - nameless


def _is_nameless(part: str) -> bool:
    """Return whether the digest of names in a text of `BaselineIdentity.parts` is that of the place."""
    outer = part.partition(INNER_DIGEST)[0].removeprefix(ALL_FAULTS)
    return outer[:DIGEST] == outer[DIGEST : 2 * DIGEST]


class _ListedFaults:
    """The faults that an entry lists and that have not been matched with a fault of a finding yet."""

    def __init__(self, parts: Iterable[str]) -> None:
        marks = [_marks_of_part(part) for part in parts]
        self._left = set(range(len(marks)))
        self._at: dict[str, list[int]] = {}
        for number, own in enumerate(marks):
            for mark in own:
                self._at.setdefault(mark, []).append(number)

    def remove(self, texts: Iterable[str], *, is_one_fault: bool, may_be_renamed: bool) -> bool:
        """Remove the faults of a finding from the list; if one of them is not listed, return False without a change.

        `is_one_fault`: whether the faults are uses of one. Then it is enough that one is listed, and none is removed,
        but none of them may be in the place of another one.
        """
        parts = [_marks_of_fault(part) for part in texts]
        if not may_be_renamed:
            parts = [[mark for mark in own if mark[0] in _NAMES] for own in parts]
        if is_one_fault:
            return self._is_one_more_or_less(parts, may_be_renamed=may_be_renamed)
        return self._remove_all(parts, _NAMES, _VIEWS) or self._remove_all(parts, _VIEWS, _NAMES)

    def _is_one_more_or_less(self, parts: list[list[str]], *, may_be_renamed: bool) -> bool:
        """Return whether any use is listed, and either all are, or each that is listed is still there.

        If names have changed, the uses in an entry of an older version may have nothing else by which they are known.
        """
        if any(self._is_listed(own, _NAMES) for own in parts):
            # Where some names are those of before, an index in a list may be that of a new value instead of a new name.
            parts = [_without_index(own) for own in parts]
        are_moved = any(self._is_listed(own, _VIEWS) and not self._is_listed(own, _NAMES) for own in parts)
        taken, unknown = self._taken(parts, *((_VIEWS,) if are_moved else (_NAMES, _VIEWS)))
        are_names_all = may_be_renamed and not any(mark[0] in _VIEWS for mark in self._at)
        return bool(taken) and (not unknown or taken == self._left or are_names_all)

    def _is_listed(self, own: list[str], kinds: str) -> bool:
        return self._find([mark for mark in own if mark[0] in kinds], set()) is not None

    def _remove_all(self, parts: list[list[str]], *kinds: str) -> bool:
        """Remove each fault, found by the first group of kinds or else by the next; False without a change if not.

        If names have moved to other nodes, one order of the groups may use up the listed fault that another fault of
        the finding needs, and the other order may not.
        """
        taken, unknown = self._taken(parts, *kinds)
        if not unknown:
            self._left -= taken
        return not unknown

    def _taken(self, parts: list[list[str]], *kinds: str) -> tuple[set[int], list[list[str]]]:
        """Return the listed faults that the faults of a finding are, each another one, and those that are not listed.

        Each is found by the first group of kinds or else by the next.
        """
        taken: set[int] = set()
        for chosen in kinds:
            unknown = []
            for own in parts:
                number = self._find([mark for mark in own if mark[0] in chosen], taken)
                if number is None:
                    unknown.append(own)
                else:
                    taken.add(number)
            parts = unknown
        return taken, parts

    def _find(self, marks: Iterable[str], taken: set[int]) -> int | None:
        for mark in marks:
            numbers = self._at.get(mark, [])
            while numbers and numbers[-1] not in self._left:
                numbers.pop()
            free = (number for number in reversed(numbers) if number in self._left and number not in taken)
            found = next(free, None)
            if found is not None:
                return found
        return None


def _without_index(marks: list[str]) -> list[str]:
    """Return the digests of a fault, only those of names if nothing but its index in a list describes it otherwise."""
    descriptions = {mark[1:] for mark in marks if mark[0] in _OF_TODAY}
    return [mark for mark in marks if mark[0] in _NAMES] if len(descriptions) == 1 else marks


def _new_among(texts: Iterable[str], listed: Iterable[str], *, may_be_renamed: bool) -> list[int]:
    """Return the indices of the faults of a finding that an entry does not list."""
    left = _ListedFaults(listed)
    return [
        number
        for number, text in enumerate(texts)
        if not left.remove((text,), is_one_fault=False, may_be_renamed=may_be_renamed)
    ]


def _value_at(place: Place) -> list[tuple[str, int | None]]:
    """Return the steps to the value or node that a place is directly in."""
    return [step for step in place.key[:-1] if step[0] != "dim"]


class _Matching:
    """The findings of a file, each with its entry in the baseline, if it has one.

    First, each finding gets the entry with its names. A finding that gets none, since no entry has its names or another
    finding has the entry, then gets one with the same operators around it. If another finding has that entry only by
    its names, because names have moved to other nodes, that finding gets an entry by its operators as well.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], entries: Entries) -> None:
        self.found = list(unfold(diagnostics))
        """The findings, unfolded."""
        self.named: list[str] = []
        """The fingerprint of each finding: of the two that it may have, the one in the baseline."""
        self.known: dict[int, str] = {}
        """The fingerprints of the entries of findings, by the index of the finding."""
        self._entries = entries
        self._left = {digest: entry.count for digest, entry in entries.items()}
        self._parts = {digest: _ListedFaults(entry.parts) for digest, entry in entries.items() if entry.parts}
        self._holders: dict[str, int] = {}
        """The last finding that got each entry."""
        self._compared = [_as_listed(each, entries) for each in self.found]
        """The findings, each at the place and under the clause where the baseline may have it."""
        for index, each in enumerate(self._compared):
            marks = _fingerprints(each)
            self.named.append(next((mark for mark in marks if mark in entries), marks[0]))
            self._assign(index, self.named[-1])
        unknown = [index for index in range(len(self.found)) if index not in self.known]
        if unknown and entries:
            self._assign_by_operators(unknown)

    def _assign(self, index: int, digest: str) -> bool:
        """Assign an entry to a finding; False if it does not list each fault of it, or if its count is used up."""
        each = self._compared[index]
        weight = _weight(each)
        if self._left.get(digest, 0) < weight:
            return False
        entry = self._entries[digest]
        parts = _parts_for(entry, each.identity)
        has_place = parts or _have_one_content(entry, each.identity)
        if entry.parts and not has_place and not (each.collective or each.identity.is_one_fault):
            return False  # of a value as a whole, while the entry is about a place inside of it
        is_listed = (
            not (entry.parts and parts)
            or _is_part_of_many(each, entry)
            or _is_of_one_part(each, entry)
            or _have_one_content(entry, each.identity)
        )
        may_be_renamed = _may_be_renamed(entry, each.identity)
        if not is_listed and not self._parts[digest].remove(
            parts, is_one_fault=each.identity.is_one_fault and not entry.elements, may_be_renamed=may_be_renamed
        ):
            return False
        self._left[digest] -= weight
        self._holders[digest] = index
        self.known[index] = digest
        return True

    def known_part(self, index: int) -> Diagnostic | None:
        """Return the elements of a finding that its entry knows although others are new; None if there are none."""
        each = self.found[index]
        elements, apart = each.identity.elements, each.identity.apart
        new = set(self._new_in(index)) if elements else set()
        known = [number for number in range(min(len(elements), len(apart))) if number not in new]
        if not new or not known:
            return None
        first = apart[known[0]]
        identity = replace(
            each.identity,
            elements=tuple(elements[number] for number in known),
            apart=tuple(apart[number] for number in known),
            element_count=len(known),
        )
        return replace(each, message=first.message, identity=identity)

    def _new_in(self, index: int) -> list[int]:
        """Return the numbers of the faults of a finding that are new, if its entry knows others."""
        each, entry = self.found[index], self._entries.get(self.named[index])
        identity = each.identity
        texts = identity.elements or identity.parts
        if entry is None or not identity.apart or bool(identity.elements) != bool(entry.elements):
            return []
        new = _new_among(texts, entry.parts, may_be_renamed=_may_be_renamed(entry, identity))
        return new if 0 < len(new) < len(texts) else []

    def worded_as_new(self, index: int) -> Diagnostic:
        """Return a finding without an entry, worded as new.

        If the entry with its names lists some of its faults, it is worded as the finding on the first new fault.
        """
        each, new = self.found[index], self._new_in(index)
        if not new:
            return each
        apart = each.identity.apart
        if new[0] >= len(apart):
            return replace(each, message=with_more(each.message, f"what is new comes after the first {MAX_LISTED}"))
        first, others = apart[new[0]], len(new) - 1
        more = f"{others:,} more {'is' if others == 1 else 'are'} not in the baseline"
        changed = replace(each, message=with_more(first.message, more) if others else first.message)
        if first.at.key == each.at.key:
            return changed
        related = tuple(other for other in each.related if other.at.key != first.at.key)
        # The lines are those around the first fault and the related places. The mark is at the first fault.
        is_shown = len(related) < len(each.related) or _value_at(first.at) == _value_at(each.at)
        return replace(
            changed,
            at=first.at,
            around=first.around,
            byte_range=first.byte_range,
            position=first.position,
            related=related,
            context=tuple(replace(line, mark=None) for line in each.context) if is_shown else (),
        )

    def _release(self, index: int) -> str | None:
        """Take the entry from a finding, which is the only one that has it, and return it; None if it has none."""
        digest = self.known.pop(index, None)
        if digest is not None:
            entry = self._entries[digest]
            self._left[digest], self._parts[digest] = entry.count, _ListedFaults(entry.parts)
            del self._holders[digest]
        return digest

    def _assign_by_operators(self, unknown: Iterable[int]) -> None:
        """Assign entries to the findings without one, by the operators around them."""
        at = {(entry.rule, mark): digest for digest, entry in self._entries.items() for mark in _keys(entry)}
        seen: set[str] = set()
        have_moved = self._rules_with_moved_names()
        for index in unknown:
            self._compared[index] = self._as_listed_by_operators(index, at)
            for finding, digest in self._path_from(index, at, seen, self.found[index].rule in have_moved):
                former = self._release(finding)
                if not self._assign(finding, digest):
                    if former is not None:
                        self._assign(finding, former)
                    break

    def _as_listed_by_operators(self, index: int, at: Mapping[tuple[str, str], str]) -> Diagnostic:
        """Return a finding as an entry with other names may list it."""
        each = self.found[index]
        forms = _forms(each)
        if len(forms) > 1:
            for form in forms:
                digests = filter(None, (at.get((form.rule, mark)) for mark in _keys(form.identity)))
                if any(_may_be_listed_as(form, each, self._entries[digest]) for digest in digests):
                    return form
        return self._compared[index]

    def _rules_with_moved_names(self) -> set[str]:
        """Return the rules whose findings mostly have, by their names, entries of findings at other places."""
        balance: Counter[str] = Counter()
        for index, digest in self.known.items():
            entry, each = self._entries[digest], self.found[index]
            if entry.structure and each.identity.structure:
                balance[each.rule] += 1 if set(_views(entry)).isdisjoint(_views(each.identity)) else -1
        return {rule for rule, count in balance.items() if count > 0}

    def _path_from(
        self, index: int, at: Mapping[tuple[str, str], str], seen: set[str], have_moved: bool
    ) -> list[tuple[int, str]]:
        """Return moves of findings to entries after which the finding has an entry; none if there are no such moves.

        The last move is the first in the list. An entry that is not free is tried once for all findings (`seen`), since
        a chain may be as long as the baseline. `have_moved`: whether names have moved to other nodes, so that a finding
        may lose the entry that it has by its names.
        """
        came_from: dict[str, tuple[int, str | None]] = {}
        pending: list[tuple[int, str | None]] = [(index, None)]
        for finding, entry_before in pending:
            rule, identity = self.found[finding].rule, self._compared[finding].identity
            for digest in dict.fromkeys(filter(None, [at.get((rule, mark)) for mark in _keys(identity)])):
                entry = self._entries[digest]
                # With the names of the entry it is another finding at the same place.
                is_renamed = _may_be_renamed(entry, identity) and (
                    _names(entry).isdisjoint(_names(identity)) or _reads_new_node(entry, self._compared[finding])
                )
                if digest in seen or not (is_renamed or _has_new_storage(entry, identity)):
                    continue
                came_from[digest] = finding, entry_before
                if self._left[digest]:
                    return _back(digest, came_from)  # it may know several findings
                seen.add(digest)
                holder = self._holders[digest]
                views_of_holder = _views(self.found[holder].identity)
                is_elsewhere = entry.count == 1 and set(_views(entry)).isdisjoint(views_of_holder)
                if have_moved and is_elsewhere:
                    pending.append((holder, digest))
        return []


def _fingerprints(diagnostic: Diagnostic) -> tuple[str, str]:
    """Return the fingerprint of a finding, and the one that older versions made."""
    return _fingerprint(diagnostic), _fingerprint(diagnostic, with_main=True)


def _forms(diagnostic: Diagnostic) -> tuple[Diagnostic, ...]:
    """Return a finding, and what older versions may have made of it: at another place, and under other clauses."""
    identity = diagnostic.identity
    at_former_place = () if identity.former is None else (identity.former,)
    return (diagnostic, *at_former_place, *(form for each in identity.under_former_clauses for form in _forms(each)))


def _as_listed(diagnostic: Diagnostic, entries: Entries) -> Diagnostic:
    """Return a finding as an older version reported it, if the baseline has it only so."""
    forms = _forms(diagnostic)
    if len(forms) > 1:
        for form in forms:
            listed = next((entries[mark] for mark in _fingerprints(form) if mark in entries), None)
            if listed is not None and _may_be_listed_as(form, diagnostic, listed):
                return form
    return diagnostic


def _may_be_listed_as(form: Diagnostic, diagnostic: Diagnostic, entry: Entry) -> bool:
    """Return whether the version that wrote the entry may have reported the finding under the clause of `form`."""
    if form.clause == diagnostic.clause:
        return True
    return has_changed_since(entry.clauses, diagnostic.clause, form.clause)


def _back(digest: str, came_from: Mapping[str, tuple[int, str | None]]) -> list[tuple[int, str]]:
    """Return the moves that end with a free entry, from the last one back to that of the finding without an entry."""
    moves = []
    last: str | None = digest
    while last is not None:
        finding, entry_before = came_from[last]
        moves.append((finding, last))
        last = entry_before
    return moves


def _may_be_renamed(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether any name of the model has changed since the entry was written."""
    # An older version wrote one digest where there are two now.
    return not entry.names or not identity.names.startswith(entry.names)


def _reads_new_node(entry: Entry, diagnostic: Diagnostic) -> bool:
    """Return whether a node at fault reads the value in the entry through a node that may be new.

    Without a new node, it is another value in the place of the known one.
    """
    known, now = (_marks(each.structure, _STRUCTURE) for each in (entry, diagnostic.identity))
    whole = next((mark for mark in now if mark[0] == _WHOLE), None)
    if not _is_sure(entry) or whole is None or whole in known:
        return False
    before = (replace(diagnostic, subject=name) for name in diagnostic.identity.sources)
    return any(entry.fingerprint in _fingerprints(each) for each in before)


def _is_part_of_many(diagnostic: Diagnostic, entry: Entry) -> bool:
    """Return whether the finding has fewer faults than the entry, and these are too many to be listed one by one."""
    identity = diagnostic.identity
    if entry.elements and identity.elements:
        return entry.elements > max(MAX_LISTED, identity.element_count)
    are_many = any(part.startswith(ALL_FAULTS) or len(part) == DIGEST for part in (*entry.parts, *identity.parts))
    return are_many and entry.count > _weight(diagnostic)


def _is_of_one_part(diagnostic: Diagnostic, entry: Entry) -> bool:
    """Return whether an older version wrote the uses of a name as one finding, and listed the first of them alone."""
    return diagnostic.collective and entry.count > len(entry.parts)


def _where(diagnostic: Diagnostic) -> str:
    """Return `Entry.where`."""
    scope = () if diagnostic.collective else diagnostic.around.scope
    names = [shortened(name, MAX_KEPT_NAME_CHARACTERS) for name in scope if name]
    if diagnostic.subject and diagnostic.subject not in names:
        names.append(shortened(diagnostic.subject, MAX_KEPT_NAME_CHARACTERS))
    return encodable(" / ".join(names))


def suppress_known(file: FileReport, entries: Entries) -> FileReport:
    """Return the report with the findings that the entries list suppressed."""
    matching = _Matching(file.diagnostics, entries)
    new = [matching.worded_as_new(index) for index in range(len(matching.found)) if index not in matching.known]
    known = [
        each if index in matching.known else matching.known_part(index) for index, each in enumerate(matching.found)
    ]
    return replace(file, diagnostics=fold(new), suppressed=fold(filter(None, known)))


def surviving_entries(file: FileReport, entries: Entries, rules: Collection[str]) -> dict[str, Entry]:
    """Return the entries that still occur in the file, with the remaining counts. `rules`: the rules that ran.

    Entries of a rule that did not run, or did not finish, are kept.
    """
    found: Counter[str] = Counter()
    matching = _Matching((*file.suppressed, *file.diagnostics), entries)
    for index, diagnostic in enumerate(matching.found):
        found[matching.known.get(index, matching.named[index])] += _weight(diagnostic)
    crashed = {rule for error in file.internal_errors for rule in (error.rule, *error.not_run)}
    # In a file that was not judged only some rules ran, in an unreadable one none. After a crash in an analysis, or
    # without numpy, any rule may have found less.
    is_whole = OWN_ERRORS not in crashed and not file.lacks_numpy
    is_judged = file.not_judged is None and file.unreadable is None and is_whole
    judged = frozenset(rules) - crashed if is_judged else frozenset()
    alive: dict[str, Entry] = {}
    for digest, entry in entries.items():
        count = min(found[digest], entry.count) if entry.rule in judged else entry.count
        if count:
            alive[digest] = replace(entry, count=count)
    return alive


def count_imprecise(file: FileReport, entries: Entries) -> int:
    """Return how many entries, written by an older version, know findings but lack the place inside or the key."""
    matching = _Matching(file.suppressed, entries)
    known = {digest: matching.found[index] for index, digest in matching.known.items()}
    return sum(_is_less_precise(entries[digest], each.identity) for digest, each in known.items())


def _is_less_precise(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an entry identifies the faults of a finding less precisely than it could."""
    is_renamed = _names(entry).isdisjoint(_names(identity))
    if is_renamed and not _is_sure(entry) and not set(_views(entry)).isdisjoint(_views(identity)):
        return True  # known by its position alone
    if identity.element_count > 1 and not entry.elements:
        return True
    return bool(identity.parts) and not entry.elements and not _has_inner_places(entry, identity)


def _is_sure(entry: Entry) -> bool:
    texts = (text.removeprefix(ALL_FAULTS) for text in (entry.structure, *entry.parts))
    return any(text.startswith(_SURE) for text in texts)


def _has_inner_places(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an entry identifies the places inside of values as precisely as the finding."""
    wanted, listed = (max((part.count(INNER_DIGEST) for part in item.parts), default=0) for item in (identity, entry))
    if wanted:
        return listed >= wanted
    return any(mark[0] in "nw" for part in entry.parts for mark in _marks(part.partition(INNER_DIGEST)[0], _PARTS))


def former_name(file: FileReport, baseline: Baseline, missing: Iterable[str]) -> str | None:
    """Return the name of a missing file whose entries are exactly the findings of this one; None if there is none."""
    if not file.diagnostics:
        return None
    found = {mark: entry.count for mark, entry in entries_of(file.diagnostics).items()}
    counts = ({mark: entry.count for mark, entry in baseline[name].items()} for name in missing)
    return next((name for name, count in zip(missing, counts, strict=True) if count == found), None)


def count_stale(baseline: Baseline, alive: Baseline) -> int:
    """Return how many entries of the baseline are not among those alive, or have a smaller count there."""
    pairs = ((entry, alive.get(name, {}).get(key)) for name, found in baseline.items() for key, entry in found.items())
    return sum(left is None or left.count < entry.count for entry, left in pairs)


# --- the file


def to_json(baseline: Baseline) -> str:
    """Return the text of the baseline file: sorted, one entry per line, equal for equal entries."""
    blocks = []
    for path in sorted(baseline):
        entries = sorted(baseline[path].values(), key=lambda entry: (entry.rule, entry.where, entry.fingerprint))
        if entries:
            lines = ",\n".join(f"      {json.dumps(_record(entry))}" for entry in entries)
            blocks.append(f"    {json.dumps(path)}: [\n{lines}\n    ]")
    files = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
    return f'{{\n  "version": {VERSION},\n  "files": {files}\n}}\n'


def _record(entry: Entry) -> dict[str, Any]:
    record = {"rule": entry.rule, "where": entry.where, "count": entry.count, "fingerprint": entry.fingerprint}
    structure = {"structure": entry.structure} if entry.structure else {}
    parts = {"parts": " ".join(entry.parts)} if entry.parts else {}
    elements = {"elements": entry.elements} if entry.elements else {}
    content = {"content": entry.content} if entry.content else {}
    names = {"names": entry.names} if entry.names else {}
    rows = {"clauses": entry.clauses} if entry.clauses else {}
    return record | structure | parts | elements | content | names | rows


def read_baseline(path: str) -> Baseline:
    """Return the baseline in the file at `path`. Raises ConfigurationError if it cannot be read or is none."""
    try:
        data = read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        raise ConfigurationError(f"{path}: {reason}{hint}") from error
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: is not a baseline: it is not JSON") from error
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ConfigurationError(f"{path}: has version {version}; this onnx-lint supports version {VERSION}")
    try:
        return {name: _entries(records) for name, records in document["files"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"{path}: is not a baseline of onnx-lint, or is damaged") from error


def _entries(records: Any) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for record in records:
        more = record.get("structure", ""), record.get("parts", ""), record.get("names", "")
        content = record.get("content", "")
        texts = record["fingerprint"], record["rule"], record.get("where", ""), *more, content
        numbers = record.get("elements", 0), record.get("clauses", 0)
        if not all(isinstance(text, str) for text in texts) or type(record["count"]) is not int or record["count"] < 1:
            raise ValueError(f"not an entry: {record!r:.100}")
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ValueError(f"not an entry: {record!r:.100}")
        parts = tuple(more[1].split())
        entry = Entry(*texts[:3], record["count"], more[0], parts, more[2], numbers[0], content, numbers[1])
        known = found.get(entry.fingerprint)
        # After a merge of two branches, an entry may have two lines.
        found[entry.fingerprint] = entry if known is None else replace(entry, count=max(entry.count, known.count))
    return found
