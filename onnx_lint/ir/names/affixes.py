# SPDX-License-Identifier: Apache-2.0
"""One change of a prefix or suffix that turns several wrong names into known ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from onnx_lint.common.record import Record
from onnx_lint.wording import quote


class Affix(Record):
    """A beginning or an end of names, and what must be in its place."""

    wrong: str
    right: str
    is_suffix: bool

    def corrected(self, name: str) -> str | None:
        """Return the name with the right affix; None if it does not have the wrong one, or is nothing else."""
        if len(name) <= len(self.wrong):
            return None
        if self.is_suffix:
            return name.removesuffix(self.wrong) + self.right if name.endswith(self.wrong) else None
        return self.right + name.removeprefix(self.wrong) if name.startswith(self.wrong) else None

    def describe(self, count: int) -> str:
        """Return what is wrong with that many names."""
        what, where = ("suffix", "end") if self.is_suffix else ("prefix", "begin")
        if not self.wrong:
            return f"{count:,} names lack the {what} {quote(self.right)}"
        if not self.right:
            return f"{count:,} names have the {what} {quote(self.wrong)} too much"
        return f"{count:,} names {where} with {quote(self.wrong)} in place of {quote(self.right)}"


class Respelling(Record):
    """Names that differ from those that are meant in case or separators alone."""

    names: Mapping[str, str]
    """The right names, by the wrong ones."""

    def corrected(self, name: str) -> str | None:
        """Return the right name; None if the name is none of the wrong ones."""
        return self.names.get(name)

    def describe(self, count: int) -> str:
        """Return what is wrong with that many names."""
        wrong, right = next(iter(self.names.items()))
        return f"{count:,} names differ from unused ones in case or separators, {quote(wrong)} from {quote(right)}"


def respelling(
    names: Iterable[str], candidates: Iterable[str], is_meant: Callable[[str, str], bool]
) -> Respelling | None:
    """Return the candidates that are written in another way than the names; None if one name has none, or several."""
    alike: dict[str, list[str]] = {}
    for each in candidates:
        alike.setdefault(plain(each), []).append(each)
    found = {}
    for name in names:
        right = alike.get(plain(name), [])
        if len(right) != 1 or not is_meant(name, right[0]):
            return None
        found[name] = right[0]
    return Respelling(found) if len(set(found.values())) == len(found) else None


def plain(name: str) -> str:
    """Return a name without its separators and case."""
    return "".join(filter(str.isalnum, name)).lower()


def common_affix(names: Sequence[str], candidates: Iterable[str], is_meant: Callable[[str, str], bool]) -> Affix | None:
    """Return the one affix whose correction makes each of several names a known one; None if there is none, or more.

    `candidates`: what the first of the names may be in truth. `is_meant`: returns whether a name may be another one.
    """
    if len(names) < 2:
        return None
    found = set()
    for affix in {each for right in candidates for each in _affixes(names[0], right)}:
        corrected = [affix.corrected(name) for name in names]
        are_meant = all(
            right is not None and is_meant(name, right) for name, right in zip(names, corrected, strict=True)
        )
        if are_meant and len(set(corrected)) == len(names):
            found.add(affix)
    return found.pop() if len(found) == 1 else None


def _affixes(wrong: str, right: str) -> Iterable[Affix]:
    """Yield the affixes that make one name the other."""
    for is_suffix in (False, True):
        one, other = (wrong, right) if is_suffix else (wrong[::-1], right[::-1])
        shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
        if 0 < shared < max(len(one), len(other)):
            wrong_end, right_end = one[shared:], other[shared:]
            yield Affix(wrong_end, right_end, True) if is_suffix else Affix(wrong_end[::-1], right_end[::-1], False)
