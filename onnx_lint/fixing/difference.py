# SPDX-License-Identifier: Apache-2.0
"""Shows what fixes change: the lines of the model before and after, in ONNX's textual syntax."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.digest import sha256
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.lint import load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.edited_message import edited
from onnx_lint.fixing.rounds import FixOutcome
from onnx_lint.input.locations import has_folder
from onnx_lint.input.patched_source import PatchedSource
from onnx_lint.input.source import BytesSource, FileSource
from onnx_lint.ir.places.edits import Assign, DataCopy, Delete, Edit, Insert, Move, Shorten
from onnx_lint.ir.places.long_numbers import long_numbers
from onnx_lint.ir.places.place import PlaceKey, Step, place_of
from onnx_lint.ir.places.splices import record_of
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.model import Model
from onnx_lint.report.findings import ContextLine
from onnx_lint.reporters.escape import shown_path
from onnx_lint.schema import wire
from onnx_lint.surroundings.line_writer import CUT, LineWriter, cut_around
from onnx_lint.surroundings.lines import CONTAINERS, MAX_CHARACTERS, OF_HEADERS, Site, line_of, site_of
from onnx_lint.surroundings.messages import write_value
from onnx_lint.surroundings.words import quoted
from onnx_lint.wording import counted, quote

_AROUND: Final = 2
"""The number of lines to show before and after a changed line."""


def difference_of(outcome: FixOutcome, name: str, settings: Settings) -> str:
    """Return the changes of each round, in order; empty if nothing was changed."""
    lines: list[str] = []
    for number, current in enumerate(outcome.rounds, start=1):
        following = outcome.rounds[number:]
        result = following[0].before if following else outcome.source
        before, after = _model(current.before, name, settings), _model(result, name, settings)
        suffix = "" if number == 1 else f" (round {number})"
        lines += [f"--- {shown_path(name)}{suffix}", f"+++ {shown_path(name)}{suffix}"]
        if any(isinstance(edit, Shorten) for edit in current.edits):
            lines += _shorter_numbers(before)
        for copy in current.copies:
            lines += _new_data(copy, before.data_folder)
        lists = _Lists(current.edits)
        for changes in _changes(current.edits, current.kind, lists):
            lines += changes.lines(before, after)
    return "".join(f"{line}\n" for line in lines)


def _model(source: PatchedSource, name: str, settings: Settings) -> Model:
    return load_source(source, name, settings, is_file=has_folder(name))


def _shorter_numbers(before: Model) -> Iterator[str]:
    """Yield the old and the new bytes of the first numbers that need fewer bytes."""
    yield "@@ numbers in fewer bytes, with the same values @@"
    numbers = long_numbers(before.source, before.kind)
    for number in islice(numbers, _MAX_NUMBERS):
        old = before.source.read_at(number.start, number.end - number.start)
        yield f"-      | {number.part} of {number.place}: {old.hex(' ')}"
        yield f"+      | {number.part} of {number.place}: {number.shorter.hex(' ')}"
    left = sum(1 for _ in numbers)
    if left:
        yield f"@@ {left:,} more @@"


def _new_data(copy: DataCopy, folder: DataFolder | None) -> Iterator[str]:
    """Yield the size and digest of a new data file, and the origin of each part of it."""
    assert folder is not None, "a data file was found"
    yield f"@@ new data file {quote(copy.target)}: {counted(copy.size, 'byte')} (SHA-256 {_digest(copy, folder)}) @@"
    for start, end, position in copy.ranges[:_MAX_NUMBERS]:
        yield f"+      | bytes {start:,} to {end:,} of {quote(copy.location)}, at {position:,}"
    if len(copy.ranges) > _MAX_NUMBERS:
        yield f"@@ {len(copy.ranges) - _MAX_NUMBERS:,} more @@"


def _digest(copy: DataCopy, folder: DataFolder) -> str:
    """Return the SHA-256 of the new file. Its bytes between the ranges are zeros."""
    descriptor, status = folder.open(copy.location)
    found, length = sha256(), 0
    try:
        source = FileSource(descriptor, status.st_size)
        for start, end, position in sorted(copy.ranges, key=lambda each: each[2]):
            found.update(bytes(position - length))
            for first in range(start, end, _BLOCK_BYTES):
                check_deadline()
                found.update(source.read_at(first, min(_BLOCK_BYTES, end - first)))
            length = position + end - start
    finally:
        os.close(descriptor)
    found.update(bytes(copy.size - length))
    digest: str = found.hexdigest()
    return digest


_BLOCK_BYTES: Final = 1 << 20

_MAX_NUMBERS: Final = 100
"""The most numbers, or parts of a new data file, that have a line."""

_MAX_BYTES: Final = 4096
"""The longest field whose value is shown. Of a longer one, the size and the digest are shown."""

_MAX_COMPARED: Final = 16
"""The most edits of one element for which the line with only this edit is compared with the line without it."""


class _Lists:
    """The elements that edits insert and delete, by list. All indices are those before any edit."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self.deleted: dict[PlaceKey, list[int]] = {}
        self.inserted: dict[PlaceKey, list[int]] = {}
        """For each new element, the index of the element before which it is inserted."""
        for edit in edits:
            if isinstance(edit, Shorten) or edit.place.index is None:
                continue
            *around, (field, index) = edit.place.key
            assert index is not None
            name = (*around, (field, None))
            if isinstance(edit, Delete | Move):
                self.deleted.setdefault(name, []).append(index)
            if isinstance(edit, Insert | Move):
                self.inserted.setdefault(name, []).append(edit.before if isinstance(edit, Move) else index)
        for found in (*self.deleted.values(), *self.inserted.values()):
            found.sort()

    def index_after(self, name: PlaceKey, index: int) -> int:
        """Return the index of an element after the edits, or of the element that takes its place."""
        return index - bisect_left(self.deleted.get(name, ()), index) + bisect_right(self.inserted.get(name, ()), index)

    def inserted_before(self, name: PlaceKey, index: int) -> range:
        """Return the indices, after the edits, of the new elements before an element."""
        found = self.inserted.get(name, ())
        end = self.index_after(name, index)
        return range(end - bisect_right(found, index) + bisect_left(found, index), end)

    def is_deleted(self, name: PlaceKey, index: int) -> bool:
        """Return whether an element was deleted or moved."""
        found = self.deleted.get(name, ())
        return bisect_left(found, index) < bisect_right(found, index)

    def key_after(self, key: PlaceKey) -> PlaceKey:
        """Return the steps to an element after the edits."""
        steps: list[Step] = []
        for number, (field, index) in enumerate(key):
            name = (*key[:number], (field, None))
            steps.append((field, None if index is None else self.index_after(name, index)))
        return tuple(steps)


