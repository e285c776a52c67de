# SPDX-License-Identifier: Apache-2.0
"""Ranges of versions, as a policy states them: `17..21`, `17..`, `..21` or `19`."""

from __future__ import annotations

import re
from typing import Final

RANGE_PATTERN: Final = r"([0-9]{1,18})|(?!\.\.$)([0-9]{0,18})\.\.([0-9]{0,18})"


def is_range(text: str) -> bool:
    """Return whether the text is a range, which has at least one end, the lower one first."""
    match = re.fullmatch(RANGE_PATTERN, text)
    if match is None:
        return False
    _, least, most = match.groups()
    return not least or not most or int(least) <= int(most)


def in_range(version: int, text: str) -> bool:
    """Return whether a version is in a range; true for a text that is not a range."""
    match = re.fullmatch(RANGE_PATTERN, text)
    if match is None:
        return True
    only, least, most = match.groups()
    if only:
        return version == int(only)
    return (not least or int(least) <= version) and (not most or version <= int(most))
