# SPDX-License-Identifier: Apache-2.0
"""Keys of dictionaries and sets for numbers that a file chooses."""

from __future__ import annotations

from marshal import dumps
from typing import Any, Final

WITHOUT_REFERENCES: Final = 2
"""The last version of the format whose bytes depend only on the values, and not on which objects are shared."""


def salted_key(parts: tuple[Any, ...]) -> bytes:
    """Return a key for a tuple of numbers, texts, bytes, None and such tuples. 1, 1.0 and True have different keys.

    Python salts the hashes of texts and bytes, but not those of numbers, nor of tuples and frozensets of numbers. A
    file may choose thousands of different shapes with one hash, and each look-up would compare a shape with all of
    them. A salt beside the numbers in a tuple does not help: two numbers can be changed together so that
    the hash stays the same with nearly any salt.
    """
    return dumps(parts, WITHOUT_REFERENCES)


def salted_text(value: int | bytes) -> str:
    """Return a key for one number or text of a file, as `salted_key` for tuples. 1 and b"1" have different keys."""
    return str(value)
