# SPDX-License-Identifier: Apache-2.0
"""Formats names and shapes for messages, and suggests the known name that a wrong one probably means."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

MAX_QUOTED_CHARACTERS: Final = 100
"""The longest name that a message quotes whole. Names are untrusted input and may have a hundred megabytes."""

MAX_CANDIDATES = 2000
"""The number of names that are compared with a wrong one; a graph may have a hundred thousand."""

MIN_LIKENESS: Final = 0.7
"""The likeness from which on two names are near, as difflib measures it: 1.0 for equal names."""

MAX_DIMENSIONS = 16
"""The dimensions of a shape to show: a hostile tensor has a million, in each of many findings."""

MAX_LISTED_ELEMENTS: Final = 65_536
"""The most wrong elements of one value that a finding lists, for baselines and suppressions."""

MAX_MESSAGE_CHARACTERS: Final = 10_000
"""The most characters of a message in a report; a longer one is cut in the middle."""

MAX_NAME_CHARACTERS: Final = 1_000
"""The most characters of a name in a report; a longer one is cut in the middle."""

MAX_SUGGESTIONS = 20
"""The number of suggestions per file, for each kind of wrong names."""

_ESCAPED_BYTE: Final = r"(?<!\\)((?:\\\\)*)\\udc([89a-f][0-9a-f])"
"""Matches the escape of a surrogate, and the escaped backslashes before it."""

_MAX_CHARACTER_PAIRS = 1_000_000
"""The most pairs of characters that are compared in the search for one name."""

_MAX_COMPARED_NAMES = 20
"""The most names that are compared in full if there are more pairs."""


def quote(name: str) -> str:
    """Return the name in quotes as Python writes it: in double quotes if it has a single one.

    Unprintable characters are escaped, and a long name is cut in the middle.
    """
    if len(name) > MAX_QUOTED_CHARACTERS:
        half = MAX_QUOTED_CHARACTERS // 2
        name = f"{name[:half]}...{name[-half:]}"
    shown = repr(name)
    # A byte that is not UTF-8 is a surrogate in Python, which is escaped here as the byte.
    return shown if name.isascii() else re.sub(_ESCAPED_BYTE, r"\1\\x\2", shown)


def unquoted(name: str) -> str:
    """Return the name as `quote` does, without the quotes."""
    return quote(name)[1:-1]


def and_others(count: int) -> str:
    """Return the words for all of `count` faults except the first; empty if there are no more."""
    return f" ({count - 1:,} more like it)" if count > 1 else ""


def with_more(message: str, more: str) -> str:
    """Return a message with a further phrase, after a semicolon, or after the question mark if it is a question."""
    return f"{message}{' ' if message.endswith('?') else '; '}{more}"


def quote_some(names: Iterable[str], most: int = 3) -> str:
    """Return the first few names, quoted and separated by commas."""
    return ", ".join(quote(name) for name in islice(names, most))


def listed(words: Sequence[str], word: str = "and") -> str:
    """Return words as a list of prose: "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {word} {words[-1]}"


def describe_shape(shape: Sequence[int | str | None] | None, rank: int = 0) -> str:
    """Return a shape in the one notation of all reports: "[2, N, ?]", "a scalar"; "of unknown rank" for None.

    Brackets are ONNX's textual syntax, in which `float` is a scalar and `float[]` a tensor of unknown rank; hence the
    words. `rank`: the number of dimensions if `shape` has only the shown dimensions.
    """
    if shape is None:
        return "of unknown rank"
    if not len(shape):
        return "a scalar"
    shown = describe_list(shape[:MAX_DIMENSIONS])
    rank = rank or len(shape)
    return f"{shown[:-1]}, ... {rank:,} dimensions]" if rank > MAX_DIMENSIONS else shown


def describe_list(values: Sequence[object]) -> str:
    """Return numbers and variables: "[2, N, ?]". A variable named "?" is quoted: bare, it is an unknown number."""
    return f"[{', '.join(map(_dimension, values))}]"


