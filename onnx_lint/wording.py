# SPDX-License-Identifier: Apache-2.0
"""How messages show names, and the known name that a wrong one was probably meant to be."""

from __future__ import annotations

import binascii
from collections.abc import Iterable
from itertools import islice

MAX_SHOWN = 100
"""A longer name is cut in the middle: names come from strangers and may have a hundred megabytes."""

MAX_CANDIDATES = 2000
"""Of so many names the nearest is looked for; a graph may have a hundred thousand."""

MAX_MESSAGE = 10_000
MAX_NAME = 1_000
"""A message, or a name, of more characters stands in a report without its middle."""

MAX_SUGGESTIONS = 20
"""A nearest name is looked for so many times in a file, of each kind of wrong names."""


def quote(name: str) -> str:
    """The name in single quotes, unprintable characters escaped, a long one cut in the middle."""
    if len(name) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        name = f"{name[:half]}...{name[-half:]}"
    return repr(name)


def quote_some(names: Iterable[str], most: int = 3) -> str:
    """The first few names, quoted and separated by commas."""
    return ", ".join(quote(name) for name in islice(names, most))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to `name`, or None when none is near or the name is very long.

    Only names of nearly the same length are compared, and of those the first MAX_CANDIDATES.
    """
    from difflib import get_close_matches

    if len(name) > MAX_SHOWN:
        return None
    slack = max(2, len(name) // 4)
    candidates = (other for other in known if other != name and abs(len(other) - len(name)) <= slack)
    near = get_close_matches(name, list(islice(candidates, MAX_CANDIDATES)), n=1, cutoff=0.7)
    return near[0] if near else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """The words that offer the nearest known name, to be put behind a message; empty when none is near."""
    near = nearest(name, known)
    return f"; did you mean {quote(near)}?" if near is not None else ""


class Suggestions:
    """Gives suggestions for the first MAX_SUGGESTIONS findings of a rule in a file, and none for those that follow.

    A stranger's file may have a hundred thousand wrong names beside as many right ones: to compare each with each takes
    hours, and where that many are wrong, spelling is not what is wrong.
    """

    def __init__(self) -> None:
        self._left = MAX_SUGGESTIONS

    def __call__(self, name: str, known: Iterable[str]) -> str:
        """As `suggestion`; empty also where there were enough."""
        near = self.nearest(name, known)
        return f"; did you mean {quote(near)}?" if near is not None else ""

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        """As `nearest`; None also where there were enough."""
        if not self._left:
            return None
        self._left -= 1
        return nearest(name, known)


def without_middle(text: str, most: int) -> str:
    """The text without its middle when it is longer than any that a person wrote."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def report_name(name: str) -> str:
    """A name as a report holds it: of a very long one both ends, and a digest that tells it from others."""
    if len(name) <= MAX_NAME:
        return name
    digest = binascii.crc32(name.encode("utf-8", "surrogatepass"))
    return f"{without_middle(name, MAX_NAME)} ({len(name):,} characters, CRC-32 {digest:08x})"
