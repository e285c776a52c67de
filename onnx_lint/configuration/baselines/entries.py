# SPDX-License-Identifier: Apache-2.0
"""The entries of a baseline, and those for the findings of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.baselines.encoding import CONTENT, STRUCTURE, digests_as_written, fault_as_written
from onnx_lint.report.digests import ContentDigests, FaultDigests, PlaceDigests
from onnx_lint.report.findings import BaselineIdentity, Diagnostic
from onnx_lint.report.folding import unfold
from onnx_lint.reporters.escape import encodable, shortened
from onnx_lint.reporters.fingerprint import digest_of, digest_with_main_graph
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.former_clauses import rows_known

FINGERPRINT_DIGITS: Final = 32
MAX_KEPT_NAME_CHARACTERS: Final = 200
"""The most characters of a name in an entry."""


class Entry(Record):
    """The findings of one file with one fingerprint."""

    fingerprint: str
    rule: str
    where: str
    """The names around the place, for people."""
    count: int
    structure: PlaceDigests | None = None
    """The place; None if there are several, or if an older version did not identify it."""
    faults: tuple[FaultDigests, ...] = ()
    """The faults that it lists: the elements if `element_count` is not 0, and otherwise the parts. Empty if unknown."""
    names: str = ""
    """A digest of all names of the kind that the place has; empty if unknown."""
    element_count: int = 0
    """The number of wrong elements or dimensions; 0 if an older version did not list them."""
    content: ContentDigests | None = None
    """The fault as one of a stored tensor; None for other faults, and if an older version did not identify it."""
    clauses: int = 0
    """See `rows_known`; 0 if an older version wrote the entry, or if no clause has been divided since."""


Entries = Mapping[str, Entry]
"""The entries of one file, by their fingerprints."""
Baseline = Mapping[str, Entries]
"""The entries of each file, by its name in the baseline."""


def entries_of(diagnostics: Iterable[Diagnostic]) -> dict[str, Entry]:
    """Return the entries for the diagnostics of one file, by fingerprint."""
    found: dict[str, Entry] = {}
    for each in unfold(diagnostics):
        entry = _entry_of(each)
        known = found.get(entry.fingerprint)
        found[entry.fingerprint] = entry if known is None else _joined(known, entry)
    return found


def _entry_of(diagnostic: Diagnostic) -> Entry:
    """Return the entry of one finding."""
    identity, content = diagnostic.identity, diagnostic.identity.content
    # Elements keep the order that they have in the value. Parts have no order of their own.
    faults = identity.elements or sorted(identity.parts, key=_order)
    return Entry(
        fingerprint=fingerprint_of(diagnostic),
        rule=diagnostic.rule,
        where=_where(diagnostic),
        count=weight_of(diagnostic),
        structure=None if identity.structure is None else digests_as_written(identity.structure, STRUCTURE),
        faults=tuple(map(fault_as_written, faults)),
        names=identity.names,
        element_count=identity.element_count,
        content=None if content is None else replace(content, place=digests_as_written(content.place, CONTENT)),
        clauses=rows_known(diagnostic.clause),
    )


def _order(fault: FaultDigests) -> tuple[object, ...]:
    partners = [] if fault.partners is None else fault.partners.items()
    return fault.place.items(), fault.inner, fault.keys, partners


def _joined(known: Entry, entry: Entry) -> Entry:
    """Return one entry for findings with one fingerprint: their faults, or none if those of one are unknown."""
    has_all_faults = known.faults and entry.faults
    # If the elements of only one of two values are listed, the entry has no list for both.
    has_all_elements = known.element_count and entry.element_count
    return replace(
        known,
        count=known.count + entry.count,
        structure=None,
        faults=(*known.faults, *entry.faults) if has_all_faults else (),
        element_count=known.element_count + entry.element_count if has_all_elements else 0,
        content=None,
    )


def _where(diagnostic: Diagnostic) -> str:
    """Return `Entry.where`."""
    scope = () if diagnostic.collective else diagnostic.around.scope
    names = [shortened(name, MAX_KEPT_NAME_CHARACTERS) for name in scope if name]
    if diagnostic.subject and diagnostic.subject not in names:
        names.append(shortened(diagnostic.subject, MAX_KEPT_NAME_CHARACTERS))
    return encodable(" / ".join(names))


def weight_of(diagnostic: Diagnostic) -> int:
    """Return how much the diagnostic adds to the count of an entry.

    It is 1 if the clause is only counted by default: that is a habit of an exporter, which is not new if it concerns
    more names. Otherwise it is the number of faults.
    """
    clause = clauses().get(diagnostic.clause)
    return 1 if clause is not None and clause.counted else diagnostic.count


def fingerprint_of(diagnostic: Diagnostic) -> str:
    """Return the fingerprint of a finding in an entry of today."""
    return digest_of(diagnostic)[:FINGERPRINT_DIGITS]


def fingerprints_of(diagnostic: Diagnostic) -> tuple[str, str]:
    """Return the fingerprint of a finding, and the one that older versions made."""
    return fingerprint_of(diagnostic), digest_with_main_graph(diagnostic)[:FINGERPRINT_DIGITS]


def may_be_renamed(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether any name of the model may have changed since the entry was written."""
    # An older version wrote one digest where there are two now.
    return not entry.names or not identity.names.startswith(entry.names)


def has_current_digests(entry: Entry) -> bool:
    """Return whether a version wrote the entry that compared all operators before or after a place, as `View` does."""
    places = (entry.structure, *(fault.place for fault in entry.faults))
    return any(place is not None and place.before for place in places)
