# SPDX-License-Identifier: Apache-2.0
"""Counts the elements of a message in text or JSON before it is parsed, and what memory they will take up.

One pass over the tokens, which keeps nothing but the messages that are open. What is no right text is counted as far as
it looks like one: the parsers find the fault.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping
from typing import Final

from onnx_lint import schema
from onnx_lint.loader.limits.element_weights import TEXT_PAID_FOR, ElementBudget, is_plain
from onnx_lint.schema import wire

# A string that is not closed is one all the same, up to the end of the line: were it none, the search would begin anew
# at each quote in it. Nothing in these patterns is tried twice either, as each part takes what the next one cannot
# begin with.
QUOTED: Final = r"""#[^\n]*+|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?"""
"""A comment or a string in the text format of Protocol Buffers."""
JSON_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
"""A string in JSON, in a pattern in which a dot is any character."""

_OF_PART: Final = 60
"""A string may be given in pieces, and each is an object."""
_OF_NUMBER: Final = 40
_OF_BLANK: Final = 170
"""The parser of text keeps its place at each blank of a line, up to what follows them."""
_BLANKS: Final = re.compile(r"(?<![^\S\n])[^\S\n]{1024,}+")
_COPIES: Final = 2
_COPIES_OF_STRING: Final = 3.5
"""So often the whole text, and the longest string in it, is there at a time."""
_LONG_STRING: Final = 1 << 14
"""What a shorter one takes up while it is read goes with what a file takes up at least."""

_OF_UNKNOWN: Final = 250
"""An object, list, string or number in JSON under a name that no field has; it is refused after it has been read."""

# A row of numbers or words with commas between them is one token: of many such rows each is looked at once.
_ROW: Final = r"(?:[-+.\w]++\s*+,\s*+){1,4096}+"
TEXT_TOKENS: Final = re.compile(rf"(?P<quoted>{QUOTED})|(?P<row>{_ROW})|(?P<word>[-+.\w]++)|[][{{}}<>:,]")
JSON_TOKENS: Final = re.compile(
    rf"(?P<quoted>{JSON_STRING})\s*+(?P<colon>:?)|(?P<row>{_ROW})|(?P<word>[-+.\w]++)|[][{{}}]", re.DOTALL
)


def count_text(text: str, kind: str, most_bytes: int) -> int:
    """How many elements the message called `kind` has that the text is in the text format of Protocol Buffers.

    Raises TooManyElementsError when they take up more than `most_bytes` bytes of memory beyond those that the bytes
    of the text pay for.
    """
    budget = _budget(text, most_bytes)
    budget.spend(_OF_BLANK * max((len(blanks[0]) for blanks in _BLANKS.finditer(text)), default=0))
    _Text(text, kind, budget).count()
    return budget.elements


def count_json(text: str, kind: str, most_bytes: int) -> int:
    """How many elements the message called `kind` has that the text is in JSON; raises as `count_text` does."""
    budget = _budget(text, most_bytes)
    _Json(text, kind, budget).count()
    return budget.elements


def _budget(text: str, most_bytes: int) -> ElementBudget:
    size = len(text) if text.isascii() else len(text.encode())
    budget = ElementBudget(most_bytes + TEXT_PAID_FOR * size, _OF_NUMBER)
    budget.spend(_COPIES * sys.getsizeof(text))
    return budget


@functools.cache
def json_fields(message: str) -> Mapping[str, wire.Field]:
    """The fields of a message by the names that they have in JSON, where either may stand."""
    known = wire.fields_by_name(message)
    names = (
        (name, field) for field in schema.message(message).DESCRIPTOR.fields for name in (field.json_name, field.name)
    )
    return {name: known[field.name] for name, field in names}


