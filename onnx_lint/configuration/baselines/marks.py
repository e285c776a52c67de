# SPDX-License-Identifier: Apache-2.0
"""The marks by which an entry of a baseline and a finding are compared: they agree if they have one in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Final, NamedTuple

from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.baselines.entries import Entry
from onnx_lint.report.digests import KINDS, WHOLE, ContentDigests, FaultDigests, PlaceDigests
from onnx_lint.report.findings import BaselineIdentity


class Mark(NamedTuple):
    """A digest of a place with the other digests of the fault there."""

    kind: str
    """The field of `PlaceDigests` that the digest is from, or one of the two kinds below."""
    digest: str
    inner: str = ""
    """See `FaultDigests`, also for the next one."""
    keys: str = ""
    partners: str = ""
    """The digest of this kind of the partners."""


_ALL_OF_FAULT: Final = "names_inside, and nothing of the fault left out"
"""The kind of `names_inside` in entries of today. Entries of older versions may lack `inner`, `keys` or `partners`."""
_OF_STRUCTURE: Final = "names of structure"
"""The kind of `names` of `Entry.structure`, which are not those of a fault."""

NAMES: Final = frozenset({"names", "names_inside", _ALL_OF_FAULT, _OF_STRUCTURE})
"""The kinds of marks that are about names."""
OPERATORS: Final = frozenset(KINDS) - NAMES
"""The kinds of marks that are about the operators around a place."""
_OF_OLDER_VERSIONS: Final = frozenset({"steps", "names", "names_inside", "from_start", "from_end", "by_operators"})
_OF_TODAY: Final = frozenset({"before", "after", "both_ends", WHOLE})

LookupKey = tuple[str, ...]
"""A mark, or a kind and a digest of a stored tensor's content."""


class Marks(Record):
    """All marks of an entry or a finding."""

    names: frozenset[Mark]
    """Without those of places that have no names around them."""
    operators: tuple[Mark, ...]
    """An entry and a finding with different names agree if they share one."""
    keys: tuple[LookupKey, ...]
    """By these, an entry with other names than the finding is looked up, the surest first."""


def marks_of_entry(entry: Entry) -> Marks:
    """Return the marks of an entry."""
    in_faults = [(fault, marks_of_listed(fault)) for fault in entry.faults]
    found = _all_marks(entry.structure, entry.content, in_faults)
    # If an entry has newer ones, its oldest one (steps) is there for older versions only.
    newer = tuple([mark for mark in found.operators if mark.kind != "steps"])
    if not newer:
        return found
    return replace(found, operators=newer, keys=_keys(entry.content, newer))


def marks_of_finding(identity: BaselineIdentity) -> Marks:
    """Return the marks of a finding."""
    in_faults = [(fault, marks_of_fault(fault)) for fault in (*identity.parts, *identity.elements)]
    return _all_marks(identity.structure, identity.content, in_faults)


def _all_marks(
    structure: PlaceDigests | None, content: ContentDigests | None, in_faults: Iterable[tuple[FaultDigests, list[Mark]]]
) -> Marks:
    names, operators = set[Mark](), list[Mark]()
    for kind, digest in _digests_of(structure):
        if kind == "names":
            names.add(Mark(_OF_STRUCTURE, digest))
        else:
            operators.append(Mark(kind, digest))
    for fault, marks in in_faults:
        operators += [mark for mark in marks if mark.kind in OPERATORS]
        if _has_names(fault):
            names.update(only_names(marks))
    return Marks(names=frozenset(names), operators=tuple(operators), keys=_keys(content, operators))


def _keys(content: ContentDigests | None, operators: Iterable[Mark]) -> tuple[LookupKey, ...]:
    of_content = _digests_of(None if content is None else content.place)  # that of the tensor's name is the first
    return (*of_content[:1], *operators, *of_content[1:])


def _digests_of(place: PlaceDigests | None) -> list[tuple[str, str]]:
    """Return the known digests of a place, each after its kind."""
    return [] if place is None else place.items()


def _has_names(fault: FaultDigests) -> bool:
    """Return whether there are names around a fault. Without any, the steps to its place have the digest of names."""
    return not fault.place.names or fault.place.names != fault.place.steps


def marks_of_listed(fault: FaultDigests) -> list[Mark]:
    """Return the marks of a fault that an entry lists."""
    marks = _marks(fault)
    return _with_all_of_fault(marks) if fault.place.before else marks


def marks_of_fault(fault: FaultDigests) -> list[Mark]:
    """Return the marks that an entry of any version may have for a fault of a finding, the surest first."""
    marks = _marks(fault)
    of_today = [mark for mark in _with_all_of_fault(marks) if mark.kind == _ALL_OF_FAULT]
    older = [mark for form in _older_forms(fault) for mark in _marks(form) if mark.kind in _OF_OLDER_VERSIONS]
    return list(dict.fromkeys((*of_today, *marks, *older)))


def _with_all_of_fault(marks: Iterable[Mark]) -> list[Mark]:
    return [mark._replace(kind=_ALL_OF_FAULT) if mark.kind == "names_inside" else mark for mark in marks]


def _older_forms(fault: FaultDigests) -> Iterator[FaultDigests]:
    """Yield the fault as older versions identified it: without what they did not compare yet."""
    if fault.keys or fault.partners:
        yield replace(fault, inner="")
    yield replace(fault, partners=None)
    yield replace(fault, partners=None, keys="")
    yield replace(fault, partners=None, keys="", inner="")


def _marks(fault: FaultDigests) -> list[Mark]:
    """Return a mark for each digest of the place; with partners, for each that they have as well."""
    marks: list[Mark] = []
    for kind in KINDS:
        partners = repeat("") if fault.partners is None else fault.partners.of_kind(kind)
        for digest, partner in zip(fault.place.of_kind(kind), partners, strict=False):
            marks.append(Mark(kind, digest, fault.inner, fault.keys, partner))
    return marks


def without_index(marks: list[Mark]) -> list[Mark]:
    """Return the marks of a fault, only those of names if nothing but its index in a list describes it otherwise."""
    descriptions = {(mark.digest, mark.partners) for mark in marks if mark.kind in _OF_TODAY}
    return only_names(marks) if len(descriptions) == 1 else marks


def only_names(marks: Iterable[Mark]) -> list[Mark]:
    """Return those of the marks that are about names."""
    return [mark for mark in marks if mark.kind in NAMES]
