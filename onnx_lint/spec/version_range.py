# SPDX-License-Identifier: Apache-2.0
"""Ranges of versions, as a policy states them: `17..21`, `17..`, `..21` or `19`."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = "(?!0+(?![0-9]))[0-9]{1,18}"


def range_pattern(number: str = _NUMBER) -> str:
    """Return the pattern of ranges, also for JSON Schema. `number`: the pattern of a version, by default from 1 on."""
    return rf"({number})|(?!\.\.$)({number})?\.\.({number})?"


def is_range(text: str, newest: int | None = None) -> bool:
    """Return whether the text is a range, which has at least one end, the lower one first.

    `newest`: the newest version that exists; None for no bound.
    """
    match = re.fullmatch(range_pattern(), text)
    if match is None:
        return False
    ends = [int(end) for end in match.groups() if end]
    return ends == sorted(ends) and (newest is None or ends[-1] <= newest)


def in_range(version: int, text: str) -> bool:
    """Return whether a version is in a range; true for a text that is not a range."""
    match = re.fullmatch(range_pattern(), text)
    if match is None:
        return True
    only, least, most = match.groups()
    if only:
        return version == int(only)
    return (not least or int(least) <= version) and (not most or version <= int(most))
