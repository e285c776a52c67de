# SPDX-License-Identifier: Apache-2.0
"""Text from models and file names, made fit to be shown on a line.

Names come from strangers. Written as they are they could move the cursor of a terminal, forge lines of a report, turn
the order of characters around, break the encoding of the stream, or command the CI server whose log they stand in.
"""

from __future__ import annotations

import re
from typing import Final

_SHOWN_ESCAPED: Final = (
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, line ends and ESC among them
    "\xad\u034f"  # the soft hyphen and the grapheme joiner, which show nothing
    "\u061c\u200b-\u200f"  # characters without width, and marks of direction
    "\u115f\u1160\u3164\uffa0"  # fillers of Hangul, which are letters and show nothing
    "\u17b4\u17b5\u180b-\u180f"  # inherent vowels of Khmer, Mongolian variation selectors and vowel separator
    "\u2028-\u202e\u2060-\u206f"  # line and paragraph separators, embeddings, overrides and isolates
    "\u2800"  # the empty pattern of Braille
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb"  # variation selectors, byte order mark, interlinear annotation
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # controls of shorthand and of musical notation
    "\U000e0000-\U000e0fff"  # tags and more variation selectors
    "\ud800-\udfff"  # lone surrogates, which no encoding can write
    "]"
)
_NAMED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escaped(match: re.Match[str]) -> str:
    """The escape in place of one character."""
    char = match[0]
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if 0xDC80 <= code <= 0xDCFF:
        # How Python holds a byte of a file name that is not UTF-8: shown as that byte.
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_COMMAND: Final = r"(?<=#)#(?=\w*\[)|(?<!\S):(?=:)"
"""Where the commands begin that CI servers look for in logs: `##[group]` and `##vso[...]` (Azure Pipelines, GitHub) and
`##teamcity[...]` anywhere in a line, `::error::` (GitHub) at its beginning, where blanks may stand before it."""


def visible(text: str) -> str:
    """Return the text on one line, with escapes for what shows nothing, steers the display or commands a CI server.

    A backslash stays as it is: messages quote names with their escapes already in them.
    """
    if not (text.isascii() and text.isprintable()):
        text = re.sub(_SHOWN_ESCAPED, escaped, text)
    return without_commands(text)


def without_commands(text: str) -> str:
    """Return the text with an escape in each command of a CI server."""
    if "##" not in text and "::" not in text:
        return text
    return re.sub(_COMMAND, escaped, text)


def json_without_commands(text: str) -> str:
    """Return the JSON with other escapes, which say the same, in each command of a CI server."""
    if "##" not in text and "::" not in text:
        return text
    return re.sub(_COMMAND, lambda match: f"\\u{ord(match[0]):04x}", text)
