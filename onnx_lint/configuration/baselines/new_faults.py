# SPDX-License-Identifier: Apache-2.0
"""Findings with faults that an entry of a baseline knows, and with new ones."""

from __future__ import annotations

from onnx_lint.common.record import replace
from onnx_lint.configuration.baselines.entries import Entry, may_be_renamed
from onnx_lint.configuration.baselines.listed_faults import ListedFaults
from onnx_lint.ir.places.place import Place
from onnx_lint.report.digests import MAX_LISTED
from onnx_lint.report.findings import BaselineIdentity, Diagnostic, SingleFault
from onnx_lint.wording import with_more


def known_part(diagnostic: Diagnostic, entry: Entry | None) -> Diagnostic | None:
    """Return the elements of a finding that an entry knows although others are new; None if there are none."""
    identity = diagnostic.identity
    if entry is None or not identity.elements:
        return None
    new = _new_faults(identity, entry)
    known = [number for number in range(min(len(identity.elements), len(identity.single_faults))) if number not in new]
    if not new or not known:
        return None
    single_faults = tuple([identity.single_faults[number] for number in known])
    elements = tuple([identity.elements[number] for number in known])
    return replace(
        diagnostic,
        message=single_faults[0].message,
        identity=replace(identity, elements=elements, single_faults=single_faults, element_count=len(known)),
    )


def worded_as_new(diagnostic: Diagnostic, entry: Entry | None) -> Diagnostic:
    """Return a finding that an entry with its names does not know, worded as new.

    If the entry lists some of its faults, it is worded as the finding on the first new fault.
    """
    new = [] if entry is None else _new_faults(diagnostic.identity, entry)
    if not new:
        return diagnostic
    single_faults = diagnostic.identity.single_faults
    if new[0] >= len(single_faults):
        message = with_more(diagnostic.message, f"what is new comes after the first {MAX_LISTED}")
        return replace(diagnostic, message=message)
    first, others = single_faults[new[0]], len(new) - 1
    message = first.message
    if others:
        message = with_more(message, f"{others:,} more {'is' if others == 1 else 'are'} not in the baseline")
    return _placed_at(replace(diagnostic, message=message), first)


def _new_faults(identity: BaselineIdentity, entry: Entry) -> list[int]:
    """Return the indices of the faults of a finding that are new, if the entry knows others; empty if not."""
    faults = identity.elements or identity.parts
    if not identity.single_faults or bool(identity.elements) != bool(entry.element_count):
        return []
    listed, is_renamed = ListedFaults(entry.faults), may_be_renamed(entry, identity)
    new = [number for number, fault in enumerate(faults) if not listed.remove((fault,), may_be_renamed=is_renamed)]
    return new if len(new) < len(faults) else []


def _placed_at(diagnostic: Diagnostic, fault: SingleFault) -> Diagnostic:
    """Return a finding at the place of one of its faults."""
    if fault.at.key == diagnostic.at.key:
        return diagnostic
    related = tuple([other for other in diagnostic.related if other.at.key != fault.at.key])
    # The lines are those around the first fault and the related places. The mark is at the first fault.
    is_shown = len(related) < len(diagnostic.related) or _value_at(fault.at) == _value_at(diagnostic.at)
    return replace(
        diagnostic,
        at=fault.at,
        around=fault.around,
        byte_range=fault.byte_range,
        position=fault.position,
        related=related,
        context=tuple([replace(line, mark=None) for line in diagnostic.context]) if is_shown else (),
    )


def _value_at(place: Place) -> list[tuple[str, int | None]]:
    """Return the steps to the value or node that a place is directly in."""
    return [step for step in place.key[:-1] if step[0] != "dim"]
