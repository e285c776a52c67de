# SPDX-License-Identifier: Apache-2.0
"""JSON that is written piece by piece, as a report of ten thousand findings takes up many megabytes as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TextIO

from onnx_lint.record import Record

_COMPACT: Final = (",", ":")
_SPACED: Final = (",", ": ")


class Elements(Record):
    """An array, each of whose elements is made when it is written; it can be written once."""

    made: Iterable[Any]


class Properties(Record):
    """An object with values that are written piece by piece: Elements, or Properties themselves."""

    values: Mapping[str, Any]


def write_pieces(value: Any, stream: TextIO, *, indent: int | None = None) -> None:
    """Write the value and a line end, the same as `json.dump` of lists and dicts: with `indent`, or without spaces."""
    stream.writelines(_pieces(value, indent, 0))
    stream.write("\n")


def _pieces(value: Any, indent: int | None, depth: int) -> Iterator[str]:
    if isinstance(value, Elements):
        yield from _enclosed("[]", (("", each) for each in value.made), indent, depth)
    elif isinstance(value, Properties):
        colon = (_SPACED if indent else _COMPACT)[1]
        named = ((json.dumps(name) + colon, each) for name, each in value.values.items())
        yield from _enclosed("{}", named, indent, depth)
    else:
        text = json.dumps(value, indent=indent, separators=_SPACED if indent else _COMPACT)
        # A line end in a string is an escape, so all of these stand between values.
        yield text.replace("\n", _line_end(indent, depth)) if indent else text


def _enclosed(brackets: str, named: Iterable[tuple[str, Any]], indent: int | None, depth: int) -> Iterator[str]:
    before, inner = brackets[0], _line_end(indent, depth + 1)
    for name, value in named:
        yield before + inner + name
        yield from _pieces(value, indent, depth + 1)
        before = ","
    yield brackets if before == brackets[0] else _line_end(indent, depth) + brackets[1]


def _line_end(indent: int | None, depth: int) -> str:
    return "\n" + " " * (indent * depth) if indent else ""
