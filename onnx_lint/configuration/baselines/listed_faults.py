# SPDX-License-Identifier: Apache-2.0
"""Compares the faults of a finding with those that an entry of a baseline lists."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from onnx_lint.common.record import Record
from onnx_lint.configuration.baselines.marks import (
    NAMES,
    OPERATORS,
    Mark,
    marks_of_fault,
    marks_of_listed,
    only_names,
    without_marks_of_index,
)
from onnx_lint.report.digests import FaultDigests

_Kinds = frozenset[str]
"""The kinds of marks that are compared: `NAMES` or `OPERATORS`."""


class _FoundFaults(Record):
    """The listed faults that some faults of a finding are, each another one."""

    listed: set[int]
    """Their indices."""
    unknown: Sequence[list[Mark]]
    """The faults of the finding that are not listed."""


class ListedFaults:
    """The faults that an entry lists and that have not been matched with a fault of a finding yet."""

    def __init__(self, faults: Iterable[FaultDigests]) -> None:
        marks = [marks_of_listed(fault) for fault in faults]
        self._left = set(range(len(marks)))
        self._at: dict[Mark, list[int]] = {}
        for number, own in enumerate(marks):
            for mark in own:
                self._at.setdefault(mark, []).append(number)

    def remove(self, faults: Iterable[FaultDigests], *, may_be_renamed: bool) -> bool:
        """Remove the faults of a finding from the list; if one of them is not listed, return False without a change.

        If names have moved to other nodes, comparing names first may use up the listed fault that another fault of the
        finding needs, and comparing operators first may not.
        """
        marks = _comparable(faults, may_be_renamed=may_be_renamed)
        for order in ((NAMES, OPERATORS), (OPERATORS, NAMES)):
            found = self._find_all(marks, order)
            if not found.unknown:
                self._left -= found.listed
                return True
        return False

    def has_same_fault(self, uses: Iterable[FaultDigests], *, may_be_renamed: bool) -> bool:
        """Return whether the uses of a finding are those of the fault whose uses are listed.

        At least one use is listed, and either no use is new or no listed use is gone: otherwise, a use has taken the
        place of another one. An entry of an older version may list uses by names only. If names may have changed, one
        listed use is enough there.
        """
        marks = _comparable(uses, may_be_renamed=may_be_renamed)
        if any(self._is_listed(own, NAMES) for own in marks):
            # Where some names are those of before, an index in a list may be that of a new value instead of a new name.
            marks = [without_marks_of_index(own) for own in marks]
        have_moved = any(self._is_listed(own, OPERATORS) and not self._is_listed(own, NAMES) for own in marks)
        found = self._find_all(marks, (OPERATORS,) if have_moved else (NAMES, OPERATORS))
        if not found.listed:
            return False
        lists_only_names = OPERATORS.isdisjoint(mark.kind for mark in self._at)
        return not found.unknown or found.listed == self._left or (may_be_renamed and lists_only_names)

    def _is_listed(self, own: list[Mark], kinds: _Kinds) -> bool:
        return self._find(own, kinds, ()) is not None

    def _find_all(self, marks: Iterable[list[Mark]], order: Iterable[_Kinds]) -> _FoundFaults:
        """Find the faults of a finding in the list: by the first kind of marks, or else by the next."""
        listed: set[int] = set()
        left = list(marks)
        for kinds in order:
            unknown = []
            for own in left:
                number = self._find(own, kinds, listed)
                if number is None:
                    unknown.append(own)
                else:
                    listed.add(number)
            left = unknown
        return _FoundFaults(listed=listed, unknown=left)

    def _find(self, own: list[Mark], kinds: _Kinds, taken: Collection[int]) -> int | None:
        """Return the index of the listed fault with the first mark that one has; None if there is none."""
        for mark in own:
            if mark.kind not in kinds:
                continue
            numbers = self._at.get(mark, [])
            while numbers and numbers[-1] not in self._left:
                numbers.pop()
            free = (number for number in reversed(numbers) if number in self._left and number not in taken)
            found = next(free, None)
            if found is not None:
                return found
        return None


def _comparable(faults: Iterable[FaultDigests], *, may_be_renamed: bool) -> list[list[Mark]]:
    """Return the marks of the faults of a finding: only those of names, if no name of the model has changed."""
    marks = [marks_of_fault(fault) for fault in faults]
    if may_be_renamed:
        return marks
    return [only_names(own) for own in marks]
