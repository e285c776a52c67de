# SPDX-License-Identifier: Apache-2.0
"""Writes the text of one line, and finds in it the part that a finding is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.report.findings import ContextLine

MAX_ITEMS: Final = 16
"""The longest list that is written whole. Of a longer list the items around the marked one are written."""

_AROUND: Final = 4
"""The number of items on either side of the marked one, in a list that is cut."""

MAX_LINE: Final = 20_000
"""The length above which a line gets no further items, except the marked one."""

CUT: Final = "..."
"""Replaces parts that are left out. It is not a word of the syntax."""


class LineWriter:
    """Writes one line of text. `focus`: the steps from the line's message to the part to mark."""

    def __init__(self, focus: PlaceKey = ()) -> None:
        self.focus = focus
        self._pieces: list[str] = []
        self._length = 0
        self._depth: int | None = 0
        """The number of steps of the focus that lead to the part that is being written; None if it is not on the way.
        """
        self.mark: tuple[int, int] | None = None
        """The part to mark, the innermost around the focus: its first character, and the one after it."""
        self._marked_depth = 0

    @property
    def text(self) -> str:
        """The text written so far."""
        return "".join(self._pieces)

    def write(self, text: str) -> None:
        """Add text."""
        self._pieces.append(text)
        self._length += len(text)

    def leave_out(self) -> None:
        """Add the sign for a part that is left out."""
        self.write(CUT)

    @contextmanager
    def subject(self) -> Iterator[None]:
        """Mark the text written inside this context, unless a part of the message is marked."""
        start = self._length
        yield
        if self._marked_depth == 0 and self.mark is None:
            self.mark = start, self._length

    @contextmanager
    def part(self, field: str, index: int | None = None) -> Iterator[None]:
        """Treat the text written inside this context as a field of the current message."""
        around = self._depth
        is_on_the_way = around is not None and self.focus[around : around + 1] == ((field, index),)
        self._depth = around + 1 if around is not None and is_on_the_way else None
        start = self._length
        yield
        if self._depth is not None:
            self._mark_from(start, self._depth)
        self._depth = around

    def _mark_from(self, start: int, depth: int) -> None:
        """Mark the text since `start`, unless it is empty or a more deeply nested part is marked."""
        if depth > self._marked_depth and self._length > start:
            self.mark = start, self._length
            self._marked_depth = depth

    def aims_at(self, field: str) -> bool:
        """Return whether the next step of the focus is this field of the current message."""
        return self._next_step(field) is not None

    def _next_step(self, field: str) -> tuple[str, int | None] | None:
        step = self.focus[self._depth] if self._depth is not None and self._depth < len(self.focus) else None
        return step if step is not None and step[0] == field else None

    def items(self, field: str, items: Sequence[Any], write: Callable[[Any], None]) -> None:
        """Write the items of a repeated field: all of a short list, otherwise those around the one in focus."""
        count = len(items)
        start = self._length
        step = self._next_step(field)
        marked = step[1] if step is not None and step[1] is not None and step[1] < count else None
        first, end = 0, count
        if count > MAX_ITEMS:
            middle = marked or 0
            first, end = max(middle - _AROUND, 0), min(middle + _AROUND + 1, count)
        if first:
            self.leave_out()
            self.write(", ")
        for index in range(first, end):
            if index > first:
                self.write(", ")
            if self._length > MAX_LINE and index != marked:
                self.leave_out()
                continue
            with self.part(field, index):
                write(items[index])
        if end < count:
            self.write(", ")
            self.leave_out()
        if step == (field, None) and self._depth is not None:
            self._mark_from(start, self._depth + 1)


def cut_around(line: ContextLine, most: int) -> ContextLine:
    """Return the line with at most `most` characters, those around its mark."""
    text, mark = line.text, line.mark
    if len(text) <= most:
        return line
    start, end = mark or (0, 0)
    # Of a mark that is itself too long show the beginning.
    end = min(end, start + max(most - 2 * len(CUT), 1))
    room = max(most - (end - start), 0)
    first = max(0, min(start - room // 2, len(text) - most))
    head = CUT if first > 0 else ""
    tail = CUT if first + most < len(text) else ""

    if mark is not None:
        begin = min(max(start - first, len(head)), most)
        mark = begin, max(min(end - first, most - len(tail)), begin)
    return replace(line, text=head + text[first + len(head) : first + most - len(tail)] + tail, mark=mark)
