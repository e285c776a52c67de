# SPDX-License-Identifier: Apache-2.0
"""Digests of the parts of a list of texts: of those before or after an element, and of all but the first and last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

# Polynomial rolling hashes, as in the Rabin-Karp algorithm, modulo a Mersenne prime: so `_digest_between` computes that
# of any part of a list. Baselines on disk are made of them, so the constants must not change.
_PRIME: Final = (1 << 89) - 1
_FACTOR: Final = 0x9E3779B97F4A7C15F39CC

_MOST_DUE_TO_FAULT: Final = 2
"""The most differences between two shifted lists that one element can make: it is in both."""


class OmittedEnds(NamedTuple):
    """How many elements are left out of a list."""

    first: int
    last: int


class _Prefixes:
    """Digests of the first elements of a list."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self.digests = _digests(texts)
        differs = (index for index, text in enumerate(texts) if text != texts[0])
        self._equal = next(differs, len(texts))
        """The number of equal elements at the beginning."""

    def before(self, index: int, *, may_be_any: bool) -> str:
        """Return the digest of the elements before an index.

        `may_be_any`: whether the element at the index may have been any other one, since its operator is wrong.
        """
        digest = f"{self.digests[index]:x}"
        following = index + 1 if may_be_any else index
        is_ambiguous = 0 < index <= self._equal and self._is_first_text(following)
        # After equal elements, one more of them moves a fault to the next element, and this one would have the digest
        # that its neighbour had. The length shows that one was added.
        return f"{digest} of {len(self._texts)}" if is_ambiguous else digest

    def _is_first_text(self, index: int) -> bool:
        return index < len(self._texts) and self._texts[index] == self._texts[0]


class OrderedTexts:
    """A list of texts, with a digest of those before and after each element."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts, self._length = texts, len(texts)
        self._different: dict[tuple[int, int, int], list[int]] = {}
        """The results of `_differences`, by its arguments."""
        self._of_omitted: dict[OmittedEnds, str] = {}
        """The results of `whole`."""
        self._forwards, self._backwards = _Prefixes(texts), _Prefixes(texts[::-1])

    def before(self, index: int, *, may_be_any: bool = False) -> str:
        """Return the digest of the elements before an index. `may_be_any`: see `_Prefixes.before`."""
        return self._forwards.before(index, may_be_any=may_be_any)

    def after(self, index: int, *, may_be_any: bool = False) -> str:
        """Return the digest of the elements after an index. `may_be_any`: see `_Prefixes.before`."""
        return self._backwards.before(self._length - 1 - index, may_be_any=may_be_any)

    def whole(self, omitted: OmittedEnds) -> str:
        """Return the digest of all elements without some at the start and at the end."""
        if omitted not in self._of_omitted:
            start = min(omitted.first, self._length)
            end = max(start, self._length - omitted.last)
            self._of_omitted[omitted] = f"{_digest_between(self._forwards.digests, start, end):x}"
        return self._of_omitted[omitted]

    def is_ambiguous(self, omitted: OmittedEnds, at_fault: int | None) -> bool:
        """Return whether the list may be the same one without other elements at its ends.

        For example, `Relu Relu Relu` without the first and the last element is the same as without the first two.
        `at_fault`: the index of an element that may have been any other one, so a difference there does not count.
        """
        start, count = omitted.first, omitted.first + omitted.last
        for other in range(count + 1):
            at_both = () if at_fault is None else (at_fault - start, at_fault - other)
            if other != start and set(self._differences(start, other, count)).issubset(at_both):
                return True
        return False

    def _differences(self, start: int, other: int, count: int) -> list[int]:
        """Return the first indices at which the list from `start` on differs from the list from `other` on.

        `count`: how many elements both lists lack.
        """
        key = start, other, count
        if key not in self._different:
            length = max(0, self._length - count)
            pairs = zip(self._texts[start : start + length], self._texts[other : other + length], strict=True)
            found = (at for at, (one, another) in enumerate(pairs) if one != another)
            self._different[key] = list(islice(found, _MOST_DUE_TO_FAULT + 1))
        return self._different[key]


def _digests(texts: Iterable[str]) -> list[int]:
    """Return the rolling hash of no text, of the first one, of the first two, and so on."""
    from onnx_lint.common.digest import sha256

    known: dict[str, int] = {}
    digests = [0]
    for text in texts:
        if text not in known:
            known[text] = int(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20], 16)
        digests.append((digests[-1] * _FACTOR + known[text] + 1) % _PRIME)
    return digests


def _digest_between(digests: Sequence[int], start: int, end: int) -> int:
    """Return the rolling hash of the texts from one index to another, from the result of `_digests`."""
    return (digests[end] - digests[start] * pow(_FACTOR, end - start, _PRIME)) % _PRIME
