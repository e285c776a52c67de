# SPDX-License-Identifier: Apache-2.0
"""Edits of a model as text: the base of both text forms."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.ir.places.edits import Assign, Edit, Insert, Move
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError
from onnx_lint.schema import wire
from onnx_lint.text_edits.bracket_lists import Arrival, BracketList, Extent, TextPatch, list_patches

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import NewValue

SEVERAL_LISTS: Final = "the text has several lists of the field"
"""Why an element is not moved from one list to another, or into a list."""

_LINE_END: Final = re.compile(r"[ \t\r,;]*(?:\n|\Z)")


class Notation(ABC):
    """A form of text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._kind = ""
        self._starts: dict[PlaceKey, int | None] = {}

    def patches(self, edits: Sequence[Edit]) -> Iterator[TextPatch]:
        """Yield what changes in the text: all changes of a list at once, since its commas depend on all of them.

        Raises EditError for an edit that cannot be made.
        """
        changes: dict[int, tuple[BracketList, dict[int, Extent], list[Arrival]]] = {}
        for edit in edits:
            place = edit.place
            if isinstance(edit, Assign) and self.start(place) is not None:
                yield (*self.value(place), (self.written(place, edit.value),))
                continue
            found = self.in_list(place)
            if found is None:
                yield from self.outside_lists(edit)
                continue
            edited, index = found
            _, gone, arrivals = changes.setdefault(edited.opening, (edited, {}, []))
            if isinstance(edit, Insert | Assign):
                arrivals.append(Arrival(index, self.element(place, edit.value)))
                continue
            gone[index] = self.lines(edited.elements[index]) or edited.elements[index]
            if isinstance(edit, Move):
                assert place.index is not None
                before = edit.before - place.index + index
                if not 0 <= before <= len(edited.elements):
                    raise EditError(SEVERAL_LISTS)
                arrivals.append(Arrival(before, edited.elements[index]))
        for edited, gone, arrivals in changes.values():
            yield from list_patches(self.text, edited, gone, arrivals)

    def lines(self, extent: Extent) -> Extent | None:
        """Return the lines of something; None if anything else is on them."""
        first = extent[0]
        while self.text[first - 1 : first] in (" ", "\t"):
            first -= 1
        last = _LINE_END.match(self.text, extent[1])
        return None if last is None or self.text[first - 1 : first] not in ("", "\n") else (first, last.end())

    def find(self, kind: str, edits: Iterable[Edit]) -> None:
        """Find all places that edits name, in one pass over the text."""
        wanted: dict[PlaceKey, None] = {}
        for edit in edits:
            place = edit.place
            while place.parent is not None:
                wanted[place.key] = None
                place = place.parent
            assert edit.place.parent is not None
            after = edit.before if isinstance(edit, Move) else edit.place.index
            wanted[edit.place.parent.at(edit.place.field).key] = None
            for index in () if after is None else (after, max(after - 1, 0)):
                wanted[edit.place.parent.at(edit.place.field, index).key] = None
        self._kind = kind
        self._starts = self.starts(kind, wanted)

    def start(self, place: Place) -> int | None:
        """Return the character at which a place begins; None if the text does not have the place."""
        return self._starts.get(place.key)

    def known_start(self, place: Place) -> int:
        """Return the character at which a place begins. Raises EditError if the text does not have the place."""
        found = self.start(place)
        if found is None:
            raise EditError(f"the text has no {place}")
        return found

    def holder(self, place: Place) -> str:
        """Return the name of the message that has the field at a place."""
        kind = self._kind
        for name, _ in place.key[:-1]:
            inner = wire.fields_by_name(kind)[name].message
            assert inner is not None
            kind = inner
        return kind

    def field(self, place: Place) -> wire.Field:
        """Return the field at a place."""
        return wire.fields_by_name(self.holder(place))[place.field]

    @abstractmethod
    def starts(self, kind: str, keys: Iterable[PlaceKey]) -> dict[PlaceKey, int | None]:
        """Return where places begin."""

    @abstractmethod
    def value(self, place: Place) -> Extent:
        """Return what an assignment to the place replaces."""

    @abstractmethod
    def in_list(self, place: Place) -> tuple[BracketList, int] | None:
        """Return the list or object with the element at a place, and its index in it; None if there is none.

        For an element that is not there: where to insert it.
        """

    @abstractmethod
    def element(self, place: Place, value: NewValue) -> str:
        """Return a value as an element of the list or object that `in_list` returns."""

    @abstractmethod
    def written(self, place: Place, value: NewValue) -> str:
        """Return a value as it is written at the place."""

    def outside_lists(self, edit: Edit) -> Iterator[TextPatch]:
        """Yield what an edit changes at a place that is in no list or object."""
        raise EditError(f"the text has no {edit.place}")
