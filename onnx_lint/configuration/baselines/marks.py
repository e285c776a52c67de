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
    """The field of `PlaceDigests` that has the digest, or `_COMPLETE_NAMES` or `_STRUCTURE_NAMES`."""
    digest: str
    inner: str = ""
    """See `FaultDigests`, also for the next one."""
    keys: str = ""
    partners: str = ""
    """The digest of this kind of the partners."""


_COMPLETE_NAMES: Final = "complete_names_inside"
"""The kind of `names_inside` in entries of today. Entries of older versions may lack `inner`, `keys` or `partners`."""
_STRUCTURE_NAMES: Final = "structure_names"
"""The kind of `names` in `Entry.structure`. In a fault, `names` is the digest of other texts."""

NAMES: Final = frozenset({"names", "names_inside", _COMPLETE_NAMES, _STRUCTURE_NAMES})
"""The kinds of marks that are about names."""
OPERATORS: Final = frozenset(KINDS) - NAMES
"""The kinds of marks that are about the operators around a place."""
_OF_OLDER_VERSIONS: Final = frozenset({"steps", "names", "names_inside", "from_start", "from_end", "by_operators"})
_OF_TODAY: Final = frozenset({"before", "after", "both_ends", WHOLE})

LookupKey = Mark | tuple[str, str]
"""A mark, or a digest of `Entry.content` after its kind."""


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
            names.add(Mark(_STRUCTURE_NAMES, digest))
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
    return _with_complete_names(marks) if fault.place.before else marks


def marks_of_fault(fault: FaultDigests) -> list[Mark]:
    """Return the marks that an entry of any version may have for a fault of a finding, the surest first."""
    marks = _marks(fault)
    of_today = [mark for mark in _with_complete_names(marks) if mark.kind == _COMPLETE_NAMES]
    older = [mark for form in _older_forms(fault) for mark in _marks(form) if mark.kind in _OF_OLDER_VERSIONS]
    return list(dict.fromkeys((*of_today, *marks, *older)))


def _with_complete_names(marks: Iterable[Mark]) -> list[Mark]:
    return [mark._replace(kind=_COMPLETE_NAMES) if mark.kind == "names_inside" else mark for mark in marks]


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


def without_marks_of_index(marks: list[Mark]) -> list[Mark]:
    """Return the marks of a fault without those of operators if these only have its index in a list.

    The marks of an element that is described by its index alone have the same digest in each kind.
    """
    descriptions = {(mark.digest, mark.partners) for mark in marks if mark.kind in _OF_TODAY}
    return only_names(marks) if len(descriptions) == 1 else marks


def only_names(marks: Iterable[Mark]) -> list[Mark]:
    """Return those of the marks that are about names."""
    return [mark for mark in marks if mark.kind in NAMES]