class _Walk:
    """Goes through the tokens of a text; `message` is the one that is open, None where no message can stand."""

    def __init__(self, text: str, kind: str, budget: ElementBudget) -> None:
        self.text = text
        self.kind = kind
        self.budget = budget
        self.message: str | None = None
        self.field: wire.Field | None = None
        """The field whose value comes next, or of whose list the elements come."""
        self.is_list = False
        """Whether a list is open."""
        self.outer: list[tuple[str | None, wire.Field | None, bool]] = []
        self.longest = 0
        """What the string takes up that takes up most."""

    def open(self, message: str | None, *, is_list: bool) -> None:
        self.outer.append((self.message, self.field, self.is_list))
        self.message, self.is_list = message, is_list

    def close(self) -> None:
        if self.outer:
            self.message, self.field, self.is_list = self.outer.pop()

    def string(self, start: int, end: int) -> None:
        """Count a string; what it takes up while it is read, it takes up one after the other."""
        self.budget.spend(_OF_PART)
        if end - start > _LONG_STRING:
            size = int(_COPIES_OF_STRING * sys.getsizeof(self.text[start:end]))
            self.budget.spend(max(size - self.longest, 0))
            self.longest = max(size, self.longest)


class _Text(_Walk):
    def count(self) -> None:
        """Count all tokens. A value is counted with the name before it, and after each comma of a list."""
        text, name, is_value = self.text, "", False
        self.message = self.kind
        for token in TEXT_TOKENS.finditer(text):
            start = token.start()
            kind = token.lastgroup or text[start]
            if kind == "word":
                if is_value:
                    is_value = self.is_list
                else:
                    name = token[0]
            elif kind == ":":
                self.named(name)
                is_value = True
            elif kind == "row":
                if self.is_list:
                    self.values(token[0].count(","))
                is_value = self.is_list
            elif kind == ",":
                if self.is_list:
                    self.values(1)
            elif kind == "quoted":
                if text[start] != "#":
                    self.string(start, token.end())
                    is_value = self.is_list
            elif kind in "[{<":
                if not is_value:
                    self.named(name)
                inner = self.field.message if self.field is not None else None
                self.open(self.message if kind == "[" else inner, is_list=kind == "[")
                name, is_value = "", kind == "["
            else:
                self.close()
                name, is_value = "", self.is_list

    def named(self, name: str) -> None:
        self.field = wire.fields_by_name(self.message).get(name) if self.message is not None else None
        self.values(1)

    def values(self, count: int) -> None:
        if self.field is None or self.message is None:
            return
        if is_plain(self.field):
            self.budget.elements += count
        else:
            self.budget.take(self.message, self.field, count)


class _Json(_Walk):
    def count(self) -> None:
        """Count all tokens; whatever they mean, they are objects before that is looked at."""
        text = self.text
        for token in JSON_TOKENS.finditer(text):
            start = token.start()
            kind = token.lastgroup or text[start]
            if kind == "colon":
                if not token["colon"]:
                    self.values(1)
                    self.string(start, token.end("quoted"))
                elif not self.named(token["quoted"].strip('"')):
                    self.string(start, token.end("quoted"))
            elif kind == "word":
                self.values(1)
            elif kind == "row":
                self.values(token[0].count(","))
            elif kind == "{":
                inner = self.kind if not self.outer else self.field.message if self.field is not None else None
                self.values(1)
                self.open(inner, is_list=False)
            elif kind == "[":
                if self.is_list or self.field is None:
                    self.field = None
                    self.values(1)
                self.open(self.message, is_list=True)
            else:
                self.close()

    def named(self, name: str) -> bool:
        """Whether a field has the name. The parser has each name once, and those of fields are few."""
        self.field = json_fields(self.message).get(name) if self.message is not None else None
        if self.field is None:
            self.budget.spend(_OF_UNKNOWN)
        return self.field is not None

    def values(self, count: int) -> None:
        if self.field is None or self.message is None:
            self.budget.spend(_OF_UNKNOWN * count)
        elif is_plain(self.field):
            self.budget.elements += count
        else:
            self.budget.take(self.message, self.field, count)