class _Changes:
    """The changes in one list or field of a graph, or of another message whose elements have a line each."""

    def __init__(self, key: PlaceKey, field: str, lists: _Lists) -> None:
        self.key = key
        self.field = field
        self.name = (*key, (field, None))
        self._lists = lists
        self.changed: dict[int | None, list[Edit]] = {}
        """The edits inside an element, by its index; None if the elements of the field have no lines of their own."""

    def add(self, edit: Edit, rest: PlaceKey) -> None:
        """Record an edit; `rest` are the steps to it from the message."""
        index = rest[0][1]
        if len(rest) > 1 or index is None or isinstance(edit, Assign):
            self.changed.setdefault(index, []).append(edit)

    def lines(self, before: Model, after: Model) -> Iterator[str]:
        """Yield the lines before and after."""
        if None in self.changed:
            yield f"@@ {place_of(self.name)} @@"
            yield from self._before_and_after(None, before, after)
            return
        deleted, inserted = (each.get(self.name, ()) for each in (self._lists.deleted, self._lists.inserted))
        touched = sorted({*deleted, *inserted, *(each for each in self.changed if each is not None)})
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
        """Yield the lines of an element, after those of the elements that are inserted before it."""
        for new in self._lists.inserted_before(self.name, index):
            yield from self._one(after, self._lists.key_after(self.key), new, "+")
        if index in self.changed:
            yield from self._before_and_after(index, before, after)
        else:
            yield from self._one(before, self.key, index, "-" if self._lists.is_deleted(self.name, index) else " ")

    def _before_and_after(self, index: int | None, before: Model, after: Model) -> Iterator[str]:
        """Yield the lines of an element before and after if they differ, and the values that they do not show."""
        now = None if index is None else self._lists.index_after(self.name, index)
        old = list(self._one(before, self.key, index, "-"))
        new = list(self._one(after, self._lists.key_after(self.key), now, "+"))
        edits = self.changed[index]
        is_field = index is None and not _is_in_header(before, self.name)
        if is_field or [line.partition("|")[2] for line in old] == [line.partition("|")[2] for line in new]:
            unseen: Iterable[Edit] = edits
        else:
            yield from (*old, *new)
            site = _site(before, (*self.key, (self.field, index)))
            unseen = _not_in_line(edits, site)
        yield from _values(unseen, before, self._lists)

    def _one(self, model: Model, key: PlaceKey, index: int | None, mark: str) -> Iterator[str]:
        site = _site(model, (*key, (self.field, index)))
        if site is not None:
            line = line_of(site, with_name=self.field == "node")
            yield f"{mark}{line.label:>5} | {line.text}"


def _site(model: Model, key: PlaceKey) -> Site | None:
    """Return the line of an element, or of the function or graph whose header shows the field."""
    site = site_of(place_of(key), model)
    if site is None:
        return None
    is_header = site.step is None and (site.line == key or site.focus[:1] == key[-1:])
    return site if is_header or site.step == key[-1] else None


def _is_in_header(model: Model, key: PlaceKey) -> bool:
    """Return whether a field has no line of its own, but is shown in the header of its function or graph."""
    site = _site(model, key)
    return site is not None and site.element is None and site.step is None


