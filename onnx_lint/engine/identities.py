# SPDX-License-Identifier: Apache-2.0
"""The identities of findings, by which a baseline knows them again after the model has changed."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.common.record import replace
from onnx_lint.engine.structure import Structure, Structures, digest
from onnx_lint.report.findings import ALL_FAULTS, INNER_DIGEST, MOST_LISTED, BaselineIdentity, Diagnostic
from onnx_lint.rule import FaultParts, Faults, Finding


def with_identity(diagnostic: Diagnostic, finding: Finding, structures: Structures) -> Diagnostic:
    """Return the diagnostic with the identities that a baseline compares besides the names."""
    clause = diagnostic.clause
    found = structures.of(finding.place)
    structure = "".join(
        (
            digest(clause, *found.steps),
            digest(*found.names),
            *(digest(clause, *view) for view in (found.from_start, found.from_end, found.by_operators)),
        )
    )
    is_one = finding.parts is None or finding.parts.is_one_fault or finding.parts.are_few(1)
    if finding.parts is not None:
        parts, is_any = _of_parts(clause, finding.parts, structures), finding.parts.is_one_fault
    else:
        # Of a collective finding only the first place is known.
        is_inside = bool(found.inside or found.keys or finding.inner) and not finding.collective
        parts, is_any = (_part(clause, found, finding.inner),) if is_inside else (), False
    has_elements = finding.elements is not None or finding.user is not None
    elements, count = _of_elements(clause, finding, structures) if has_elements else ((), 0)
    identity = BaselineIdentity(
        structure=structure if found.names and is_one else "",
        parts=parts,
        names=structures.digest_of_names(finding.place),
        elements=elements,
        element_count=count,
        is_one_fault=is_any,
    )
    return replace(diagnostic, identity=identity)


def _part(clause: str, found: Structure, inner: str) -> str:
    """Return the identity of one fault: the digests that `BaselineIdentity.parts` describes."""
    # Without names around it, a fault is known by its place alone.
    names = found.names or found.steps
    return "".join(
        (
            digest(*found.steps),
            digest(*names),
            digest(clause, *names, *found.inside),
            *(digest(clause, *view) for view in (found.from_start, found.from_end, found.by_operators)),
            _behind_inner((inner,), found.keys),
        )
    )


def _of_elements(clause: str, finding: Finding, structures: Structures) -> tuple[tuple[str, ...], int]:
    """Return the identities of the first wrong elements of a value and one of all others, and the number of all."""
    faults = finding.elements
    places = [(finding.place, finding.inner)] if faults is None else list(faults.places())
    user = None if finding.user is None else structures.of(finding.user)
    known = [_part(clause, user or structures.of(place), inner) for place, inner in places[:MOST_LISTED]]
    if len(places) > MOST_LISTED:
        others = digest(*(f"{place.field} {place.index} {inner}" for place, inner in places[MOST_LISTED:]))
        known.append(_part(clause, user or structures.of(places[0][0]), others))
    return tuple(known), len(places)


def _behind_inner(inner: Sequence[str], keys: Sequence[str]) -> str:
    """Return the end of the identity of faults: what is wrong inside of the place, and the keys on the way to it."""
    ends = [digest(*each) if any(each) else "" for each in (inner, keys)]
    return "".join(INNER_DIGEST + end for end in ends).rstrip(INNER_DIGEST)


def _of_parts(clause: str, parts: FaultParts | Faults, structures: Structures) -> tuple[str, ...]:
    """Return the identities of the faults. Those of many are one, or none if the faults are uses of one."""
    if parts.are_few(MOST_LISTED):
        return tuple(sorted(_part(clause, structures.of(place), inner) for place, inner in parts.places()))
    if parts.is_one_fault:
        return ()
    places = list(parts.places())
    found = [structures.of(place) for place, _ in places]
    names = [each.names or each.steps for each in found]
    texts = [
        ["\0".join(each) for each in names],
        ["\0".join((*each, *one.inside)) for each, one in zip(names, found, strict=True)],
        *(["\0".join(getattr(each, view)) for each in found] for view in ("from_start", "from_end", "by_operators")),
    ]
    inner, keys = sorted(each for _, each in places), sorted("\0".join(one.keys) for one in found)
    return (ALL_FAULTS + "".join(digest(*sorted(each)) for each in texts) + _behind_inner(inner, keys),)
