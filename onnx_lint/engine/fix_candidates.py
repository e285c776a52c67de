# SPDX-License-Identifier: Apache-2.0
"""Chooses the fixes that can be made together."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.ir.places.edits import Assign, Fix
from onnx_lint.ir.places.splices import EditError, Splice, Splicer

ByteRange = tuple[int, int]
"""The bytes that a splice replaces: the first one, and the one after the last."""


class Candidate(Record):
    """The fix of one or several findings, and its splices."""

    rule: str
    fix: Fix
    splices: tuple[Splice, ...]


def candidates(fixes: Iterable[tuple[str, Fix]], splicer: Splicer, not_made: dict[str, None]) -> list[Candidate]:
    """Return the fixes, each with its rule, whose edits are possible. Add a sentence on each other to `not_made`."""
    found: list[Candidate] = []
    for rule, fix in fixes:
        check_deadline()
        try:
            found.append(Candidate(rule, fix, tuple(splicer.splices_of(fix.edits))))
        except EditError as error:
            not_made[f"{rule}: the fix cannot be made: {error}"] = None
    return found


def without_overlaps(possible: Iterable[Candidate]) -> list[Candidate]:
    """Return the fixes that can be made together.

    A fix is left out if an earlier one changes the same bytes, or is of another rule and writes the same text: each may
    have chosen it as a free name. So is a fix that uses or removes a value that an earlier one removes, and one that
    removes a value that an earlier one uses.
    """
    chosen: list[Candidate] = []
    spans: list[ByteRange] = []
    removed: set[str] = set()
    rule_by_text: dict[str, str] = {}
    for candidate in possible:
        rule, removes = candidate.rule, candidate.fix.removes
        texts = _assigned_texts(candidate.fix)
        own_spans = [(splice.start, splice.end) for splice in candidate.splices]
        is_possible = (
            all(rule_by_text.get(text, rule) == rule for text in texts)
            and removed.isdisjoint(texts | removes)
            and removes.isdisjoint(rule_by_text)
            and not any(_overlaps(span, spans) for span in own_spans)
        )
        if is_possible:
            chosen.append(candidate)
            removed |= removes
            rule_by_text.update(dict.fromkeys(texts, rule))
            for span in own_spans:
                insort(spans, span)
    return chosen


def _assigned_texts(fix: Fix) -> set[str]:
    """Return the strings that a fix writes into fields, such as names."""
    return {edit.value for edit in fix.edits if isinstance(edit, Assign) and isinstance(edit.value, str)}


def _overlaps(span: ByteRange, others: list[ByteRange]) -> bool:
    """Return whether a span shares a byte with one of the others, which are sorted, or is the same empty span."""
    index = bisect_left(others, span)
    return any(_share(span, other) for other in others[max(index - 1, 0) : index + 1])


def _share(one: ByteRange, other: ByteRange) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])
