# SPDX-License-Identifier: Apache-2.0
"""Finds the line and column of places of a message in the text format of Protocol Buffers.

One pass over the tokens, which keeps only the wanted places and the open messages. It is for texts that parse; in other
texts it finds whatever looks like a place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from onnx_lint.ir.places.place import PlaceKey, Step
from onnx_lint.loader.text.text_tokens import COMMENT_OR_STRING, TEXT_TOKENS
from onnx_lint.schema import wire

Position = tuple[int, int]
"""A line, and a column in it: both count from 1, columns in Unicode code points. A tab is one column, a byte order mark
none."""

_PIECE: Final = re.compile(r"[^\s,]++[^,]*+")
"""An element of a row of numbers or words."""


# A message without other messages in it is one token, since most of them contain no wanted place.
_TEXT_MESSAGES: Final = re.compile(
    rf"""(?P<flat>[{{<][^{{}}<>"'#]*+(?:(?:{COMMENT_OR_STRING})[^{{}}<>"'#]*+)*+[}}>])|{TEXT_TOKENS.pattern}"""
)


def text_positions(text: str, kind: str, keys: Iterable[PlaceKey]) -> dict[PlaceKey, Position]:
    """Return the positions of places in a message called `kind` in the text format of Protocol Buffers.

    A missing place has the position of the innermost message around it. The position of a value is its own beginning,
    that of a message the beginning of its field's name, that of an element of a list in brackets its own beginning.
    """
    search = _PlaceSearch(text, kind, keys)
    search.walk()
    starts = {key: [place.start for place in way if place.start is not None][-1] for key, way in search.ways.items()}
    positions = positions_at(text, starts.values())
    return {key: positions[start] for key, start in starts.items()}


def positions_at(text: str, offsets: Iterable[int]) -> dict[int, Position]:
    """Return the line and column of each of these characters, counted from 0, in one pass over the text."""
    found: dict[int, Position] = {}
    line, line_start, counted = 1, 0, 0
    for offset in sorted(set(offsets)):
        line += text.count("\n", counted, offset)
        line_start = max(line_start, text.rfind("\n", counted, offset) + 1)
        found[offset] = line, offset - line_start + 1
        counted = offset
    return found


class _Wanted:
    """A wanted place, or a place around one."""

    __slots__ = ("inner", "start")

    def __init__(self) -> None:
        self.start: int | None = None
        """The offset of its beginning; None until it is found."""
        self.inner: dict[Step, _Wanted] = {}

    def along(self, key: PlaceKey) -> Iterator[_Wanted]:
        """Yield the place itself, and those on the way to `key`; missing ones are added."""
        place = self
        yield place
        for step in key:
            place = place.inner.setdefault(step, _Wanted())
            yield place


class _PlaceSearch:
    """Walks the tokens of a text, and notes the beginnings of the wanted places."""

    def __init__(self, text: str, kind: str, keys: Iterable[PlaceKey]) -> None:
        self.text = text
        self.root = _Wanted()
        self.root.start = 0
        self.ways = {key: tuple(self.root.along(key)) for key in keys}
        """The wanted places, each with those around it, from the root on."""
        self.message: str | None = kind
        """The open message; None if it cannot have fields."""
        self.wanted: _Wanted | None = self.root
        """Its place; None if it contains no wanted place."""
        self.counts: dict[str, int] = {}
        """The number of values of each of its fields so far."""
        self.field: wire.Field | None = None
        """The field whose value comes next, or of whose list the elements come."""
        self.named_at = 0
        """The offset of the name of the current field."""
        self.is_list = False
        """True if a list is open."""
        self.name = ""
        """The last word, if it is the name of a field."""
        self.name_at = 0
        self.is_value = False
        """True if the next token begins a value."""
        self.outer: list[tuple[str | None, _Wanted | None, dict[str, int], wire.Field | None, bool]] = []
        self.is_entered = False
        """True if a message that was one token contains a wanted place."""

    def tokens(self) -> Iterator[re.Match[str]]:
        """Yield the tokens of the text; the tokens in a message that is one token only if that is entered."""
        for token in _TEXT_MESSAGES.finditer(self.text):
            yield token
            if self.is_entered:
                self.is_entered = False
                yield from TEXT_TOKENS.finditer(self.text, token.start() + 1, token.end())

    def flat(self, start: int) -> None:
        """Handle a message that is one token as the value of the field; enter it if it contains a wanted place."""
        self.open_message(start)
        if self.wanted is not None and self.wanted.inner:
            self.is_entered = True
        else:
            self.close()

    def value(self, start: int, name: int | None = None) -> _Wanted | None:
        """Note that a value of the field begins at `start`; return its place, if that is wanted.

        `name`: the offset of the field's name, which counts instead of the value.
        """
        if self.wanted is None or self.field is None:
            return None
        step: Step = (self.field.name, None)
        index = self.counts.get(self.field.name, 0)
        self.counts[self.field.name] = index + 1
        if self.field.repeated:
            self._note(step, self.named_at)
            step = (self.field.name, index)
        return self._note(step, start if name is None else name)

    def _note(self, step: Step, start: int) -> _Wanted | None:
        place = self.wanted.inner.get(step) if self.wanted is not None else None
        if place is not None and place.start is None:
            place.start = start
        return place

    def row(self, start: int, end: int) -> None:
        """Note the values in a row."""
        if self.wanted is not None and self.wanted.inner:
            for piece in _PIECE.finditer(self.text, start, end):
                self.value(piece.start())

    def open_list(self) -> None:
        """Begin a list of values of the field."""
        self.outer.append((self.message, self.wanted, self.counts, self.field, self.is_list))
        self.is_list = True

    def open_message(self, start: int) -> None:
        """Begin a message that is the value of the field."""
        inner = self.value(start, None if self.is_list else self.named_at)
        self.outer.append((self.message, self.wanted, self.counts, self.field, self.is_list))
        self.message = self.field.message if self.field is not None else None
        self.wanted, self.counts, self.field, self.is_list = inner, {}, None, False

    def close(self) -> None:
        """End the open message or list."""
        if self.outer:
            self.message, self.wanted, self.counts, self.field, self.is_list = self.outer.pop()

    def walk(self) -> None:
        """Note each value at its first token: it may have several, such as the pieces of a string."""
        for token in self.tokens():
            start = token.start()
            handle = self.HANDLERS.get(token.lastgroup or self.text[start])
            if handle is not None:
                handle(self, token, start)

    def _word(self, token: re.Match[str], start: int) -> None:
        if self.is_value:
            self.value(start)
            self.is_value = False
        elif not self.is_list:
            self.name, self.name_at = token[0], start

    def _quoted(self, token: re.Match[str], start: int) -> None:
        if self.is_value and self.text[start] != "#":
            self.value(start)
            self.is_value = False

    def _row(self, token: re.Match[str], start: int) -> None:
        if self.is_value:
            self.row(start, token.end())
        elif self.is_list:  # the first tokens belong to the value that has begun
            self.row(self.text.index(",", start) + 1, token.end())
        self.is_value = self.is_list

    def _comma(self, token: re.Match[str], start: int) -> None:
        self.is_value = self.is_list

    def _colon(self, token: re.Match[str], start: int) -> None:
        self._end_name()
        self.is_value = True

    def _list(self, token: re.Match[str], start: int) -> None:
        self._end_name_before_bracket()
        self.open_list()
        self.is_value = True

    def _message(self, token: re.Match[str], start: int) -> None:
        self._end_name_before_bracket()
        self.open_message(start)

    def _flat(self, token: re.Match[str], start: int) -> None:
        self._end_name_before_bracket()
        self.flat(start)

    def _end(self, token: re.Match[str], start: int) -> None:
        self.close()
        self.name, self.is_value = "", False

    def _end_name_before_bracket(self) -> None:
        """Note the field of a message or list; a colon before its bracket is optional."""
        if not self.is_value:
            self._end_name()
        self.name, self.is_value = "", False

    def _end_name(self) -> None:
        """Note the field whose name was the last word; none if no place in the message is wanted."""
        known = wire.fields_by_name(self.message) if self.wanted is not None and self.message is not None else {}
        self.field, self.named_at = known.get(self.name), self.name_at
        self.name = ""

    HANDLERS: Final[Mapping[str, Callable[[_PlaceSearch, re.Match[str], int], None]]] = {
        "word": _word,
        "quoted": _quoted,
        "row": _row,
        ",": _comma,
        ":": _colon,
        "[": _list,
        **dict.fromkeys("{<", _message),
        "flat": _flat,
        **dict.fromkeys("]}>", _end),
    }
    """What to do with a token, by its kind or its character."""
