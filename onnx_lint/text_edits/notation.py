# SPDX-License-Identifier: Apache-2.0
"""Edits of a model as text: the base of both text forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError
from onnx_lint.schema import wire

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import NewValue

Extent = tuple[int, int]
"""The first character of something in the text, and the one after it."""

TextPatch = tuple[int, int, Sequence[str | Extent]]
"""The characters to replace, and the pieces that replace them: new text, or characters to copy."""


def position_of(patch: TextPatch) -> Extent:
    """Return the sort key of a patch: insertions come before deletions at the same character."""
    return patch[0], patch[1]


class Notation(ABC):
    """A form of text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._kind = ""
        self._starts: dict[PlaceKey, int | None] = {}

    def patches(self, edits: Sequence[Edit]) -> Iterator[TextPatch]:
        """Yield what changes in the text. Raises EditError for an edit that cannot be made."""
        for edit in edits:
            match edit:
                case Delete():
                    yield (*self.span(edit.place), ())
                case Assign():
                    if self.start(edit.place) is None:
                        yield self.addition(edit.place, edit.value)
                    else:
                        yield (*self.value(edit.place), (self.written(edit.place, edit.value),))
                case Insert():
                    yield self.addition(edit.place, edit.value)
                case Move():
                    yield (*self.span(edit.place), ())
                    yield self.arrival(edit)

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

    def neighbour(self, place: Place, index: int) -> tuple[Place, bool]:
        """Return the element to insert another one before, and True; or else the last element, and False."""
        assert place.parent is not None
        following = place.parent.at(place.field, index)
        if self.start(following) is not None:
            return following, True
        return place.parent.at(place.field, index - 1), False

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
    def span(self, place: Place) -> Extent:
        """Return the text to remove if the element at the place is deleted or moved."""

    @abstractmethod
    def arrival(self, edit: Move) -> TextPatch:
        """Return what a move inserts."""

    @abstractmethod
    def addition(self, place: Place, value: NewValue) -> TextPatch:
        """Return what an insertion, or an assignment to a field that is not there, inserts."""

    @abstractmethod
    def written(self, place: Place, value: NewValue) -> str:
        """Return a value as it is written at the place."""
