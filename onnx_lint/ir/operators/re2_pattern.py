# SPDX-License-Identifier: Apache-2.0
"""Patterns that RE2, whose syntax RegexFullMatch uses, cannot compile.

Only certain faults are reported: groups and escapes of other engines, unclosed parentheses and brackets, ranges that
end before they begin, and repetitions of nothing or of more than RE2 allows.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = r"\\Q.*?(?:\\E|\Z) | \\[pPx]\{[^}]{0,99}\} | \\[1-7][0-9] | \\.?"

_CHARACTER: Final = r"(?> \\x\{[^}]{0,99}\} | \\x[0-9A-Fa-f]{2} | \\[0-7]{1,3} | \\.? | [^\\] )"

_IN_CLASS: Final = rf"""
    (?P<named> \[: .{{0,30}}? :\] )
  | (?P<set> \\[pP] (?: \{{[^}}]{{0,99}}\}} | [^{{] ) | \\[dDsSwW] )
  | (?! \] ) (?P<low> {_CHARACTER} ) (?: - (?! \] ) (?P<high> {_CHARACTER} ) )?
"""
"""Matches a part of the content of a class. The end of a range may be a bracket: `[A-[:a]` is `A` to `[`, `:`, `a`."""

_FLAGS: Final = r"[imsU]*(?:-[imsU]*)?"

_PARTS: Final = rf"""
    (?P<escape> {_ESCAPE} )
  | (?P<class> \[ \^? (?: \] (?: - (?! \] ) {_CHARACTER} )? )? (?: {_IN_CLASS} )*? (?P<end> \] | \Z ) )
  | (?P<group> \( (?: \? (?: (?P<flags> {_FLAGS}\) ) | {_FLAGS}: | P?<\w+> | (?P<other> .{{0,2}}) ))? )
  | (?P<close> \) )
  | (?P<repeat> [*+?] | \{{ (?P<least> \d+ ) (?:,(?P<most> \d* ) )? \}} ) \??
  | (?P<plain> . )
"""
"""Matches a part of a pattern. `flags` are those of a group without content; `other` is not in a group of RE2."""

_CHARACTER_ESCAPES: Final = frozenset("aftnrvx01234567")
_ESCAPES: Final = _CHARACTER_ESCAPES | frozenset("dDsSwWpPQAbBCz")
"""The letters and digits with a meaning after a backslash; any other character there means itself. In a class only
those of characters have one; `set` matches the others."""

_NAMED: Final = r"\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"

_CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}

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
            return _class_fault(text) or (None if part["end"] else "leaves a bracket open")
        case "group" if part["other"] is not None:
            return f"has the group '{text}', which RE2 does not know"
        case "close" if not is_open:
            return "closes a parenthesis that is not open"
        case "repeat":
            if any(int(each[:_MOST_DIGITS]) > _MOST_REPEATS for each in part.group("least", "most") if each):
                return f"has the repetition '{part['repeat']}', but RE2 repeats at most {_MOST_REPEATS} times"
            return None if can_repeat else f"has the repetition '{part['repeat']}' of nothing"
    return None


def _class_fault(text: str) -> str | None:
    """Return the fault of an escape in a class, or of a range from a character to an earlier one."""
    content = text.removeprefix("[").removeprefix("^").removesuffix("]")
    if content.startswith("]"):
        content = f"\\{content}"  # there it is a character, as behind a backslash
    for part in re.finditer(_IN_CLASS, content, re.DOTALL | re.VERBOSE):
        if part["named"] is not None and re.fullmatch(_NAMED, part["named"]) is None:
            return f"has the class '{part['named']}', which RE2 does not know"
        ends = [each for each in part.group("low", "high") if each is not None]
        for each in ends:
            fault = _escape_fault(each, _CHARACTER_ESCAPES, " in brackets")
            if fault is not None:
                return fault
        codes = [code for each in ends if (code := _code_point(each)) is not None]
        if len(codes) > 1 and codes[0] > codes[1]:
            return f"has the range '{part.group()}', whose end is before its begin"
    return None


def _code_point(character: str) -> int | None:
    """Return the number of a character of a class, which may be an escape; None if that is malformed."""
    if not character.startswith("\\"):
        return ord(character)
    behind = character[1:]
    if behind in _CONTROLS:
        return _CONTROLS[behind]
    if behind[0] in "01234567":
        return int(behind, 8)
    hexadecimal = re.fullmatch(r"x(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))", behind)
    if hexadecimal is not None:
        return int(hexadecimal[1] or hexadecimal[2], 16)
    return None if behind[0] == "x" else ord(behind)


def _escape_fault(text: str, known: frozenset[str], where: str = "") -> str | None:
    behind = text[1:2]
    if not text.startswith("\\"):
        return None
    if not behind:
        return "ends with a backslash"
    if behind.isascii() and behind.isalnum() and behind not in known:
        return f"has the escape '\\{behind}', which RE2 does not know{where}"
    return f"has the reference '{text}' to a group, which RE2 does not know" if re.fullmatch(r"\\[1-7]", text) else None
