# SPDX-License-Identifier: Apache-2.0
"""Ranges of versions, as a policy states them: `17..21`, `17..`, `..21` or `19`."""

from __future__ import annotations

import re
from typing import Final

RANGE_PATTERN: Final = r"(\d{1,18})|(\d{0,18})\.\.(\d{0,18})"


def is_range(text: str) -> bool:
    """Return whether the text is a range."""
    return re.fullmatch(RANGE_PATTERN, text) is not None


def in_range(version: int, text: str) -> bool:
    """Return whether a version is in a range; true for a text that is not a range."""
    match = re.fullmatch(RANGE_PATTERN, text)
    if match is None:
        return True
    only, least, most = match.groups()
    if only:
        return version == int(only)
    return (not least or int(least) <= version) and (not most or version <= int(most))
