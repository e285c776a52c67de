# SPDX-License-Identifier: Apache-2.0
"""How messages show names, and the known name that a wrong one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

MAX_SHOWN = 100
"""A longer name is cut in the middle: names come from strangers and may have a hundred megabytes."""

MAX_CANDIDATES = 2000
"""Comparing takes about ten microseconds a name; a graph may have a hundred thousand."""


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
