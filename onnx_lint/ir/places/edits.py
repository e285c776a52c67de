# SPDX-License-Identifier: Apache-2.0
"""Edits of the message tree by place, and fixes that consist of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.ir.places.place import ROOT, Place

if TYPE_CHECKING:
    from onnx_lint.schema import Proto

    NewValue = int | str | Proto
    """The value that an edit writes: an integer, a text, or a message."""


class Delete(Record):
    """Delete an element of a list, or clear a field or a whole list."""

    place: Place
    keeps_last: bool = False
    """True to keep the last one of several occurrences of a field that is not a list."""


class Insert(Record):
    """Insert an element into a list, before the element at `place` or, if there is none, at the end of the list."""

    place: Place
    value: NewValue


class Assign(Record):
    """Set a field, which is then written once, or replace an element of a list."""

    place: Place
    value: NewValue


class Move(Record):
    """Move an element of a list before another element of the same list."""

    place: Place
    before: int
    """The index of that element before any edit; the length of the list for its end."""


class Shorten(Record):
    """Write all numbers of the file that take more bytes than they need in fewer: tags, lengths and values."""

    place: Place = ROOT


MAX_EDITS: Final = 100
"""A fix with more edits is described by its sentence alone."""

Edit = Delete | Insert | Assign | Move | Shorten


class DataCopy(Record):
    """A new data file with bytes of another one."""

    location: str
    target: str
    """The location of the new file."""
    ranges: tuple[tuple[int, int, int], ...]
    """For each range its start, its end, and its start in the new file."""
    size: int


class Fix(Record):
    """Edits that fix a fault. All places are those before the first edit."""

    message: str
    """The instruction that the fix follows: "put the nodes into topological order"."""
    edits: tuple[Edit, ...]
    is_safe: bool = True
    """True if the model computes the same for every reader afterwards, and nothing else changes."""
    later: Callable[[], Iterable[Edit]] | None = None
    """Returns the edits, instead of `edits`: for a fix that may have an edit for each name of the model."""
    removes: frozenset[str] = frozenset()
    """The names of the values that are gone afterwards, so that no other fix may let anything read them."""
    trusts: tuple[Place, str] | None = None
    """The graph and the name of a value whose declaration it deletes, because that contradicts what the value is.

    It is not made if the value follows from another fault: then the declaration may be right.
    """
    copies: tuple[DataCopy, ...] = ()
    """The data files that the edits need. Such a fix is made last, and only of a file."""
    in_words: Callable[[int], str] | None = None
    """Returns the message for another number of edits, if it says how many there are."""

    @classmethod
    def of_many(
        cls,
        message: str | Callable[[int], str],
        count: int,
        make: Callable[[], Iterable[Edit]],
        *,
        is_safe: bool = True,
    ) -> Fix:
        """Return the fix with the `count` edits that `make` returns. `message`: that, or what makes it of the number.

        More than MAX_EDITS are made only if the file is fixed: a report does not show them.
        """
        in_words = None if isinstance(message, str) else message
        said = message if isinstance(message, str) else message(count)
        if count <= MAX_EDITS:
            return cls(said, tuple(make()), is_safe, in_words=in_words)
        return cls(said, (), is_safe, make, in_words=in_words)

    def with_edits(self) -> Fix:
        """Return the fix with all of its edits. Call this before the model is released."""
        return self if self.later is None else replace(self, edits=tuple(self.later()), later=None)

    def only_at(self, places: Set[Place]) -> Fix | None:
        """Return the fix with those of its edits that are at the places or inside of them; None if there are none."""
        edits = self.with_edits().edits
        left = tuple(edit for edit in edits if not places.isdisjoint(edit.place.ancestors()))
        message = self.message if self.in_words is None else self.in_words(len(left))
        if len(left) < len(edits):
            message = f"{message}, except what is suppressed"
        return Fix(message, left, self.is_safe) if left else None