def _dimension(value: object) -> str:
    if value is None:
        return "?"
    return repr(value) if value == "?" else str(value)


def with_shape(what: str, shape: str, between: str = " ") -> str:
    """Return a noun with the words for its shape: "input 0 'x' [2, N]", "input 0 'x' (a scalar)"."""
    return f"{what}{between}{shape}" if shape.startswith("[") else f"{what} ({shape})"


def typed(element: str, shape: Sequence[int | str | None] | None, rank: int = 0) -> str:
    """Return the type of a tensor: "float[2, N]", "float (a scalar)", "float (of unknown rank)"."""
    return with_shape(element, describe_shape(shape, rank), "")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural: `1 element`, `2,000 elements`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to `name`; None if none is near or the name is very long.

    A name that differs in case alone is the nearest. Only the first MAX_CANDIDATES names of nearly the same length are
    compared. If these have too many characters, only the _MAX_COMPARED_NAMES with the longest equal ends are compared.
    """
    from difflib import get_close_matches

    if len(name) > MAX_QUOTED_CHARACTERS:
        return None
    slack = max(2, len(name) // 4)
    alike = (other for other in known if other != name and abs(len(other) - len(name)) <= slack)
    candidates = list(islice(alike, MAX_CANDIDATES))
    same = next((other for other in candidates if other.lower() == name.lower()), None)
    if same is not None:
        return same
    if len(name) * sum(map(len, candidates)) > _MAX_CHARACTER_PAIRS:
        from heapq import nlargest

        candidates = nlargest(_MAX_COMPARED_NAMES, candidates, key=lambda other: _shared_ends(name, other))
    near = get_close_matches(name, candidates, n=1, cutoff=MIN_LIKENESS)
    return near[0] if near else None


def _shared_ends(one: str, other: str) -> int:
    """Return how many characters two names share at the beginning and at the end."""
    most, start, end = min(len(one), len(other)), 0, 0
    while start < most and one[start] == other[start]:
        start += 1
    while end < most - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start + end


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the words that suggest the nearest known name, to be appended to a message; empty if none is near."""
    return _question(nearest(name, known))


def _question(near: str | None) -> str:
    return f"; did you mean {quote(near)}?" if near is not None else ""


class Suggestions:
    """Suggests names for the first MAX_SUGGESTIONS findings of a rule in a file, and none after that.

    A hostile file may have a hundred thousand wrong names and as many right ones. Comparing all pairs takes hours,
    and if that many names are wrong, the cause is not spelling.
    """

    def __init__(self) -> None:
        self._left = MAX_SUGGESTIONS

    def __call__(self, name: str, known: Iterable[str]) -> str:
        """Same as the function `suggestion`; empty after MAX_SUGGESTIONS calls."""
        return _question(self.nearest(name, known))

    def nearest(self, name: str, *known: Iterable[str]) -> str | None:
        """Return the nearest name in the first of `known` that has a near one; None after MAX_SUGGESTIONS calls."""
        if not self._left:
            return None
        self._left -= 1
        return next((near for names in known if (near := nearest(name, names)) is not None), None)


def shortened(text: str, most: int) -> str:
    """Return the text, cut in the middle if it has more than `most` characters."""
    if len(text) <= most:
        return text
    mark = " ... "
    head = (most - len(mark) + 1) // 2
    tail = most - len(mark) - head
    return f"{text[:head]}{mark}{text[-tail:]}" if tail > 0 else text[:most]


def report_name(name: str) -> str:
    """Return a name for reports: a very long one is cut in the middle and gets a checksum, so that it stays unique."""
    if len(name) <= MAX_NAME_CHARACTERS:
        return name
    digest = binascii.crc32(name.encode("utf-8", "surrogatepass"))
    return f"{shortened(name, MAX_NAME_CHARACTERS)} ({len(name):,} characters, CRC-32 {digest:08x})"
