# SPDX-License-Identifier: Apache-2.0
"""Text from models and file names, made fit to be shown.

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
_LONE_SURROGATE: Final = "[\ud800-\udfff]"
_NAMED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}

STANDARD_INPUT: Final = "<stdin>"


def _escaped(match: re.Match[str]) -> str:
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
    return text if text.isascii() and text.isprintable() else re.sub(_SHOWN_ESCAPED, _escaped, text)


def encodable(text: str) -> str:
    """The text with an escape for each lone surrogate, for formats that have escapes of their own for the rest."""
    return text if text.isascii() else re.sub(_LONE_SURROGATE, _escaped, text)


def shown_path(path: str) -> str:
    """A file's path as reports show it.

    A line of a log that begins with two colons is a command to GitHub's runner, and a file can have such a name.
    """
    if path == "-":
        return STANDARD_INPUT
    return visible(f"./{path}" if path.startswith("::") else path)


def shortened(text: str, most: int) -> str:
    """The text, cut in the middle when it has more than `most` characters."""
    if len(text) <= most:
        return text
    mark = " ... "
    head = (most - len(mark) + 1) // 2
    tail = most - len(mark) - head
    return f"{text[:head]}{mark}{text[-tail:]}" if tail > 0 else text[:most]
