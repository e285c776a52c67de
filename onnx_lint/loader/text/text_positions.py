# SPDX-License-Identifier: Apache-2.0
"""Tells in which line and column of a text the places of its message stand.

One pass over the tokens, which keeps nothing but the places that are asked for and the messages that are open. It is
for texts that the parsers take; of another it finds as much as looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.ir.places.place import Key, Step
from onnx_lint.loader.text.text_elements import JSON_STRING, JSON_TOKENS, QUOTED, TEXT_TOKENS, json_fields
from onnx_lint.schema import wire

Position = tuple[int, int]
"""A line, and a column in it: both count from 1, columns in Unicode code points. A tab is one, a byte order mark none.
"""

_PIECE: Final = re.compile(r"[^\s,]++[^,]*+")
"""An element of a row of numbers or words."""


# A message that holds no other one is one token, as nothing in most of them is asked for.
_TEXT_MESSAGES: Final = re.compile(
    rf"""(?P<flat>[{{<][^{{}}<>"'#]*+(?:(?:{QUOTED})[^{{}}<>"'#]*+)*+[}}>])|{TEXT_TOKENS.pattern}"""
)
_JSON_MESSAGES: Final = re.compile(
    rf"""(?P<flat>{{[^{{}}"]*+(?:{JSON_STRING}[^{{}}"]*+)*+}})|{JSON_TOKENS.pattern}""", re.DOTALL
)


def text_positions(text: str, kind: str, keys: Iterable[Key]) -> dict[Key, Position]:
    """The positions of places in a message called `kind` that the text is in the text format of Protocol Buffers.

    A place that is not there has the position of the innermost message around it. A value stands where it begins
    itself, a message where the name of its field does; an element of a list in brackets where it begins.
    """
    return _positions(_Text(text, kind, keys))


def json_positions(text: str, kind: str, keys: Iterable[Key]) -> dict[Key, Position]:
    """The positions of places in a message that the text is in JSON; see `text_positions`."""
    return _positions(_Json(text, kind, keys))


def json_start(text: str, kind: str, key: Key) -> int:
    """The character at which a place stands in a message that the text is in JSON; see `text_positions`."""
    return _starts(_Json(text, kind, [key]))[key]


def positions_at(text: str, offsets: Iterable[int]) -> dict[int, Position]:
    """The line and column of each of these characters, counted from 0, in one pass over the text."""
    found: dict[int, Position] = {}
    line, line_start, counted = 1, 0, 0
    for offset in sorted(set(offsets)):
        line += text.count("\n", counted, offset)
        line_start = max(line_start, text.rfind("\n", counted, offset) + 1)
        found[offset] = line, offset - line_start + 1
        counted = offset
    return found


class _Wanted:
    """A place that is asked for, or around one that is."""

    __slots__ = ("inner", "start")

    def __init__(self) -> None:
        self.start: int | None = None
        """Where it stands in the text; None as long as that is not known."""
        self.inner: dict[Step, _Wanted] = {}

    def along(self, key: Key) -> Iterator[_Wanted]:
        """The place itself, and those on the way to `key`; those that are not there yet are made."""
        place = self
        yield place
        for step in key:
            place = place.inner.setdefault(step, _Wanted())
            yield place

    def forget(self) -> None:
        """Of the place, and those in it, it is no longer known where they stand."""
        self.start = None
        for place in self.inner.values():
            place.forget()


def _positions(walk: _Text | _Json) -> dict[Key, Position]:
    starts = _starts(walk)
    positions = positions_at(walk.text, starts.values())
    return {key: positions[start] for key, start in starts.items()}


def _starts(walk: _Text | _Json) -> dict[Key, int]:
    walk.walk()
    return {key: [place.start for place in way if place.start is not None][-1] for key, way in walk.ways.items()}


class _Walk:
    """Goes through the tokens of a text, and notes where the wanted places stand."""

    def __init__(self, text: str, kind: str, keys: Iterable[Key]) -> None:
        self.text = text
        self.root = _Wanted()
        self.root.start = 0
        self.ways = {key: tuple(self.root.along(key)) for key in keys}
        """The wanted places, each with those around it, from the root on."""
        self.message: str | None = kind
        """The message that is open; None where it can have no field."""
        self.wanted: _Wanted | None = self.root
        """Its place; None where nothing in it is asked for."""
        self.counts: dict[str, int] = {}
        """How many values each field of it has had."""
        self.field: wire.Field | None = None
        """The field whose value comes next, or of whose list the elements come."""
        self.named_at = 0
        """Where the name of that field begins."""
        self.is_list = False
        """Whether a list is open."""
        self.outer: list[tuple[str | None, _Wanted | None, dict[str, int], wire.Field | None, bool]] = []
        self.is_entered = False
        """Whether something in the message is asked for that was one token."""

    def tokens(self, messages: re.Pattern[str], others: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The tokens of the text, those in a message that is one token only where that is entered."""
        for token in messages.finditer(self.text):
            yield token
            if self.is_entered:
                self.is_entered = False
                yield from others.finditer(self.text, token.start() + 1, token.end())

    def flat(self, start: int) -> None:
        """A message that is one token is the value of the field; it is entered where something in it is asked for."""
        self.open_message(start)
        if self.wanted is not None and self.wanted.inner:
            self.is_entered = True
        else:
            self.close()

    def value(self, start: int, name: int | None = None) -> _Wanted | None:
        """Note that a value of the field begins at `start`; its place, where that is asked for.

        `name`: where the name of the field begins, which counts in place of the value.
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
        """A list of values of the field begins."""
        self.outer.append((self.message, self.wanted, self.counts, self.field, self.is_list))
        self.is_list = True

    def open_message(self, start: int) -> None:
        """A message begins that is the value of the field."""
        inner = self.value(start, None if self.is_list else self.named_at)
        self.outer.append((self.message, self.wanted, self.counts, self.field, self.is_list))
        self.message = self.field.message if self.field is not None else None
        self.wanted, self.counts, self.field, self.is_list = inner, {}, None, False

    def close(self) -> None:
        """The message or list ends that is open."""
        if self.outer:
            self.message, self.wanted, self.counts, self.field, self.is_list = self.outer.pop()


class _Text(_Walk):
    def walk(self) -> None:
        """Note each value at its first token: it may have several, such as the pieces of a string."""
        text, name, name_at, is_value = self.text, "", 0, False
        for token in self.tokens(_TEXT_MESSAGES, TEXT_TOKENS):
            start = token.start()
            kind = token.lastgroup or text[start]
            if kind == "word" and not is_value:
                if not self.is_list:
                    name, name_at = token[0], start
            elif kind == "word" or (kind == "quoted" and text[start] != "#"):
                if is_value:
                    self.value(start)
                is_value = False
            elif kind == "row":
                if is_value:
                    self.row(start, token.end())
                elif self.is_list:  # what comes first belongs to the value that has begun
                    self.row(text.index(",", start) + 1, token.end())
                is_value = self.is_list
            elif kind == ",":
                is_value = self.is_list
            elif kind == ":":
                self.named(name, name_at)
                name, is_value = "", True
            elif kind == "flat" or kind in "[{<":
                if not is_value:
                    self.named(name, name_at)
                if kind == "[":
                    self.open_list()
                elif kind == "flat":
                    self.flat(start)
                else:
                    self.open_message(start)
                name, is_value = "", kind == "["
            elif kind in "]}>":
                self.close()
                name, is_value = "", False

    def named(self, name: str, start: int) -> None:
        """Note the field that has the name; none where nothing of the message is wanted."""
        known = wire.fields_by_name(self.message) if self.wanted is not None and self.message is not None else {}
        self.field, self.named_at = known.get(name), start


class _Json(_Walk):
    def walk(self) -> None:
        """Note each value at its token."""
        text = self.text
        for token in self.tokens(_JSON_MESSAGES, JSON_TOKENS):
            start = token.start()
            kind = token.lastgroup or text[start]
            if kind == "colon":
                if token["colon"]:
                    self.named(token["quoted"], start)
                else:
                    self.value(start)
            elif kind == "word":
                self.value(start)
            elif kind == "row":
                self.row(start, token.end())
            elif kind == "[":
                self.open_list()
            elif kind == "flat" and self.outer:
                self.flat(start)
            elif kind == "flat":  # the whole text
                self.outer.append((self.message, None, {}, None, False))
                self.is_entered = True
            elif kind == "{":
                if self.outer:
                    self.open_message(start)
                else:
                    self.outer.append((self.message, None, {}, None, False))
            else:
                self.close()

    def named(self, quoted: str, start: int) -> None:
        """Note the field that has the name in quotes; none where nothing of the message is wanted.

        A field may be given by both of its names: messages are merged, and of all else the parser takes the last.
        """
        self.field, self.named_at = None, start
        if self.wanted is None or self.message is None:
            return
        self.field = field = json_fields(self.message).get(_unquoted(quoted))
        if field is None or (field.message is not None and not field.repeated):
            return
        if self.counts.pop(field.name, 0):
            for (name, _), place in self.wanted.inner.items():
                if name == field.name:
                    place.forget()


def _unquoted(quoted: str) -> str:
    if "\\" not in quoted:
        return quoted.strip('"')
    import json

    try:
        return str(json.loads(quoted))
    except ValueError:
        return ""
