# SPDX-License-Identifier: Apache-2.0
"""Patterns that RE2, whose syntax RegexFullMatch uses, cannot compile.

Only certain faults are reported: groups and escapes of other engines, unclosed parentheses and brackets, and
repetitions of nothing or of more than RE2 allows.
"""

from __future__ import annotations

import re
from typing import Final

_GROUP: Final = re.compile(r"\((\?(?:P?<\w+>|[imsU]*-?[imsU]*[:)])?)?")
"""The beginning of a group: `(`, `(?:`, `(?i)`, `(?i-s:`, `(?P<name>`; after another `(?` the rest is unknown."""

_FLAGS: Final = re.compile(r"\(\?[imsU]*-?[imsU]*\)")

_REPEAT: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}")

_CLASS_ESCAPES: Final = frozenset("aftnrvdDsSwWpPxQE01234567")
_ESCAPES: Final = _CLASS_ESCAPES | frozenset("AbBCz")
"""The letters and digits with a meaning after a backslash; any other character there means itself."""

_MOST_REPEATS: Final = 1000


def pattern_fault(pattern: str) -> str | None:
    """Return why RE2 cannot compile a pattern; None if no fault is found."""
    depth, index = 0, 0
    can_repeat = False
    while index < len(pattern):
        sign = pattern[index]
        length = 1
        if sign == "\\":
            length, fault = _escape(pattern, index, _ESCAPES)
            can_repeat = True
        elif sign == "[":
            length, fault = _character_class(pattern, index)
            can_repeat = True
        elif sign == "(":
            length, fault = _group(pattern, index)
            are_flags = _FLAGS.match(pattern, index) is not None
            depth += not are_flags
            can_repeat = can_repeat and are_flags
        elif sign == ")":
            depth -= 1
            fault = "closes a parenthesis that is not open" if depth < 0 else None
            can_repeat = True
        elif sign in "*+?" or (sign == "{" and _REPEAT.match(pattern, index)):
            length, fault = _repetition(pattern, index, can_repeat=can_repeat)
            can_repeat = False
        else:
            fault = None
            can_repeat = sign != "|"
        if fault is not None:
            return fault
        index += length
    return "leaves a parenthesis open" if depth else None


def _escape(pattern: str, index: int, known: frozenset[str]) -> tuple[int, str | None]:
    behind = pattern[index + 1 : index + 2]
    if not behind:
        return 1, "ends with a backslash"
    if behind == "Q":
        end = pattern.find("\\E", index)
        return (len(pattern) if end < 0 else end + 2) - index, None
    if behind.isascii() and behind.isalnum() and behind not in known:
        return 2, f"has the escape '\\{behind}', which RE2 does not know"
    if behind in "1234567" and not pattern[index + 2 : index + 3].isdecimal():
        return 2, f"has the reference '\\{behind}' to a group, which RE2 does not know"
    braced = behind in "pPx" and pattern[index + 2 : index + 3] == "{"
    end = pattern.find("}", index) if braced else -1
    return (end + 1 - index if end > 0 else 2), None


def _character_class(pattern: str, index: int) -> tuple[int, str | None]:
    at = index + 1 + (pattern[index + 1 : index + 2] == "^")
    is_first = True
    while at < len(pattern):
        if pattern[at] == "]" and not is_first:
            return at + 1 - index, None
        is_first = False
        if pattern[at] == "\\":
            length, fault = _escape(pattern, at, _CLASS_ESCAPES)
            if fault is not None:
                return length, fault
            at += length
        elif pattern.startswith("[:", at) and ":]" in pattern[at:]:
            at = pattern.index(":]", at) + 2
        else:
            at += 1
    return 1, "leaves a bracket open"


def _group(pattern: str, index: int) -> tuple[int, str | None]:
    found = _GROUP.match(pattern, index)
    text = found.group() if found is not None else "("
    if text == "(?":
        return 2, f"has the group '{pattern[index : index + 4]}', which RE2 does not know"
    return len(text), None


def _repetition(pattern: str, index: int, *, can_repeat: bool) -> tuple[int, str | None]:
    counted = _REPEAT.match(pattern, index)
    length = len(counted.group()) if counted is not None else 1
    if counted is not None and max(int(each or 0) for each in counted.groups()) > _MOST_REPEATS:
        return length, f"has the repetition '{counted.group()}', but RE2 repeats at most {_MOST_REPEATS} times"
    if not can_repeat:
        return length, f"has the repetition '{pattern[index : index + length]}' of nothing"
    is_lazy = pattern[index + length : index + length + 1] == "?"
    return length + is_lazy, None
