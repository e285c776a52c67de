# SPDX-License-Identifier: Apache-2.0
"""Edits of JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint import schema
from onnx_lint.ir.places.edits import Delete, Edit, Move
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError
from onnx_lint.loader.text.text_positions import json_starts
from onnx_lint.text_edits.notation import Extent, Notation, TextPatch, position_of

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import NewValue

_COMMA: Final = re.compile(r"\s*,\s*")


class JsonNotation(Notation):
    """JSON."""

    def starts(self, kind: str, keys: Iterable[PlaceKey]) -> dict[PlaceKey, int | None]:
        """See `Notation`."""
        return json_starts(self.text, kind, keys)

    def value(self, place: Place) -> Extent:
        """See `Notation`."""
        start = self._value_start(place)
        return start, self._end(start)

    def patches(self, edits: Sequence[Edit]) -> Iterator[TextPatch]:
        """Yield what changes; the elements that go from the end of a list go at once, with the comma before them."""
        gone = {end: start for start, end in (self._whole(e.place) for e in edits if isinstance(e, Delete | Move))}
        ends = sorted(self._end_of_list(start, end, gone) for end, start in gone.items() if self._is_last(end))
        for start, end, new in sorted(super().patches(edits), key=position_of):
            index = bisect_right(ends, (start, len(self.text))) - 1
            if index < 0 or start >= ends[index][1]:
                yield start, end, new
            elif new:  # something that moves before an element that goes
                moved, gap = new
                yield ends[index][0], ends[index][0], (gap, moved)
        for start, end in ends:
            yield start, end, ()

    def span(self, place: Place) -> Extent:
        """See `Notation`."""
        start, end = self._whole(place)
        following = _COMMA.match(self.text, end)
        return start, end if following is None else following.end()

    def _is_last(self, end: int) -> bool:
        return _COMMA.match(self.text, end) is None

    def _end_of_list(self, start: int, end: int, gone: Mapping[int, int]) -> Extent:
        """Return the text to remove at the end of a list or an object if its last element is removed."""
        while True:
            comma = self._before_space(start) - 1
            if self.text[comma] != ",":
                return start, end
            last = self._before_space(comma)
            if last not in gone:
                return last, end
            start = gone[last]

    def _before_space(self, position: int) -> int:
        while self.text[position - 1] in " \t\r\n":
            position -= 1
        return position

    def arrival(self, edit: Move) -> TextPatch:
        """See `Notation`."""
        moved = self._whole(edit.place)
        place, is_before = self.neighbour(edit.place, edit.before)
        target = self._whole(place)
        position = target[0 if is_before else 1]
        comma = _COMMA.match(self.text, moved[1]) or _COMMA.match(self.text, target[1])
        gap = comma[0] if comma is not None else ", "
        return position, position, ((moved, gap) if is_before else (gap, moved))

    def addition(self, place: Place, value: NewValue) -> TextPatch:
        """See `Notation`."""
        assert place.parent is not None
        new = self.written(place, value)
        if place.index is not None:
            neighbour, is_before = self.neighbour(place, place.index)
            if self.start(neighbour) is not None:
                position = self._whole(neighbour)[0 if is_before else 1]
                return position, position, (f"{new}, " if is_before else f", {new}",)
            new = f"[{new}]"
        opening = self.text.index("{") if place.parent.parent is None else self._value_start(place.parent)
        if self.text[opening] != "{":
            raise EditError(f"the text has no {place.parent}")
        name = schema.message(self.holder(place)).DESCRIPTOR.fields_by_name[place.field].json_name
        gap = "" if re.compile(r"\s*}").match(self.text, opening + 1) else ", "
        return opening + 1, opening + 1, (f'"{name}": {new}{gap}',)

    def written(self, place: Place, value: NewValue) -> str:
        """See `Notation`."""
        from google.protobuf import json_format  # few models are JSON

        if isinstance(value, (int, str)):
            return json.dumps(str(value), ensure_ascii=False)
        return json.dumps(json_format.MessageToDict(value, descriptor_pool=schema.pool()), ensure_ascii=False)

    def _value_start(self, place: Place) -> int:
        start = self.known_start(place)
        named = re.compile(r'"\w+"\s*:\s*').match(self.text, start)
        return start if named is None else named.end()

    def _whole(self, place: Place) -> Extent:
        """Return an element of a list, or a field with its name."""
        start, end = self.value(place)
        if place.index is not None:
            return start, end
        name = re.search(r'"\w+"\s*:\s*\Z', self.text[max(start - 200, 0) : start])
        if name is None:
            raise EditError(f"the text has no name for {place}")
        return start - len(name[0]), end

    def _end(self, start: int) -> int:
        try:
            return json.JSONDecoder().raw_decode(self.text, start)[1]
        except (ValueError, RecursionError) as error:
            raise EditError("the text has an unusual value") from error