def _not_in_line(edits: list[Edit], site: Site | None) -> list[Edit]:
    """Return the edits of an element that do not change its line. Very many edits are all returned."""
    if len(edits) == 1:
        return []
    if site is None or site.element is None or len(edits) > _MAX_COMPARED:
        return edits
    line = line_of(site, with_name=True).text
    kind, message = site.element
    size = len(site.line)
    others = ((edit, edited(message, edit, edit.place.key[size:])) for edit in edits)
    return [
        edit for edit, other in others if line_of(replace(site, element=(kind, other)), with_name=True).text == line
    ]


def _values(edits: Iterable[Edit], before: Model, lists: _Lists) -> Iterator[str]:
    """Yield the values that edits remove, with all occurrences of a field, and the values that they write.

    The place of a removed value is the one before all edits, that of a written value the one after them.
    """
    inserted: Counter[PlaceKey] = Counter()
    for edit in edits:
        assert isinstance(edit, Assign | Delete | Insert)
        key = edit.place.key
        *around, (name, index) = key
        kind = _kind_at(before.kind, around)
        yield from _old_values(edit, kind, before)
        if isinstance(edit, Delete):
            continue
        place = lists.key_after(key)
        if isinstance(edit, Insert) and index is not None:
            number = lists.inserted_before((*around, (name, None)), index)[inserted[key]]
            inserted[key] += 1
            place = (*place[:-1], (name, number))
        value = _value(kind, name, record_of(wire.fields_by_name(kind)[name], edit.value))
        yield f"+      | {place_of(place)}: {value}"


def _kind_at(kind: str, steps: Iterable[Step]) -> str:
    """Return the kind of the message at the end of the steps."""
    for field, _ in steps:
        kind = wire.fields_by_name(kind)[field].message or kind
    return kind


def _old_values(edit: Assign | Delete | Insert, kind: str, before: Model) -> Iterator[str]:
    """Yield the values that an edit removes, for all occurrences of the field."""
    spans = [] if isinstance(edit, Insert) else before.places.byte_ranges.occurrences(edit.place)
    if isinstance(edit, Delete) and edit.keeps_last:
        del spans[-1:]
    for start, value, end in spans:
        if end - start > _MAX_BYTES:
            text = _size_and_digest(before.source.read_at(value, end - value))
        else:
            text = _value(kind, edit.place.field, before.source.read_at(start, end - start))
        yield f"-      | {edit.place}: {text}"


def _size_and_digest(value: bytes) -> str:
    return f"{counted(len(value), 'byte')} (SHA-256 {sha256(value).hexdigest()})"


def _value(kind: str, field: str, record: bytes) -> str:
    """Return the value of a field. Of a long value, return the beginning, the size and the digest."""
    text = _whole_value(getattr(schema.message(kind).FromString(record), field))
    if len(text) <= MAX_CHARACTERS and CUT not in text:
        return text
    _, start, end = wire.span_at(BytesSource(record), 0)
    return f"{cut_around(ContextLine('', text), MAX_CHARACTERS).text}, {_size_and_digest(record[start:end])}"


def _whole_value(value: Any) -> str:
    """Return the value of a field without cuts. A list is the element of one record, or the packed elements of one."""
    if isinstance(value, str | bytes):
        return quoted(value)
    if hasattr(value, "__len__"):  # a message has no length
        return _whole_value(value[0]) if len(value) == 1 else f"[{', '.join(map(_whole_value, value))}]"
    line = LineWriter()
    write_value(line, value)
    return line.text


def _changes(edits: tuple[Edit, ...], kind: str, lists: _Lists) -> Iterable[_Changes]:
    """Group the edits by the list or field whose lines they change, in the order of the first edit of each."""
    found: dict[PlaceKey, _Changes] = {}
    for edit in edits:
        if isinstance(edit, Shorten):
            continue
        key = edit.place.key
        container = _container_of(key, kind)
        size = container.steps
        field = key[size][0]
        name = (*key[:size], (field, None))
        if name not in found:
            found[name] = _Changes(key[:size], field, lists)
        is_line = container.kind in CONTAINERS and field not in OF_HEADERS.get(container.kind, ())
        found[name].add(edit, key[size:] if is_line else ((field, None),))
    return found.values()


class _ContainerOfPlace(Record):
    """The innermost message around a place that has a line for each element, or the root."""

    steps: int
    """The number of steps to it from the root."""
    kind: str


def _container_of(key: PlaceKey, kind: str) -> _ContainerOfPlace:
    """Return the container of a place. `kind`: that of the root."""
    found = _ContainerOfPlace(0, kind)
    for number, (field, _) in enumerate(key):
        if kind in CONTAINERS:
            found = _ContainerOfPlace(number, kind)
        inner = wire.fields_by_name(kind)[field].message
        if inner is None:
            break
        kind = inner
    return found
