# SPDX-License-Identifier: Apache-2.0
"""The identities of findings, by which a baseline recognizes them after the model has changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from onnx_lint.common.record import replace
from onnx_lint.engine.describe import extent_of
from onnx_lint.engine.structure import Structure, Structures, digest
from onnx_lint.engine.views import Description
from onnx_lint.model import Model
from onnx_lint.report.digests import MAX_LISTED, ContentDigests, FaultDigests, PlaceDigests
from onnx_lint.report.findings import BaselineIdentity, Diagnostic, SingleFault
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
    elements = _elements_of(finding) if has_elements else []
    identity = BaselineIdentity(
        structure=_structure_of(clause, finding, found),
        parts=parts,
        names=structures.digest_of_names(finding.place, is_of_nodes=bool(finding.user or finding.partners)),
        elements=_digests_of_elements(clause, elements, finding, structures),
        element_count=len(elements),
        single_faults=_single_faults(finding, parts, model),
        content=None if finding.collective else _content_of(clause, finding, structures),
        are_uses_of_one_fault=finding.parts is not None and finding.parts.is_one_fault,
        inputs_of_producer=_inputs_of_producer(finding, structures),
        at_former_place=_at_former_place(diagnostic, finding, structures, model),
        under_former_clauses=tuple(
            with_identity(replace(diagnostic, cited=replace(diagnostic.cited, id=each)), finding, structures, model)
            for each in former_clauses(clause)
        ),
    )
    return replace(diagnostic, identity=identity)


def _inputs_of_producer(finding: Finding, structures: Structures) -> tuple[str, ...]:
    """Return `BaselineIdentity.inputs_of_producer`."""
    if finding.collective or not finding.subject:
        return ()
    return tuple(map(report_name, structures.inputs_of_producer(finding.place, finding.subject)))


def _at_former_place(
    diagnostic: Diagnostic, finding: Finding, structures: Structures, model: Model
) -> Diagnostic | None:
    """Return a diagnostic at its former place with what a baseline compares there; None without such a place."""
    former = diagnostic.identity.at_former_place
    if former is None or finding.former is None:
        return None
    return with_identity(former, finding.former, structures, model)


def _structure_of(clause: str, finding: Finding, found: Structure) -> PlaceDigests | None:
    """Return `BaselineIdentity.structure`: None without names, or for several faults."""
    faults = finding.parts
    is_one = faults is None or faults.is_one_fault or faults.are_few(1)
    if not found.names or not is_one:
        return None
    return _place_digests(clause, found, steps=digest(clause, *found.steps), names=digest(*found.names))


def _place_digests(clause: str, found: Structure, **own: str) -> PlaceDigests:
    """Return the digests of the operators around a place. `own`: the digests of other kinds."""
    operators = [(each.kind, digest(clause, *each.texts)) for each in found.descriptions()]
    return PlaceDigests.of((*own.items(), *operators))


def _parts_of(clause: str, finding: Finding, found: Structure, structures: Structures) -> tuple[FaultDigests, ...]:
    """Return `BaselineIdentity.parts`."""
    if finding.parts is not None:
        return _identities_of(clause, finding.parts, structures)
    if finding.collective:
        return ()  # only the first place is known
    is_inside = found.inside or found.keys or finding.inner or finding.partners
    return (_fault_digests(clause, _fault_of(finding), structures),) if is_inside else ()


def _fault_of(finding: Finding) -> FaultIdentity:
    return finding.place, finding.inner, finding.partners


def _single_faults(finding: Finding, parts: Sequence[FaultDigests], model: Model) -> tuple[SingleFault, ...]:
    """Return `BaselineIdentity.single_faults`. `parts`: `BaselineIdentity.parts`, in the order of the faults."""
    faults = finding.elements or finding.parts
    if faults is None or faults.are_few(1):
        return ()
    if finding.elements is None and (faults.is_one_fault or len(parts) < 2):
        return ()
    alone = [each or finding for each in faults.alone(MAX_LISTED)]
    found: list[SingleFault] = []
    of_first: tuple[Place, ...] = ()
    for number, (each, (place, inner, partners)) in enumerate(zip(alone, faults.identities(), strict=False)):
        message = each.message
        if not number:
            of_first = partners
        elif message == alone[0].message:
            is_of_call = partners and partners != of_first
            message = with_more(message, f"what is new is {partners[0] if is_of_call else inner or place}")
        message, around = shortened(message, MAX_MESSAGE_CHARACTERS), model.places.enclosing_names(place)
        found.append(SingleFault(place, message, extent_of(each, model), around=around))
    return tuple(found)


def _fault_digests(
    clause: str, fault: FaultIdentity, structures: Structures, user: Structure | None = None
) -> FaultDigests:
    """Return what identifies one fault. `user`: the structure around the node that uses the faulty value, if known.

    It takes the place of the structure around the value.
    """
    place, inner, partners = fault
    found = user or structures.of(place)
    names = _names(found)
    own = _place_digests(
        clause,
        found,
        steps=digest(*found.steps),
        names=digest(*names),
        names_inside=digest(clause, *names, *found.inside),
    )
    return FaultDigests(
        place=own,
        inner=_digest_of_any(inner),
        keys=_digest_of_any(*found.keys),
        partners=_partners([[structures.of(each) for each in partners]]),
    )


def _names(found: Structure) -> Sequence[str]:
    """Return the names around a place. If there are none, the steps of the place identify a fault."""
    return found.names or found.steps


def _digest_of_any(*texts: str) -> str:
    """Return the digest of texts; empty if all of them are."""
    return digest(*texts) if any(texts) else ""


def _names_and_operators(found: Structure) -> list[Description]:
    """Return the names around a place, and the descriptions of the operators around it."""
    return [Description("names_inside", tuple(_names(found))), *found.descriptions()]


def _partners(of_faults: Sequence[Sequence[Structure]]) -> PlaceDigests | None:
    """Return the digests of the other places of faults, each with the way inside; None without any.

    `of_faults`: the other places of each fault.
    """
    return _together([_described_as_one(places) for places in of_faults]) if any(of_faults) else None


def _described_as_one(places: Sequence[Structure]) -> list[Description]:
    """Return the names and the descriptions of all places of one fault."""
    found = []
    for rows in zip(*map(_names_and_operators, places), strict=True):
        texts: list[str] = []
        for place, description in zip(places, rows, strict=True):
            texts += (*description.texts, *place.inside)
        found.append(Description(rows[0].kind, tuple(texts)))
    return found


def _together(described: Sequence[Sequence[Description]]) -> PlaceDigests:
    """Return the digests of the places of several faults, whatever their order. Each is described by the same kinds."""
    found = []
    for rows in zip(*described, strict=True):
        texts = sorted("\0".join(each.texts) for each in rows)
        found.append((rows[0].kind, digest(*texts)))
    return PlaceDigests.of(found)


def _elements_of(finding: Finding) -> list[FaultIdentity]:
    """Return the wrong elements of a finding; the finding itself if its rule does not list them."""
    return [_fault_of(finding)] if finding.elements is None else list(finding.elements.identities())


def _digests_of_elements(
    clause: str, elements: Sequence[FaultIdentity], finding: Finding, structures: Structures
) -> tuple[FaultDigests, ...]:
    """Return `BaselineIdentity.elements`."""
    user = None if finding.user is None else structures.of(finding.user)
    known = [_fault_digests(clause, each, structures, user) for each in elements[:MAX_LISTED]]
    if len(elements) > MAX_LISTED:
        others = digest(*(f"{place.field} {place.index} {inner}" for place, inner, _ in elements[MAX_LISTED:]))
        place, _, partners = elements[0]
        known.append(_fault_digests(clause, (place, others, partners), structures, user))
    return tuple(known)


def _content_of(clause: str, finding: Finding, structures: Structures) -> ContentDigests | None:
    """Return `BaselineIdentity.content`: of all wrong elements together."""
    found = _elements_of(finding)
    if any(partners for _, _, partners in found):
        return None
    # An element of what a node reads may have a place of its own or not.
    tensors = [structures.of_content(place, is_whole=bool(finding.user and inner)) for place, inner, _ in found]
    if not all(tensors):
        return None
    user = _reader(finding, structures)
    inner = [each for _, each, _ in found]
    digests = []
    # Of a tensor that nothing uses, the names are the only description.
    for number, rows in enumerate(zip(*tensors, strict=False)):
        of_user = user[number].texts if user else ()
        of_tensors = chain.from_iterable(each.texts for each in rows)
        digests.append((rows[0].kind, digest(clause, *of_user, *inner, *of_tensors)))
    return ContentDigests(PlaceDigests.of(digests), is_initializer=_is_of_initializer(found[0][0]))


def _reader(finding: Finding, structures: Structures) -> list[Description]:
    """Return the names and the descriptions of the node that reads what a Constant gives; empty if it is unknown."""
    place = finding.place
    reader = place.parent if place.field == "input" else finding.user
    return [] if reader is None else _names_and_operators(structures.of(reader))


def _is_of_initializer(place: Place) -> bool:
    return any(each.field == "initializer" for each in place.ancestors())


def _identities_of(clause: str, parts: FaultParts | Faults, structures: Structures) -> tuple[FaultDigests, ...]:
    """Return the identity of each fault; of more than `MAX_LISTED`, one for all, or none if they are uses of one."""
    if parts.are_few(MAX_LISTED):
        return tuple([_fault_digests(clause, each, structures) for each in parts.identities()])
    return () if parts.is_one_fault else (_identity_of_many(parts, structures),)


def _identity_of_many(parts: FaultParts | Faults, structures: Structures) -> FaultDigests:
    """Return the one identity of many faults."""
    faults = list(parts.identities())
    found = [structures.of(place) for place, _, _ in faults]
    described = []
    for each in found:
        names = tuple(_names(each))
        own = Description("names", names), Description("names_inside", (*names, *each.inside))
        described.append((*own, *each.descriptions()))
    return FaultDigests(
        place=_together(described),
        inner=_digest_of_any(*sorted(inner for _, inner, _ in faults)),
        keys=_digest_of_any(*sorted("\0".join(each.keys) for each in found)),
        partners=_partners([[structures.of(place) for place in (own, *others)] for own, _, others in faults if others]),
        is_of_many=True,
    )
