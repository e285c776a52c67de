# SPDX-License-Identifier: Apache-2.0
"""Makes a failing input smaller as long as the same is wrong with it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from .corpus import BINARY, Seed
from .tree import lists, parse, root_of, serialize

SECONDS = 60.0
"""The time to spend on one input. Each try takes as long as the fault does."""


def kind_of(problem: str) -> str:
    """Return the key of equal problems: the place of the crash, or the first line, without numbers."""
    lines = problem.strip().splitlines()
    line = lines[-1] if problem.startswith("Traceback") else " ".join(lines[:1])
    rules = sorted(set(re.findall(r"^[-+] .*?(?:\[|rule=')([a-z0-9-]+)", problem, re.MULTILINE)))
    return re.sub(r"[\d.,]+|'[^']*'", "N", line)[:200] + " ".join(rules)


def minimised(given: Seed, problem: str, check: Callable[[Seed], str | None], seconds: float = SECONDS) -> Seed:
    """The smallest input found that has the same problem as `given`, or that itself."""
    wanted, until = kind_of(problem), time.monotonic() + seconds

    def fails(data: bytes) -> bool:
        found = check(replace(given, data=data))
        return found is not None and kind_of(found) == wanted

    best, is_smaller = given.data, True
    while is_smaller:
        is_smaller = False
        for data in _smaller(replace(given, data=best)):
            if time.monotonic() > until:
                return replace(given, data=best)
            if len(data) < len(best) and fails(data):
                best, is_smaller = data, True
                break
    return replace(given, data=best)


def _smaller(given: Seed) -> Iterator[bytes]:
    """Smaller inputs, those first that lack most."""
    if given.suffix == BINARY:
        yield from _with_fewer_fields(given)
    size = len(given.data) // 2
    while size:
        for start in range(0, len(given.data), size):
            yield given.data[:start] + given.data[start + size :]
        size //= 2


def _with_fewer_fields(given: Seed) -> Iterator[bytes]:
    """The message without some fields in a row, in any message of it."""
    fields = parse(given.data, given.message)
    if fields is None:
        return
    for _, found in list(lists(root_of(fields, given.message))):
        size = len(found)
        while size:
            for start in range(0, len(found), size):
                cut = found[start : start + size]
                del found[start : start + size]
                yield serialize(fields)
                found[start:start] = cut
            size //= 2
