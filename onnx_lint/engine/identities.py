# SPDX-License-Identifier: Apache-2.0
"""The identities of findings, by which a baseline knows them again after the model has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from onnx_lint.common.record import replace
from onnx_lint.engine.describe import extent_of
from onnx_lint.engine.structure import Structure, Structures, digest
from onnx_lint.model import Model
from onnx_lint.report.findings import (
    ALL_FAULTS,
    INNER_DIGEST,
    MOST_LISTED,
    BaselineIdentity,
    Diagnostic,
    RelatedPlace,
)
from onnx_lint.rule import FaultParts, Faults, Finding
from onnx_lint.wording import MAX_MESSAGE, shortened, with_more

if TYPE_CHECKING:
    from onnx_lint.model import Place
    from onnx_lint.rule import FaultIdentity


def with_identity(diagnostic: Diagnostic, finding: Finding, structures: Structures, model: Model) -> Diagnostic:
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
        is_inside = bool(found.inside or found.keys or finding.inner or finding.partners) and not finding.collective
        own = finding.place, finding.inner, finding.partners
        parts, is_any = (_part(clause, own, structures),) if is_inside else (), False
    has_elements = finding.elements is not None or finding.user is not None
    elements, count = _of_elements(clause, finding, structures) if has_elements else ((), 0)
    identity = BaselineIdentity(
        structure=structure if found.names and is_one else "",
        parts=parts,
        names=structures.digest_of_names(finding.place, is_of_nodes=bool(finding.user or finding.partners)),
        elements=elements,
        element_count=count,
        apart=_apart(finding, parts, model),
        content="" if finding.collective else _of_content(clause, finding, structures),
        is_one_fault=is_any,
    )
    return replace(diagnostic, identity=identity)


def _apart(finding: Finding, parts: Sequence[str], model: Model) -> tuple[RelatedPlace, ...]:
    """Return `BaselineIdentity.apart`. `parts`: `BaselineIdentity.parts`, which are in order if there are few."""
    faults = finding.elements or finding.parts
    if faults is None or faults.are_few(1) or (finding.elements is None and (faults.is_one_fault or len(parts) < 2)):
        return ()
    alone = [each or finding for each in faults.alone(MOST_LISTED)]
    found: list[RelatedPlace] = []
    first_partners: tuple[Place, ...] | None = None
    for each, (place, inner, partners) in zip(alone, faults.identities(), strict=False):
        message = each.message
        first_partners = partners if first_partners is None else first_partners
        if found and message == alone[0].message:
            is_of_call = partners and partners != first_partners
            message = with_more(message, f"what is new is {partners[0] if is_of_call else inner or place}")
        found.append(RelatedPlace(place, shortened(message, MAX_MESSAGE), extent_of(each, model)))
    return tuple(found)


def _part(clause: str, fault: FaultIdentity, structures: Structures, around: Structure | None = None) -> str:
    """Return the identity of one fault, as in `BaselineIdentity.parts`. `around`: that of its user."""
    place, inner, partners = fault
    found = around or structures.of(place)
    names = _names(found)
    return "".join(
        (
            digest(*found.steps),
            digest(*names),
            digest(clause, *names, *found.inside),
            *(digest(clause, *view) for view in (found.from_start, found.from_end, found.by_operators)),
            _end((inner,), found.keys, _of_partners([[structures.of(each) for each in partners]])),
        )
    )


def _names(found: Structure) -> Sequence[str]:
    """Return the names around a place. Without any, a fault is known by its place alone."""
    return found.names or found.steps


def _of_partners(faults: Sequence[Sequence[Structure]]) -> str:
    """Return the digests of the other places of each fault, one for each of `views`."""
    if not any(faults):
        return ""
    views: tuple[Callable[[Structure], Sequence[str]], ...] = (
        _names,
        lambda each: each.from_start,
        lambda each: each.from_end,
        lambda each: each.by_operators,
    )
    # The place inside of one is part of each digest, as it is of the first of them.
    return "".join(
        digest(*sorted("\0".join(text for each in places for text in (*view(each), *each.inside)) for places in faults))
        for view in views
    )


def _of_elements(clause: str, finding: Finding, structures: Structures) -> tuple[tuple[str, ...], int]:
    """Return the identities of the first wrong elements of a value and one of all others, and the number of all."""
    faults = finding.elements
    found = [(finding.place, finding.inner, finding.partners)] if faults is None else list(faults.identities())
    user = None if finding.user is None else structures.of(finding.user)
    known = [_part(clause, each, structures, user) for each in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        others = digest(*(f"{place.field} {place.index} {inner}" for place, inner, _ in found[MOST_LISTED:]))
        known.append(_part(clause, (found[0][0], others, found[0][2]), structures, user))
    return tuple(known), len(found)


def _of_content(clause: str, finding: Finding, structures: Structures) -> str:
    """Return `BaselineIdentity.content`: of all wrong elements together."""
    faults = [(finding.place, finding.inner, finding.partners)] if finding.elements is None else None
    found = list(finding.elements.identities()) if finding.elements is not None else faults or []
    # An element of what a node reads may have a place of its own or not.
    around = [structures.of_content(place, is_whole=bool(finding.user and inner)) for place, inner, _ in found]
    count = min(map(len, around))
    if not count or any(partners for _, _, partners in found):
        return ""
    place = finding.place
    reader = place.parent if place.field == "input" else finding.user  # which reads what a Constant gives
    user = () if reader is None else _views(structures.of(reader))
    inner = [each for _, each, _ in found]
    digests = []
    for number in range(count):
        of_user = user[number] if user else ()
        digests.append(digest(clause, *of_user, *inner, *(text for views in around for text in views[number])))
    return f"{'initializer' if _is_of_initializer(found[0][0]) else 'constant'}:{''.join(digests)}"


def _is_of_initializer(place: Place) -> bool:
    return any(each.field == "initializer" for each in place.ancestors())


def _views(found: Structure) -> tuple[Sequence[str], ...]:
    """Return the names around a place, and the three descriptions of the operators around it."""
    return _names(found), found.from_start, found.from_end, found.by_operators


def _end(inner: Sequence[str], keys: Sequence[str], partners: str) -> str:
    """Return the end of the identity of faults: what is wrong inside of the place, the keys on the way to it, and the
    digests of its partners.
    """
    ends = [*(digest(*each) if any(each) else "" for each in (inner, keys)), partners]
    return "".join(INNER_DIGEST + end for end in ends).rstrip(INNER_DIGEST)


def _of_parts(clause: str, parts: FaultParts | Faults, structures: Structures) -> tuple[str, ...]:
    """Return the identities of the faults. Those of many are one, or none if the faults are uses of one."""
    if parts.are_few(MOST_LISTED):
        return tuple([_part(clause, each, structures) for each in parts.identities()])
    if parts.is_one_fault:
        return ()
    faults = list(parts.identities())
    found = [structures.of(place) for place, _, _ in faults]
    names = [_names(each) for each in found]
    texts = [
        ["\0".join(each) for each in names],
        ["\0".join((*each, *one.inside)) for each, one in zip(names, found, strict=True)],
        *(["\0".join(getattr(each, view)) for each in found] for view in ("from_start", "from_end", "by_operators")),
    ]
    inner, keys = sorted(each for _, each, _ in faults), sorted("\0".join(one.keys) for one in found)
    partners = _of_partners([[structures.of(place) for place in (own, *others)] for own, _, others in faults if others])
    return (ALL_FAULTS + "".join(digest(*sorted(each)) for each in texts) + _end(inner, keys, partners),)
