# SPDX-License-Identifier: Apache-2.0
"""Edits of the text format of Protocol Buffers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from google.protobuf import text_format
from google.protobuf.text_encoding import CEscape

from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError
from onnx_lint.loader.text.text_positions import text_starts
from onnx_lint.loader.text.text_tokens import TEXT_TOKENS
from onnx_lint.text_edits.bracket_lists import BracketList, Extent, TextPatch, lists_in
from onnx_lint.text_edits.notation import SEVERAL_LISTS, Notation

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import NewValue

_SEPARATOR: Final = re.compile(r"[ \t]*[,;]?[ \t]*")
_GAP: Final = r"(?:\s|#[^\n]*\n)*"
"""Space and comments."""


class TextNotation(Notation):
    """The text format of Protocol Buffers."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._lists: dict[PlaceKey, dict[int, tuple[BracketList, int]]] = {}
        """For a message the elements of its lists in brackets: by the first character the list and the index in it."""

    def outside_lists(self, edit: Edit) -> Iterator[TextPatch]:
        """See `Notation`."""
        match edit:
            case Delete():
                yield (*self._span(edit.place), ())
            case Assign() | Insert():
                yield self._addition(edit.place, edit.value)
            case Move():
                yield (*self._span(edit.place), ())
                yield self._arrival(edit)

    def in_list(self, place: Place) -> tuple[BracketList, int] | None:
        """See `Notation`."""
        assert place.parent is not None
        if place.index is None:
            return None
        start = self.start(place)
        if start is None:
            before = self.in_list(place.parent.at(place.field, place.index - 1)) if place.index else None
            return None if before is None else (before[0], before[1] + 1)
        if self.field(place).message is not None and self.text[start] not in "{<":
            return None
        key = place.parent.key
        if key not in self._lists:
            self._lists[key] = {
                element[0]: (found, index)
                for found in lists_in(self.text, self._opening(place.parent))
                for index, element in enumerate(found.elements)
            }
        return self._lists[key].get(start)

    def _opening(self, message: Place) -> int:
        """Return the bracket that opens a message; 0 for the whole text."""
        if message.parent is None:
            return 0
        start = self.known_start(message)
        if self.text[start] in "{<":
            return start
        value = re.compile(f"{_GAP}:?{_GAP}").match(self.text, start + len(message.field))
        assert value is not None
        return value.end()

    def starts(self, kind: str, keys: Iterable[PlaceKey]) -> dict[PlaceKey, int | None]:
        """See `Notation`."""
        return text_starts(self.text, kind, keys)

    def value(self, place: Place) -> Extent:
        """See `Notation`."""
        start = self.known_start(place)
        if self.field(place).message is not None:
            return self._whole(place)
        return start, self._end_of_scalar(start)

    def _span(self, place: Place) -> Extent:
        """Return the text to remove if the field at the place is deleted or moved."""
        extent = self._whole(place)
        own = self.lines(extent)
        if own is not None:
            return own
        end = _SEPARATOR.match(self.text, extent[1])
        assert end is not None
        return extent[0], end.end()

    def _arrival(self, edit: Move) -> TextPatch:
        """Return what a move inserts."""
        moved = self._whole(edit.place)
        place, is_before = self._neighbour(edit.place, edit.before)
        if self.in_list(place) is not None:
            raise EditError(SEVERAL_LISTS)
        target = self._whole(place)
        lines, lines_of_target = self.lines(moved), self.lines(target)
        if lines is not None and lines_of_target is not None and self.text[lines[1] - 1] == "\n":
            position = lines_of_target[0 if is_before else 1]
            return position, position, (lines,)
        position = target[0 if is_before else 1]
        return position, position, ((moved, " ") if is_before else (" ", moved))

    def _neighbour(self, place: Place, index: int) -> tuple[Place, bool]:
        """Return the element to insert another one before, and True; or else the last element, and False."""
        assert place.parent is not None
        following = place.parent.at(place.field, index)
        if self.start(following) is not None:
            return following, True
        return place.parent.at(place.field, index - 1), False

    def _addition(self, place: Place, value: NewValue) -> TextPatch:
        """Return what an insertion, or an assignment to a field that is not there, inserts."""
        assert place.parent is not None
        new = self.written(place, value)
        if isinstance(value, (int, str)):
            new = f"{place.field}: {new}"
        if place.index is not None:
            neighbour, is_before = self._neighbour(place, place.index)
            if self.start(neighbour) is not None:
                target = self._whole(neighbour)
                position = target[0 if is_before else 1]
                first = self.text.rfind("\n", 0, target[0]) + 1
                gap = "\n" + self.text[first : target[0]] if self.lines(target) is not None else " "
                return position, position, (f"{new}{gap}" if is_before else f"{gap}{new}",)
        if place.parent.parent is None:
            position = len(self.text)
            return position, position, (f"{'' if self.text[-1:] in ('', chr(10)) else chr(10)}{new}\n",)
        position = self._whole(place.parent)[1] - 1
        return position, position, (f" {new} ",)

    def element(self, place: Place, value: NewValue) -> str:
        """See `Notation`."""
        return self.written(place, value)

    def written(self, place: Place, value: NewValue) -> str:
        """See `Notation`."""
        if isinstance(value, int):
            return str(value)
        if isinstance(value, str):
            return f'"{CEscape(value.encode(), as_utf8=True)}"'
        name = "" if self.in_list(place) is not None else f"{place.field} "
        return f"{name}{{ {text_format.MessageToString(value, as_one_line=True, as_utf8=True)} }}"

    def _whole(self, place: Place) -> Extent:
        """Return the field with its name, for a place that is not in a list in brackets."""
        start = self.known_start(place)
        listed = self.in_list(place)
        if listed is not None:
            return listed[0].elements[listed[1]]
        inner = self.field(place)
        if self.text.startswith(place.field, start) and (inner.message is not None or inner.repeated):
            named = start
            value = re.compile(f"{_GAP}:?{_GAP}").match(self.text, start + len(place.field))
            assert value is not None
            if self.text[value.end() : value.end() + 1] == "[":
                return named, self._closing(value.end())
            if inner.message is None:
                return named, self._end_of_scalar(value.end())
            return named, self._closing(value.end())
        before = re.search(rf"\b{place.field}{_GAP}:{_GAP}\Z", self.text[max(start - 200, 0) : start])
        if before is None:
            raise EditError("the text has a list in brackets")
        return start - (len(before[0])), self._end_of_scalar(start)

    def _closing(self, start: int) -> int:
        """Return the end of the message or list that is opened at the first bracket from `start` on."""
        depth = 0
        for token in TEXT_TOKENS.finditer(self.text, start):
            depth += (token[0] in ("{", "<", "[")) - (token[0] in ("}", ">", "]"))
            if not depth and token[0] in ("}", ">", "]"):
                return token.end()
        raise EditError("the text has an open bracket")

    def _end_of_scalar(self, start: int) -> int:
        """Return the end of a number, a word, or of strings that are one."""
        end = start
        is_divided = False
        for token in TEXT_TOKENS.finditer(self.text, start):
            if token[0][0] == "#":
                is_divided = True
                continue
            if token.lastgroup == "quoted":
                if is_divided:
                    raise EditError("a comment is between the pieces of a string")
                end = token.end()
                continue
            if end == start and token.lastgroup in ("word", "row"):
                word = re.compile(r"[-+.\w]+").match(self.text, start)
                assert word is not None
                return word.end()
            break
        return end
