# SPDX-License-Identifier: Apache-2.0
"""Shows what fixes change: the lines of the model before and after, in ONNX's textual syntax."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Final

from onnx_lint.engine.lint import load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.rounds import Mended
from onnx_lint.input.patched_source import PatchedSource
from onnx_lint.ir.places.edits import Delete, Edit, Insert, Move, Shorten
from onnx_lint.ir.places.place import PlaceKey, Step, place_of
from onnx_lint.model import Model
from onnx_lint.reporters.escape import shown_path
from onnx_lint.schema import wire
from onnx_lint.surroundings.lines import CONTAINERS, line_of, site_of

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
            lines.append("@@ numbers in fewer bytes, with the same values @@")
        for changes in _changes(made.edits, made.kind).values():
            lines += changes.lines(before, now)
    return "".join(f"{line}\n" for line in lines)


def _model(source: PatchedSource, name: str, settings: Settings) -> Model:
    return load_source(source, name, settings, is_file=name != "-")


class _Changes:
    """The changes in one list or field of a graph, or of another message whose elements have a line each."""

    def __init__(self, key: PlaceKey, field: str, lists: Mapping[PlaceKey, _Changes]) -> None:
        self.key = key
        self.field = field
        self._lists = lists
        self.deleted: list[int] = []
        self.inserted: list[int] = []
        """For each new element the index before which it comes, in order."""
        self.changed: set[int | None] = set()
        """The indices of the elements that change in part; None for a field that is not a list."""

    def add(self, edit: Edit, rest: PlaceKey) -> None:
        """Record an edit; `rest` are the steps to it from the message."""
        index = rest[0][1]
        if len(rest) > 1 or index is None:
            self.changed.add(index)
        elif isinstance(edit, Insert):
            insort(self.inserted, index)
        elif isinstance(edit, Delete):
            insort(self.deleted, index)
        elif isinstance(edit, Move):
            insort(self.deleted, index)
            insort(self.inserted, edit.before)
        else:
            self.changed.add(index)

    def now(self, index: int) -> int:
        """The index of an element after the edits, or that of the one that comes in its place."""
        return index - bisect_left(self.deleted, index) + bisect_right(self.inserted, index)

    def lines(self, before: Model, after: Model) -> Iterator[str]:
        """Yield the lines before and after."""
        if None in self.changed:
            yield f"@@ {place_of((*self.key, (self.field, None)))} @@"
            yield from self._one(before, self.key, None, "-")
            yield from self._one(after, self._key_now(), None, "+")
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
            yield from self._one(before, self.key, index, "-")
            yield from self._one(after, self._key_now(), self.now(index), "+")
        else:
            is_deleted = bisect_left(self.deleted, index) < bisect_right(self.deleted, index)
            yield from self._one(before, self.key, index, "-" if is_deleted else " ")

    def _one(self, model: Model, key: PlaceKey, index: int | None, mark: str) -> Iterator[str]:
        step = (self.field, index)
        site = site_of(place_of((*key, step)), model)
        if site is not None and site.step == step:
            line = line_of(site, with_name=self.field == "node")
            yield f"{mark}{line.label:>5} | {line.text}"

    def _key_now(self) -> PlaceKey:
        """The steps to the message after the edits, among which may be some of the lists around it."""
        steps: list[Step] = []
        for number, (field, index) in enumerate(self.key):
            around = self._lists.get((*self.key[:number], (field, None)))
            steps.append((field, around.now(index) if around is not None and index is not None else index))
        return tuple(steps)


def _changes(edits: tuple[Edit, ...], kind: str) -> Mapping[PlaceKey, _Changes]:
    """Group the edits by the list or field in which a line changes, in the order in which they come first."""
    found: dict[PlaceKey, _Changes] = {}
    for edit in edits:
        if isinstance(edit, Shorten):
            continue
        key = edit.place.key
        size = _steps_to_container(key, kind)
        name = (*key[:size], (key[size][0], None))
        if name not in found:
            found[name] = _Changes(key[:size], key[size][0], found)
        found[name].add(edit, key[size:])
    return found


def _steps_to_container(key: PlaceKey, kind: str) -> int:
    """Return the number of steps to the innermost message around a place whose elements have a line each."""
    size = 0
    for number, (field, _) in enumerate(key):
        if kind in CONTAINERS:
            size = number
        inner = wire.fields_by_name(kind)[field].message
        if inner is None:
            break
        kind = inner
    return size
