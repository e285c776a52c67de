# SPDX-License-Identifier: Apache-2.0
"""The fixes that can be made together."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.ir.places.edits import Assign, Fix
from onnx_lint.ir.places.splices import EditError, Splice, Splicer


class Candidate(Record):
    """The fix of one or several findings, and its splices."""

    rule: str
    fix: Fix
    splices: tuple[Splice, ...]


def candidates(fixes: Iterable[tuple[str, Fix]], splicer: Splicer, not_made: dict[str, None]) -> list[Candidate]:
    """Return the fixes whose edits are possible. `not_made` gets a sentence for each of the others."""
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

    Of two that change the same bytes, only the first. Of two rules that write the same text as well: each may have
    chosen it as a free name. A fix that reads a value which another one removes is left out.
    """
    taken: list[tuple[int, int]] = []
    removed: set[str] = set()
    writers: dict[str, str] = {}
    chosen: list[Candidate] = []
    for candidate in possible:
        spans = [_position(splice) for splice in candidate.splices]
        edits = candidate.fix.edits
        texts = {edit.value for edit in edits if isinstance(edit, Assign) and isinstance(edit.value, str)}
        is_possible = all(writers.get(text, candidate.rule) == candidate.rule for text in texts)
        removes = candidate.fix.removes
        is_possible &= removed.isdisjoint(texts | removes) and removes.isdisjoint(writers)
        if is_possible and not any(_overlaps(span, taken) for span in spans):
            chosen.append(candidate)
            removed |= removes
            writers.update(dict.fromkeys(texts, candidate.rule))
            for span in spans:
                insort(taken, span)
    return chosen


def _overlaps(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Return whether the span shares a byte with a taken span, or both are the same empty span."""
    index = bisect_left(taken, span)
    return any(_share(span, other) for other in taken[max(index - 1, 0) : index + 1])


def _share(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])


def _position(splice: Splice) -> tuple[int, int]:
    return splice.start, splice.end
