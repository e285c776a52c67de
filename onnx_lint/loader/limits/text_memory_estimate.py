# SPDX-License-Identifier: Apache-2.0
"""Estimates the memory that a text will need, before it is parsed.

The weights are measured, as those of the binary form (`onnx_lint.loader.limits.memory_estimate`).
"""

from __future__ import annotations

import re
from typing import Final

_BYTES_PER_CHARACTER: Final = 5
"""Bytes of memory for each byte of the text."""
_BYTES_PER_LIST: Final = 300
"""Bytes for each opening bracket, that is for each list."""
_BYTES_PER_COMMA: Final = 50
"""Bytes for each comma: in JSON one follows each field."""
_BYTES_PER_BLANK: Final = 170
"""Bytes for each blank of the longest run: the parser of text keeps its position at each, until the run ends."""
# The lookbehind and the possessive quantifier keep the search linear: a run of blanks is tried at its start only.
_LONG_BLANKS: Final = re.compile(r"(?<![^\S\n])[^\S\n]{1024,}+")
"""A run of at least 1,024 blanks within a line."""
_BYTES_PER_BRACE: Final = 400
"""Bytes for each opening brace, that is for each message. Most are parts of types and shapes."""
_MAX_BYTES_PER_CHARACTER: Final = 4
"""A text with one character outside of ASCII may take that many bytes for each character."""


def text_memory_if_exceeding(text: str, limit: int) -> int | None:
    """Return the estimate for a text in either form and its parse; None if it is within the limit.

    Strings and comments are counted too, since nothing is parsed. The message is estimated again after parsing.
    """
    characters = len(text) * (1 if text.isascii() else _MAX_BYTES_PER_CHARACTER)
    longest_blanks = max((len(blanks[0]) for blanks in _LONG_BLANKS.finditer(text)), default=0)
    needed = (
        _BYTES_PER_CHARACTER * characters
        + _BYTES_PER_BRACE * sum(map(text.count, "{<"))
        + _BYTES_PER_LIST * text.count("[")
        + _BYTES_PER_COMMA * text.count(",")
        + _BYTES_PER_BLANK * longest_blanks
    )
    return needed if needed > limit else None
