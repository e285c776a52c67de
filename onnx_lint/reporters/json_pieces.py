# SPDX-License-Identifier: Apache-2.0
"""Writes JSON piece by piece. The report of ten thousand findings needs many megabytes as a whole.

An iterator is an array whose elements are created while it is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, TextIO

from onnx_lint.common.record import Record
from onnx_lint.common.visible import json_without_commands

_dense: Final = json.JSONEncoder(separators=(",", ":")).encode


class Written(Record):
    """A value whose JSON is there, in pieces. It can be written once."""

    pieces: Iterable[str]


def given(**properties: Any) -> dict[str, Any]:
    """Return the properties that have a value. Those without one are left out of the report; 0 is a value."""
    return {name: value for name, value in properties.items() if value not in (None, "", [], {})}


def write_pieces(value: Any, stream: TextIO, *, indent: int | None = None) -> None:
    """Write the value and a newline, as `json.dump` does: with `indent`, or without spaces.

    Names that a CI server would take for commands are escaped, since the JSON may go to a log.
    """
    stream.writelines(pieces_of(value, indent, 0))
    stream.write("\n")


def pieces_of(value: Any, indent: int | None, depth: int) -> Iterator[str]:
    """Yield the pieces of a value inside `depth` others."""
    yield from map(json_without_commands, _pieces(value, indent, depth))


def _pieces(value: Any, indent: int | None, depth: int) -> Iterator[str]:
    if isinstance(value, Written):
        yield from value.pieces
    elif isinstance(value, Iterator):
        yield from _enclosed("[]", (("", each) for each in value), indent, depth)
    elif isinstance(value, dict) and _is_in_pieces(value):
        named = ((_name(name, indent), each) for name, each in value.items())
        yield from _enclosed("{}", named, indent, depth)
    elif indent:
        yield _indented(value, indent, depth)
    else:
        yield _dense(value)


def _is_in_pieces(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_in_pieces, value.values()))
    return isinstance(value, (Iterator, Written))


def _name(name: str, indent: int | None) -> str:
    return json.dumps(name) + (": " if indent else ":")


def _indented(value: Any, indent: int, depth: int) -> str:
    """Return the same as `json.dumps(value, indent=indent)`, which leaves two kilobytes of garbage at each call."""
    if isinstance(value, dict) and value:
        parts = [_name(name, indent) + _indented(each, indent, depth + 1) for name, each in value.items()]
    elif isinstance(value, (list, tuple)) and value:
        parts = [_indented(each, indent, depth + 1) for each in value]
    else:
        return json.dumps(value)
    inner = _line_end(indent, depth + 1)
    before, after = "{}" if isinstance(value, dict) else "[]"
    return before + inner + f",{inner}".join(parts) + _line_end(indent, depth) + after


def _enclosed(brackets: str, named: Iterable[tuple[str, Any]], indent: int | None, depth: int) -> Iterator[str]:
    before, inner = brackets[0], _line_end(indent, depth + 1)
    for name, value in named:
        yield before + inner + name
        yield from _pieces(value, indent, depth + 1)
        before = ","
    yield brackets if before == brackets[0] else _line_end(indent, depth) + brackets[1]


def _line_end(indent: int | None, depth: int) -> str:
    return "\n" + " " * (indent * depth) if indent else ""
