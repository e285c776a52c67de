# SPDX-License-Identifier: Apache-2.0
"""Makes text from models and file names safe to show on a line.

Names come from strangers. Unescaped they could move the cursor of a terminal, forge lines of a report, reverse the
order of characters, break the encoding of the stream, or command the CI server that shows the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_SHOWN_ESCAPED: Final = (
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, with line ends and ESC
    "\xad\u034f"  # the soft hyphen and the grapheme joiner, which are invisible
    "\u061c\u200b-\u200f"  # characters without width, and marks of direction
    "\u115f\u1160\u3164\uffa0"  # fillers of Hangul, which are letters but invisible
    "\u17b4\u17b5\u180b-\u180f"  # inherent vowels of Khmer, Mongolian variation selectors and vowel separator
    "\u2028-\u202e\u2060-\u206f"  # line and paragraph separators, embeddings, overrides and isolates
    "\u2800"  # the empty pattern of Braille
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb"  # variation selectors, byte order mark, interlinear annotation
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # controls of shorthand and of musical notation
    "\U000e0000-\U000e0fff"  # tags and more variation selectors
    "\ud800-\udfff"  # lone surrogates, which no encoding can represent
    "]"
)
_NAMED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escaped(match: re.Match[str]) -> str:
    """Return the escape for one character."""
    char = match[0]
    code = ord(char)
    if char in _NAMED:
        return _NAMED[char]
    if 0xDC80 <= code <= 0xDCFF:
        # Python represents a byte of a file name that is not UTF-8 in this way: show the byte.
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_COMMANDS: Final = (("##", r"#(?<=##)(?=\w*\[)"), ("::", r":(?<!\S:)(?=:)"))
"""The commands that CI servers find in logs, each as what it contains and as the pattern of its beginning: `##[group]`,
`##vso[...]` (Azure Pipelines, GitHub) and `##teamcity[...]` anywhere in a line, `::error::` (GitHub) at its beginning,
perhaps after blanks. A search skips quickly to a literal that is first in its pattern.
"""
_OWN_MARK: Final = r"^(?:\x1b\[[\d;]*m)?  ::: "
"""Matches the mark before a related place in the text report. It begins no command: the next character is a blank."""


def visible(text: str) -> str:
    """Return the text on one line, with escapes for characters that are invisible or change the display.

    The beginning of a CI command is escaped as well. A backslash stays as it is: messages quote names with escapes
    already in them.
    """
    if not (text.isascii() and text.isprintable()):
        text = re.sub(_SHOWN_ESCAPED, escaped, text)
    return without_commands(text)


def without_commands(text: str) -> str:
    """Return the text with the commands of CI servers escaped."""
    return _without_commands(text, escaped)


def message_without_commands(text: str) -> str:
    """Return lines of onnx-lint's own with the commands of CI servers escaped, and its mark of related places kept."""
    return _without_commands(text, lambda match: match[0] if len(match[0]) > 1 else escaped(match), f"{_OWN_MARK}|")


def json_without_commands(text: str) -> str:
    """Return the JSON with the commands of CI servers as equivalent JSON escapes."""
    return _without_commands(text, lambda match: f"\\u{ord(match[0]):04x}")


def _without_commands(text: str, escape: Callable[[re.Match[str]], str], kept: str = "") -> str:
    for mark, pattern in _COMMANDS:
        if mark in text:
            text = re.sub(kept + pattern, escape, text, flags=re.MULTILINE)
    return text


STANDARD_INPUT: Final = "<stdin>"

_MARKS: Final = ("::", "---", "+++", "~~~", "^^^")


def shown_path(path: str) -> str:
    """Return a file's path as reports show it.

    A line that begins with two colons is a command for GitHub's runner, and one that begins with three marks opens a
    section of Buildkite's log. Such a name is shown with `./` before it, which is still its path.
    """
    if path == "-":
        return STANDARD_INPUT
    return visible(f"./{path}" if path.lstrip().startswith(_MARKS) else path)
