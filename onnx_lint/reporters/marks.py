# SPDX-License-Identifier: Apache-2.0
"""The rows under a line of a model: the mark, and the types of the values above them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.report import ContextLine
from onnx_lint.reporters.paint import Line, Segment, columns
from onnx_lint.surroundings.sheet import CUT

_STYLE: Final = "bold red"
_MOST_COLUMNS: Final = 1_000


def rows_under(line: ContextLine, room: int = _MOST_COLUMNS) -> Iterator[Line]:
    """Yield the rows under a line of at most `room` columns; none if nothing is marked.

    The type of the marked value is behind the mark, or below the mark if there is no room. The type of another value is
    under the value, if it ends before the next value begins.
    """
    if line.mark is None:
        return
    start, end = (columns(line.text[:position]) for position in line.mark)
    own = next((note for *part, note in line.notes if tuple(part) == line.mark), "")
    mark = "^" * max(end - start, 1)
    is_behind = bool(own) and start + len(mark) + 1 + columns(own) <= room
    if is_behind:
        mark = f"{mark} {own}"
    pieces = [(start, mark, _STYLE)]
    begins = [columns(line.text[:begin]) for begin, *_ in line.notes]
    for (*part, note), column in zip(line.notes, begins, strict=True):
        until = min((begin for begin in [*begins, start, room + 1] if begin > column), default=0)
        if tuple(part) != line.mark and column + columns(note) < until and not start <= column <= start + columns(mark):
            pieces.append((column, note, ""))
    yield _row(sorted(pieces))
    if own and not is_behind:
        shown = own if columns(own) <= room else f"{own[: room - len(CUT)]}{CUT}"
        yield _row([(max(min(start, room - columns(shown)), 0), shown, _STYLE)])


def _row(pieces: list[tuple[int, str, str]]) -> Line:
    """Return the pieces as one row, each from its column on."""
    row: list[Segment] = []
    at = 0
    for column, text, style in pieces:
        row += [(" " * (column - at), ""), (text, style)]
        at = column + columns(text)
    return tuple(row)
