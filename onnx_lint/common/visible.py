# SPDX-License-Identifier: Apache-2.0
"""Text from models and file names, made fit to be shown on a line.

Names come from strangers. Written as they are they could move the cursor of a terminal, forge lines of a report, turn
the order of characters around, or break the encoding of the stream.
"""

from __future__ import annotations

import re
from typing import Final

_SHOWN_ESCAPED: Final = (
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, line ends and ESC among them
    "\xad"  # the soft hyphen, which shows nothing
    "\u061c\u200b-\u200f"  # characters without width, and marks of direction
    "\u2028-\u202e\u2060-\u206f"  # line and paragraph separators, embeddings, overrides and isolates
    "\ufeff\ufff9-\ufffb"  # byte order mark, interlinear annotation
    "\U000e0000-\U000e007f"  # tags, which show nothing
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


def visible(text: str) -> str:
    """The text on one line, with an escape in place of each character that shows nothing or steers the display.

    A backslash stays as it is: messages quote names with their escapes already in them.
    """
    return text if text.isascii() and text.isprintable() else re.sub(_SHOWN_ESCAPED, escaped, text)
