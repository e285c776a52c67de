# SPDX-License-Identifier: Apache-2.0
"""Models with a long list that is not packed, cut at every byte: of the file, or of the message with the list."""

from __future__ import annotations

import functools
from bisect import bisect_right
from itertools import accumulate

from support.wire.wire_bytes import VARINT, is_repeated, some_value, tag, wire_type_of

from .lists import repeated

ELEMENTS = 33
"""More than 32: after that many, the rest of a row is read in bulk."""

_TAILS = (b"\x80", b"\xff", b"\x08", b"\x0a", b"\x0a\x05", b"\0", b"\x2a\x80", b"\x0d\0", b"\x09\0", b"\x7f" * 3)
"""Possible bytes after the last whole element of a list: parts of a tag, of a number, of a string."""


@functools.cache
def _contents() -> tuple[tuple[int, bytes], ...]:
    """For each list: which it is, and its elements, each of the least size and with two bytes of value."""
    found = []
    for index, (_, field) in enumerate(repeated()):
        element = some_value(field)
        found.append((index, element * ELEMENTS))
        if wire_type_of(field) == VARINT and is_repeated(field):
            found.append((index, (tag(field.number, VARINT) + b"\x81\x01") * ELEMENTS))
    return tuple(found)


@functools.cache
def _model(number: int) -> tuple[bytes, int]:
    """A model around a list, and where the list begins."""
    index, content = _contents()[number]
    carrier, field = repeated()[index]
    return carrier.model(content, field.name)


@functools.cache
def _ends() -> tuple[int, ...]:
    """For each list, how many cuts there are up to its last: at each of its bytes, of two kinds, and the tails."""
    return tuple(accumulate(2 * len(content) + len(_TAILS) for _, content in _contents()))


def count() -> int:
    """Return the number of cuts."""
    return _ends()[-1]


def cut(number: int) -> tuple[str, bytes]:
    """Return cut `number` of all, and the name of the list that is cut."""
    number %= count()
    which = bisect_right(_ends(), number)
    index, content = _contents()[which]
    at = number - (_ends()[which - 1] if which else 0)
    carrier, field = repeated()[index]
    name = f"{carrier.message}.{field.name}"
    if at < len(content):
        model, begin = _model(which)
        return f"{name} cut with the file", model[: begin + at]
    at -= len(content)
    if at < len(content):
        return f"{name} cut, with lengths that fit", carrier.model(content[:at], field.name)[0]
    return f"{name} and a rest", carrier.model(content + _TAILS[at - len(content)], field.name)[0]
