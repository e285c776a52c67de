# SPDX-License-Identifier: Apache-2.0
"""Patterns that RE2, whose syntax RegexFullMatch uses, cannot compile.

Only certain faults are reported: groups and escapes of other engines, unclosed parentheses and brackets, ranges that
end before they begin, and repetitions of nothing or of more than RE2 allows.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = r"\\Q.*?(?:\\E|\Z) | \\[pPx]\{[^}]{0,99}\} | \\[1-7][0-9] | \\.?"

_FLAGS: Final = r"[imsU]*(?:-[imsU]*)?"

_PARTS: Final = rf"""
    (?P<escape> {_ESCAPE} )
  | (?P<class> \[ \^? \]? (?: \[:.{{0,30}}?:\] | {_ESCAPE} | [^\]] )*? (?P<end> \] | \Z ) )
  | (?P<group> \( (?: \? (?: (?P<flags> {_FLAGS}\) ) | {_FLAGS}: | P?<\w+> | (?P<other> .{{0,2}}) ))? )
  | (?P<close> \) )
  | (?P<repeat> [*+?] | \{{ (?P<least> \d+ ) (?:,(?P<most> \d* ) )? \}} ) \??
  | (?P<plain> . )
"""
"""Matches a part of a pattern. `flags` are those of a group without content; `other` is not in a group of RE2."""

_CLASS_ESCAPES: Final = frozenset("aftnrvdDsSwWpPxQE01234567")
_ESCAPES: Final = _CLASS_ESCAPES | frozenset("AbBCz")
"""The letters and digits with a meaning after a backslash; any other character there means itself."""

_MOST_REPEATS: Final = 1000
_MOST_DIGITS: Final = 99
"""Python refuses to read thousands of digits."""


def pattern_fault(pattern: str) -> str | None:
    """Return why RE2 cannot compile a pattern; None if no fault is found."""
    depth = 0
    can_repeat = False
    for part in re.finditer(_PARTS, pattern, re.DOTALL | re.VERBOSE):
        depth += (part.lastgroup == "group" and not part["flags"]) - (part.lastgroup == "close")
        fault = _fault(part, can_repeat=can_repeat, is_open=depth >= 0)
        if fault is not None:
            return fault
        if not part["flags"]:
            can_repeat = part.lastgroup not in ("group", "repeat") and part.group() != "|"
    return "leaves a parenthesis open" if depth else None


def _fault(part: re.Match[str], *, can_repeat: bool, is_open: bool) -> str | None:
    text = part.group()
    match part.lastgroup:
        case "escape":
            return _escape_fault(text, _ESCAPES)
        case "class":
            escapes = re.findall(_ESCAPE, text, re.DOTALL | re.VERBOSE)
            faults = (*[_escape_fault(each, _CLASS_ESCAPES) for each in escapes], _range_fault(text))
            return next(filter(None, faults), None if part["end"] else "leaves a bracket open")
        case "group" if part["other"] is not None:
            return f"has the group '{text}', which RE2 does not know"
        case "close" if not is_open:
            return "closes a parenthesis that is not open"
        case "repeat":
            if any(int(each[:_MOST_DIGITS]) > _MOST_REPEATS for each in part.group("least", "most") if each):
                return f"has the repetition '{part['repeat']}', but RE2 repeats at most {_MOST_REPEATS} times"
            return None if can_repeat else f"has the repetition '{part['repeat']}' of nothing"
    return None


_CHARACTER: Final = rf"(?> \\[pP][^{{] | \\x[0-9A-Fa-f]{{2}} | \\[0-7]{{1,3}} | {_ESCAPE} | [^\\] )"

_RANGE: Final = rf"\[:.{{0,30}}?:\] | (?P<low> {_CHARACTER} ) (?: - (?P<high> {_CHARACTER} ) )?"
"""Matches a part of the content of a class."""


def _range_fault(text: str) -> str | None:
    """Return the fault of a class with a range from a character to an earlier one; escapes are not compared."""
    content = text.removeprefix("[").removeprefix("^").removesuffix("]")
    for part in re.finditer(_RANGE, content, re.DOTALL | re.VERBOSE):
        low, high = part["low"], part["high"]
        if low is not None and high is not None and len(low) == len(high) == 1 and low > high:
            return f"has the range '{low}-{high}', whose end is before its begin"
    return None


def _escape_fault(text: str, known: frozenset[str]) -> str | None:
    behind = text[1:2]
    if not behind:
        return "ends with a backslash"
    if behind.isascii() and behind.isalnum() and behind not in known:
        return f"has the escape '\\{behind}', which RE2 does not know"
    return f"has the reference '{text}' to a group, which RE2 does not know" if re.fullmatch(r"\\[1-7]", text) else None
