# SPDX-License-Identifier: Apache-2.0
"""Recognizes a name that is evidently another one misspelt, and no sibling of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.ir.names.affixes import plain
from onnx_lint.wording import MAX_QUOTED_CHARACTERS

LEAST_LETTERS: Final = 4
"""The letters of the shortest word in which one wrong letter is a misspelling: `w` and `b` are different words."""

_ALIKE: Final = {"0", "O"}
"""A number and a letter that look alike."""

_NUMBERS: Final = re.compile("[0-9]+")


def is_misspelt(name: str, right: str) -> bool:
    """Return whether a name is evidently another one misspelt.

    It differs in case and separators alone, or in one letter within a word: wrong, missing, doubled or exchanged with
    the next one. A name with another number is another value of its kind.
    """
    return is_respelt(name, right) or _differs_in_a_letter(name, right)


def is_respelt(name: str, right: str) -> bool:
    """Return whether two names have the same letters and numbers."""
    return plain(name) == plain(right) and _NUMBERS.findall(name) == _NUMBERS.findall(right)


def _differs_in_a_letter(name: str, right: str) -> bool:
    start, end = _shared_ends(name, right)
    wrong, meant = name[start : len(name) - end], right[start : len(right) - end]
    if {wrong, meant} == _ALIKE:
        return True
    if not (wrong + meant).isalpha():
        return False
    before = _letters(right[:start][::-1])
    after = _letters(right[len(right) - end :])
    if before + len(meant) + after < LEAST_LETTERS:
        return False
    match len(wrong), len(meant):
        case 1, 1:
            return before > 0 and after > 0  # the ends of words tell siblings apart: `proj_q`, `kproj`
        case 0, 1:
            return before > 0
        case 1, 0:
            return before > 0 and (after > 0 or wrong == right[start - 1])
        case 2, 2:
            return wrong == meant[::-1]
    return False


def _shared_ends(one: str, other: str) -> tuple[int, int]:
    """Return how many characters two names share at the beginning, and of the rest at the end."""
    most, start, end = min(len(one), len(other)), 0, 0
    while start < most and one[start] == other[start]:
        start += 1
    while end < most - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start, end


def _letters(text: str) -> int:
    """Return the number of letters with which a text begins."""
    return next((index for index, each in enumerate(text) if not each.isalpha()), len(text))


class KnownNames:
    """Names of which some may be meant by misspelt ones."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)

    @cached_property
    def _by_letters(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._names:
            found.setdefault(plain(name), []).append(name)
        return found

    def meant_by(self, name: str, may_lack_a_letter: Callable[[str], bool]) -> str | None:
        """Return the one name of which another one is a misspelling; None if there is none, or more.

        `may_lack_a_letter`: returns whether a known name is meant even by a name with a wrong letter.
        """
        if len(name) > MAX_QUOTED_CHARACTERS:
            return None
        found = [each for each in self._by_letters.get(plain(name), ()) if is_respelt(name, each)]
        if not found:
            found = [each for each in self._with_a_shared_half(name) if _differs_in_a_letter(name, each)]
            found = [each for each in found if may_lack_a_letter(each)]
        return found[0] if len(found) == 1 else None

    def _with_a_shared_half(self, name: str) -> Iterable[str]:
        """Return the names of nearly the same length that begin or end as a name does: one wrong letter is in a half"""
        middle, length = len(name) // 2, len(name)
        head, tail = name[: max(middle - 1, 0)], name[middle + 1 :]
        return [
            each
            for each in self._names
            if -1 <= len(each) - length <= 1 and (each.startswith(head) or each.endswith(tail))
        ]
