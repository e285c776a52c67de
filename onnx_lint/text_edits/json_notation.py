# SPDX-License-Identifier: Apache-2.0
"""Edits of JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from onnx_lint import schema
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError
from onnx_lint.loader.text.text_positions import json_starts
from onnx_lint.text_edits.bracket_lists import BracketList, Extent
from onnx_lint.text_edits.notation import Notation

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import NewValue

_SPACE: Final = re.compile(r"\s*")
_NAME: Final = re.compile(r'"\w+"\s*:\s*')


class JsonNotation(Notation):
    """JSON."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._lists: dict[int, BracketList] = {}
        """The lists and objects by their brackets."""

    def starts(self, kind: str, keys: Iterable[PlaceKey]) -> dict[PlaceKey, int | None]:
        """See `Notation`."""
        return json_starts(self.text, kind, keys)

    def value(self, place: Place) -> Extent:
        """See `Notation`."""
        start = self._value_start(place)
        return start, self._end(start)

    def in_list(self, place: Place) -> tuple[BracketList, int]:
        """See `Notation`."""
        assert place.parent is not None
        row = None if place.index is None else place.parent.at(place.field)
        if row is not None and self.start(row) is not None:
            found = self._list(self._value_start(row), "[", row)
            missing = len(found.elements)
        else:
            root = place.parent.parent is None
            found = self._list(self.text.index("{") if root else self._value_start(place.parent), "{", place.parent)
            missing = 0
        start = self.start(place)
        return found, missing if start is None else bisect_right(found.elements, (start, len(self.text))) - 1

    def element(self, place: Place, value: NewValue) -> str:
        """See `Notation`."""
        assert place.parent is not None
        new = self.written(place, value)
        if place.index is not None:
            if self.start(place.parent.at(place.field)) is not None:
                return new
            new = f"[{new}]"
        name = schema.message(self.holder(place)).DESCRIPTOR.fields_by_name[place.field].json_name
        return f'"{name}": {new}'

    def _list(self, opening: int, bracket: str, place: Place) -> BracketList:
        """Return the list or object that begins at a bracket, which it must be."""
        if self.text[opening] != bracket:
            raise EditError(f"the text has no {place}")
        if opening not in self._lists:
            self._lists[opening] = self._read_list(opening)
        return self._lists[opening]

    def _read_list(self, opening: int) -> BracketList:
        elements: list[Extent] = []
        commas: list[int] = []
        position = self._after_space(opening + 1)
        while self.text[position] not in "]}":
            start = position
            named = _NAME.match(self.text, start) if self.text[opening] == "{" else None
            end = self._end(start if named is None else named.end())
            elements.append((start, end))
            position = self._after_space(end)
            if self.text[position] == ",":
                commas.append(position)
                position = self._after_space(position + 1)
        return BracketList(opening + 1, tuple(elements), tuple(commas))

    def _after_space(self, position: int) -> int:
        space = _SPACE.match(self.text, position)
        assert space is not None
        return space.end()

    def written(self, place: Place, value: NewValue) -> str:
        """See `Notation`."""
        from google.protobuf import json_format  # few models are JSON

        if isinstance(value, (int, str)):
            return json.dumps(str(value), ensure_ascii=False)
        return json.dumps(json_format.MessageToDict(value, descriptor_pool=schema.pool()), ensure_ascii=False)

    def _value_start(self, place: Place) -> int:
        start = self.known_start(place)
        named = _NAME.match(self.text, start)
        return start if named is None else named.end()

    def _end(self, start: int) -> int:
        try:
            return json.JSONDecoder().raw_decode(self.text, start)[1]
        except (ValueError, RecursionError) as error:
            raise EditError("the text has an unusual value") from error
