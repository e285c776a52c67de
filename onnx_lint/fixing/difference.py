# SPDX-License-Identifier: Apache-2.0
"""Shows what fixes change: the lines of the model before and after, in ONNX's textual syntax."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Final

from onnx_lint import schema
from onnx_lint.engine.lint import load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.rounds import Mended
from onnx_lint.input.patched_source import PatchedSource
from onnx_lint.ir.places.edits import Assign, DataCopy, Delete, Edit, Insert, Move, Shorten
from onnx_lint.ir.places.long_numbers import long_numbers
from onnx_lint.ir.places.place import PlaceKey, Step, place_of
from onnx_lint.ir.places.splices import record_of
from onnx_lint.model import Model
from onnx_lint.report.findings import ContextLine
from onnx_lint.reporters.escape import shown_path
from onnx_lint.schema import wire
from onnx_lint.surroundings.lines import CONTAINERS, MOST_CHARACTERS, OF_HEADERS, line_of, site_of
from onnx_lint.surroundings.messages import write_field
from onnx_lint.surroundings.sheet import Sheet, cut_around
from onnx_lint.wording import counted, quote

_AROUND: Final = 2
"""The number of lines to show before and after a changed line."""


def difference_of(outcome: Mended, name: str, settings: Settings) -> str:
    """Return what the rounds have changed, one after the other; empty if that is nothing."""
    lines: list[str] = []
    for number, made in enumerate(outcome.rounds, start=1):
        following = outcome.rounds[number:]
        after = following[0].before if following else outcome.source
        before, now = (_model(source, name, settings) for source in (made.before, after))
        suffix = "" if number == 1 else f" (round {number})"
        lines += [f"--- {shown_path(name)}{suffix}", f"+++ {shown_path(name)}{suffix}"]
        if any(isinstance(edit, Shorten) for edit in made.edits):
            lines += _shorter_numbers(before)
        for copy in made.copies:
            lines += _new_data(copy)
        for changes in _changes(made.edits, made.kind).values():
            lines += changes.lines(before, now)
    return "".join(f"{line}\n" for line in lines)


def _model(source: PatchedSource, name: str, settings: Settings) -> Model:
    return load_source(source, name, settings, is_file=name != "-")


def _shorter_numbers(before: Model) -> Iterator[str]:
    """Yield the bytes of the first numbers that are written in fewer, before and after."""
    yield "@@ numbers in fewer bytes, with the same values @@"
    numbers = long_numbers(before.source, before.kind)
    for number in islice(numbers, _MOST_NUMBERS):
        old = before.source.read_at(number.start, number.end - number.start)
        yield f"-      | {number.part} of {number.place}: {old.hex(' ')}"
        yield f"+      | {number.part} of {number.place}: {number.shorter.hex(' ')}"
    left = sum(1 for _ in numbers)
    if left:
        yield f"@@ {left:,} more @@"


def _new_data(copy: DataCopy) -> Iterator[str]:
    """Yield where each part of a new data file comes from."""
    yield f"@@ new data file {quote(copy.target)}: {counted(copy.size, 'byte')} @@"
    for start, end, position in copy.ranges[:_MOST_NUMBERS]:
        yield f"+      | bytes {start:,} to {end:,} of {quote(copy.location)}, at {position:,}"
    if len(copy.ranges) > _MOST_NUMBERS:
        yield f"@@ {len(copy.ranges) - _MOST_NUMBERS:,} more @@"


_MOST_NUMBERS: Final = 100

_MOST_BYTES: Final = 4096
"""The longest field whose value is shown; of a longer one it is the size."""


class _Changes:
    """The changes in one list or field of a graph, or of another message whose elements have a line each."""

    def __init__(self, key: PlaceKey, field: str, lists: Mapping[PlaceKey, _Changes]) -> None:
        self.key = key
        self.field = field
        self._lists = lists
        self.deleted: list[int] = []
        self.inserted: list[int] = []
        """For each new element the index before which it comes, in order."""
        self.changed: dict[int | None, list[Edit]] = {}
        """The edits inside an element, by its index; None for a field without a line of its own for each element."""

    def add(self, edit: Edit, rest: PlaceKey) -> None:
        """Record an edit; `rest` are the steps to it from the message."""
        index = rest[0][1]
        if len(rest) > 1 or index is None:
            self.changed.setdefault(index, []).append(edit)
        elif isinstance(edit, Insert):
            insort(self.inserted, index)
        elif isinstance(edit, Delete):
            insort(self.deleted, index)
        elif isinstance(edit, Move):
            insort(self.deleted, index)
            insort(self.inserted, edit.before)
        else:
            self.changed.setdefault(index, []).append(edit)

    def now(self, index: int) -> int:
        """The index of an element after the edits, or that of the one that comes in its place."""
        return index - bisect_left(self.deleted, index) + bisect_right(self.inserted, index)

    def lines(self, before: Model, after: Model) -> Iterator[str]:
        """Yield the lines before and after."""
        if None in self.changed:
            yield f"@@ {place_of((*self.key, (self.field, None)))} @@"
            yield from self._before_and_after(None, before, after)
            return
        touched = sorted({*self.deleted, *self.inserted, *(each for each in self.changed if each is not None)})
        shown = -1
        for index, upcoming in zip_longest(touched, touched[1:]):
            if shown < max(index - _AROUND, 0):
                shown = max(index - _AROUND, 0)
                yield f"@@ {place_of((*self.key, (self.field, shown)))} @@"
            end = index + 1 + _AROUND
            end = end if upcoming is None else min(end, upcoming)
            for around in range(shown, end):
                yield from self._at(around, before, after)
            shown = end

    def _at(self, index: int, before: Model, after: Model) -> Iterator[str]:
        """Yield the new lines before an element, and its own."""
        count = bisect_right(self.inserted, index) - bisect_left(self.inserted, index)
        for new in range(self.now(index) - count, self.now(index)):
            yield from self._one(after, self._key_now(), new, "+")
        if index in self.changed:
            yield from self._before_and_after(index, before, after)
        else:
            is_deleted = bisect_left(self.deleted, index) < bisect_right(self.deleted, index)
            yield from self._one(before, self.key, index, "-" if is_deleted else " ")

    def _before_and_after(self, index: int | None, before: Model, after: Model) -> Iterator[str]:
        """Yield the lines of an element before and after; if these are alike, the values of the fields that change."""
        old = list(self._one(before, self.key, index, "-"))
        new = list(self._one(after, self._key_now(), None if index is None else self.now(index), "+"))
        if [line.partition("|")[2] for line in old] == [line.partition("|")[2] for line in new]:
            old = [line for edit in self.changed[index] for line in _values(edit, before)]
            new = []
        yield from (*old, *new)

    def _one(self, model: Model, key: PlaceKey, index: int | None, mark: str) -> Iterator[str]:
        step = (self.field, index)
        site = site_of(place_of((*key, step)), model)
        if site is not None and (site.step == step or (site.step is None and site.focus[:1] == (step,))):
            line = line_of(site, with_name=self.field == "node")
            yield f"{mark}{line.label:>5} | {line.text}"

    def _key_now(self) -> PlaceKey:
        """The steps to the message after the edits, among which may be some of the lists around it."""
        steps: list[Step] = []
        for number, (field, index) in enumerate(self.key):
            around = self._lists.get((*self.key[:number], (field, None)))
            steps.append((field, around.now(index) if around is not None and index is not None else index))
        return tuple(steps)


def _values(edit: Edit, before: Model) -> Iterator[str]:
    """Yield the values of a field that an edit takes away, also of repeated occurrences, and the one that it writes."""
    assert isinstance(edit, Assign | Delete | Insert)
    *around, (name, _) = edit.place.key
    kind = before.kind
    for each, _ in around:
        kind = wire.fields_by_name(kind)[each].message or kind
    spans = [] if isinstance(edit, Insert) else before.places.byte_ranges.occurrences(edit.place)
    if isinstance(edit, Delete) and edit.keeps_last:
        del spans[-1:]
    for start, value, end in spans:
        if end - start > _MOST_BYTES:
            yield f"-      | {edit.place}: {end - value:,} bytes"
        else:
            yield _value("-", edit, kind, before.source.read_at(start, end - start))
    if not isinstance(edit, Delete):
        yield _value("+", edit, kind, record_of(wire.fields_by_name(kind)[name], edit.value))


def _value(mark: str, edit: Edit, kind: str, record: bytes) -> str:
    sheet = Sheet()
    write_field(sheet, schema.message(kind).FromString(record), edit.place.field)
    line = cut_around(ContextLine("", sheet.text), MOST_CHARACTERS)
    around = f"{edit.place.parent}." if edit.place.parent is not None and edit.place.parent.parent is not None else ""
    return f"{mark}      | {around}{line.text}"


def _changes(edits: tuple[Edit, ...], kind: str) -> Mapping[PlaceKey, _Changes]:
    """Group the edits by the list or field in which a line changes, in the order in which they come first."""
    found: dict[PlaceKey, _Changes] = {}
    for edit in edits:
        if isinstance(edit, Shorten):
            continue
        key = edit.place.key
        size, container = _steps_to_container(key, kind)
        field = key[size][0]
        name = (*key[:size], (field, None))
        if name not in found:
            found[name] = _Changes(key[:size], field, found)
        is_line = container in CONTAINERS and field not in OF_HEADERS.get(container, ())
        found[name].add(edit, key[size:] if is_line else ((field, None),))
    return found


def _steps_to_container(key: PlaceKey, kind: str) -> tuple[int, str]:
    """Return the number of steps to the innermost message around a place whose elements have a line each, and its kind.

    If no message around it is such a one, it is the root.
    """
    size, container = 0, kind
    for number, (field, _) in enumerate(key):
        if kind in CONTAINERS:
            size, container = number, kind
        inner = wire.fields_by_name(kind)[field].message
        if inner is None:
            break
        kind = inner
    return size, container
