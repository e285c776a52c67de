# SPDX-License-Identifier: Apache-2.0
"""The identities of findings, by which a baseline recognizes them after the model has changed.

`BaselineIdentity` describes the texts that the functions below return.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx_lint.common.record import replace
from onnx_lint.engine.describe import extent_of
from onnx_lint.engine.structure import Structure, Structures, digest
from onnx_lint.engine.views import COLUMNS
from onnx_lint.model import Model
from onnx_lint.report.findings import (
    ALL_FAULTS,
    INNER_DIGEST,
    MAX_LISTED,
    BaselineIdentity,
    Diagnostic,
    FaultAlone,
)
from onnx_lint.rule import FaultParts, Faults, Finding
from onnx_lint.spec.former_clauses import former_clauses
from onnx_lint.wording import MAX_MESSAGE_CHARACTERS, report_name, shortened, with_more

if TYPE_CHECKING:
    from onnx_lint.model import Place
    from onnx_lint.rule import FaultIdentity


def with_identity(diagnostic: Diagnostic, finding: Finding, structures: Structures, model: Model) -> Diagnostic:
    """Return the diagnostic with what a baseline compares besides the names."""
    clause, found = diagnostic.clause, structures.of(finding.place)
    parts = _parts_of(clause, finding, found, structures)
    has_elements = finding.elements is not None or finding.user is not None
    elements, count = _elements_of(clause, finding, structures) if has_elements else ((), 0)
    identity = BaselineIdentity(
        structure=_structure_of(clause, finding, found),
        parts=parts,
        names=structures.digest_of_names(finding.place, is_of_nodes=bool(finding.user or finding.partners)),
        elements=elements,
        element_count=count,
        apart=_apart(finding, parts, model),
        content="" if finding.collective else _of_content(clause, finding, structures),
        is_one_fault=finding.parts is not None and finding.parts.is_one_fault,
        sources=_sources(finding, structures),
        former=_former(diagnostic, finding, structures, model),
        under_former_clauses=tuple(
            with_identity(replace(diagnostic, cited=replace(diagnostic.cited, id=each)), finding, structures, model)
            for each in former_clauses(clause)
        ),
    )
    return replace(diagnostic, identity=identity)


def _sources(finding: Finding, structures: Structures) -> tuple[str, ...]:
    """Return `BaselineIdentity.sources`."""
    if finding.collective or not finding.subject:
        return ()
    return tuple(map(report_name, structures.sources_of(finding.place, finding.subject)))


def _former(diagnostic: Diagnostic, finding: Finding, structures: Structures, model: Model) -> Diagnostic | None:
    """Return a diagnostic at its former place with what a baseline compares there; None without such a place."""
    former = diagnostic.identity.former
    if former is None or finding.former is None:
        return None
    return with_identity(former, finding.former, structures, model)


def _structure_of(clause: str, finding: Finding, found: Structure) -> str:
    """Return `BaselineIdentity.structure`: empty without names, or for several faults."""
    faults = finding.parts
    is_one = faults is None or faults.is_one_fault or faults.are_few(1)
    if not found.names or not is_one:
        return ""
    return digest(clause, *found.steps) + digest(*found.names) + _views(clause, found)


def _views(clause: str, found: Structure) -> str:
    """Return the digests of the descriptions of the operators around a place, see `View`."""
    return "".join(digest(clause, *column) for column in found.columns())


def _parts_of(clause: str, finding: Finding, found: Structure, structures: Structures) -> tuple[str, ...]:
    """Return `BaselineIdentity.parts`."""
    if finding.parts is not None:
        return _identities_of(clause, finding.parts, structures)
    if finding.collective:
        return ()  # only the first place is known
    is_inside = found.inside or found.keys or finding.inner or finding.partners
    fault = finding.place, finding.inner, finding.partners
    return (_identity_of(clause, fault, structures),) if is_inside else ()


def _apart(finding: Finding, parts: Sequence[str], model: Model) -> tuple[FaultAlone, ...]:
    """Return `BaselineIdentity.apart`. `parts`: `BaselineIdentity.parts`, in the order of the faults."""
    faults = finding.elements or finding.parts
    if faults is None or faults.are_few(1) or (finding.elements is None and (faults.is_one_fault or len(parts) < 2)):
        return ()
    alone = [each or finding for each in faults.alone(MAX_LISTED)]
    found: list[FaultAlone] = []
    first_partners: tuple[Place, ...] | None = None
    for each, (place, inner, partners) in zip(alone, faults.identities(), strict=False):
        message = each.message
        first_partners = partners if first_partners is None else first_partners
        if found and message == alone[0].message:
            is_of_call = partners and partners != first_partners
            message = with_more(message, f"what is new is {partners[0] if is_of_call else inner or place}")
        message, around = shortened(message, MAX_MESSAGE_CHARACTERS), model.places.enclosing_names(place)
        found.append(FaultAlone(place, message, extent_of(each, model), around=around))
    return tuple(found)


def _identity_of(clause: str, fault: FaultIdentity, structures: Structures, around: Structure | None = None) -> str:
    """Return the identity of one fault, as in `BaselineIdentity.parts`.

    `around`: the structure around the node that uses the faulty value, in place of that around the value.
    """
    place, inner, partners = fault
    found = around or structures.of(place)
    names = _names(found)
    own = digest(*found.steps) + digest(*names) + digest(clause, *names, *found.inside) + _views(clause, found)
    return own + _end((inner,), found.keys, _partner_digests([[structures.of(each) for each in partners]]))


def _names(found: Structure) -> Sequence[str]:
    """Return the names around a place. If there are none, the steps of the place identify a fault."""
    return found.names or found.steps


def _partner_digests(partners: Sequence[Sequence[Structure]]) -> str:
    """Return digests of the other places of faults: by names, and by each description of the operators.

    `partners`: the other places of each fault.
    """
    if not any(partners):
        return ""
    # Each digest includes the places inside of values.
    rows = [[[(*view, *each.inside) for view in _names_and_views(each)] for each in places] for places in partners]
    count = 1 + COLUMNS
    return "".join(
        digest(*sorted("\0".join(text for views in places for text in views[number]) for places in rows))
        for number in range(count)
    )


def _elements_of(clause: str, finding: Finding, structures: Structures) -> tuple[tuple[str, ...], int]:
    """Return `BaselineIdentity.elements`, and the number of wrong elements."""
    faults = finding.elements
    found = [(finding.place, finding.inner, finding.partners)] if faults is None else list(faults.identities())
    user = None if finding.user is None else structures.of(finding.user)
    known = [_identity_of(clause, each, structures, user) for each in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        others = digest(*(f"{place.field} {place.index} {inner}" for place, inner, _ in found[MAX_LISTED:]))
        place, _, partners = found[0]
        known.append(_identity_of(clause, (place, others, partners), structures, user))
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
    user = () if reader is None else _names_and_views(structures.of(reader))
    inner = [each for _, each, _ in found]
    digests = []
    for number in range(count):
        of_user = user[number] if user else ()
        digests.append(digest(clause, *of_user, *inner, *(text for views in around for text in views[number])))
    return f"{'initializer' if _is_of_initializer(found[0][0]) else 'constant'}:{''.join(digests)}"


def _is_of_initializer(place: Place) -> bool:
    return any(each.field == "initializer" for each in place.ancestors())


def _names_and_views(found: Structure) -> tuple[Sequence[str], ...]:
    """Return the names around a place, and the descriptions of the operators around it."""
    return _names(found), *found.columns()


def _end(inner: Sequence[str], keys: Sequence[str], partners: str) -> str:
    """Return the end of an identity, without empty pieces at its end.

    It has what is wrong inside of the place, the keys on the way to it, and the digests of the partners.
    """
    ends = [*(digest(*each) if any(each) else "" for each in (inner, keys)), partners]
    return "".join(INNER_DIGEST + end for end in ends).rstrip(INNER_DIGEST)


def _identities_of(clause: str, parts: FaultParts | Faults, structures: Structures) -> tuple[str, ...]:
    """Return the identity of each fault; of more than `MAX_LISTED`, one for all, or none if they are uses of one."""
    if parts.are_few(MAX_LISTED):
        return tuple([_identity_of(clause, each, structures) for each in parts.identities()])
    return () if parts.is_one_fault else (_identity_of_all(parts, structures),)


def _identity_of_all(parts: FaultParts | Faults, structures: Structures) -> str:
    """Return the one identity of many faults."""
    faults = list(parts.identities())
    found = [structures.of(place) for place, _, _ in faults]
    names = [_names(each) for each in found]
    texts = [
        ["\0".join(each) for each in names],
        ["\0".join((*each, *one.inside)) for each, one in zip(names, found, strict=True)],
        *(["\0".join(text) for text in texts] for texts in zip(*(each.columns() for each in found), strict=True)),
    ]
    inner, keys = sorted(each for _, each, _ in faults), sorted("\0".join(one.keys) for one in found)
    partners = [[structures.of(place) for place in (own, *others)] for own, _, others in faults if others]
    digests = "".join(digest(*sorted(each)) for each in texts)
    return ALL_FAULTS + digests + _end(inner, keys, _partner_digests(partners))
