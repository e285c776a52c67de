# SPDX-License-Identifier: Apache-2.0
"""Expressions of one variable, for all its sizes: whether they are ever negative, and where equations are true.

Sums, quotients by a number that are rounded down, minima and maxima with a number go on regularly after a while: from
some size on, the value grows by the same number with each period. So the first values and one period decide about all.
An expression with a product of variables, or one that is irregular for too long, has no such sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd, lcm, prod
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.expression import Limit, Quotient, Sum, is_variable, limit_in, quotient_in, read

_FIRST: Final = 1_536
"""The sizes for which values are computed to solve an equation: what becomes regular later has no sequence."""

_FIRST_OF_SIGN: Final = 192
"""The same, to find the sign of an expression: a model may have as many of them as nodes."""


class ValueSequence(Record):
    """The values of an expression for the sizes 0, 1, 2, ... of its variable.

    From the size `regular` on, a value is greater by `growth` than the one a `period` before.
    """

    values: Sequence[int]
    """The first values."""
    regular: int
    period: int
    growth: int

    def growth_over(self, period: int) -> int:
        """Return the growth over a multiple of the period."""
        return self.growth * (period // self.period)


class OneVariable:
    """Computes the sequences of expressions that have one variable, the same for all of them."""

    def __init__(self, value: Callable[[str], int | str] = str, first: int = _FIRST) -> None:
        """`value`: returns the known size of a variable, or the variable that it equals. `first`: the sizes to try."""
        self._value = value
        self._first = first
        self.name = ""
        """The variable: the first one found in an expression; empty before."""

    def of_sum(self, terms: Sum) -> ValueSequence | None:
        """Return the sequence of a sum; None if it has none, or another variable."""
        found = self._constant(0)
        for product, times in terms.items():
            part = self._of_product(product)
            period = lcm(found.period, part.period) if part is not None else self._first
            if part is None or period >= self._first:
                return None
            growth = found.growth_over(period) + times * part.growth_over(period)
            values = [one + times * other for one, other in zip(found.values, part.values, strict=True)]
            found = ValueSequence(values, max(found.regular, part.regular), period, growth)
        return found if found.regular + found.period <= self._first else None

    def _constant(self, number: int) -> ValueSequence:
        return ValueSequence([number] * self._first, 0, 1, 0)

    def _of_product(self, factors: Sequence[str]) -> ValueSequence | None:
        """Return the sequence of a product with at most one factor that is no number."""
        known = [self._value(factor) if is_variable(factor) else factor for factor in factors]
        number = prod(each for each in known if isinstance(each, int))
        match [each for each in known if isinstance(each, str)]:
            case []:
                return self._constant(number)
            case [factor]:
                sequence = self._of_factor(factor)
                return sequence if sequence is None or number == 1 else _scaled(sequence, number)
        return None

    def _of_factor(self, factor: str) -> ValueSequence | None:
        if is_variable(factor):
            self.name = self.name or factor
            return ValueSequence(range(self._first), 0, 1, 1) if factor == self.name else None
        limit, quotient = limit_in(factor), quotient_in(factor)
        if limit is not None:
            inner = self._of_text(limit.inner)
            return inner and _limited(inner, limit)
        if quotient is not None:
            inner = self._of_text(quotient.dividend)
            return inner and _divided(inner, quotient)
        return self._of_text(factor[1:-1]) if factor.startswith("(") else None

    def _of_text(self, text: str) -> ValueSequence | None:
        if text.isdecimal():
            return self._constant(int(text))
        terms = read(text)
        return None if terms is None else self.of_sum(terms)


def _periods_after(regular: int, period: int, values: Sequence[int]) -> Iterator[range]:
    """Yield the sizes of each whole period from a size on, as far as values are known."""
    for start in range(regular, len(values) - period + 1, period):
        yield range(start, start + period)


def difference(one: ValueSequence, other: ValueSequence) -> ValueSequence | None:
    """Return the sequence of the difference of two dimensions; None if one of them is less and less.

    Where the formula of a dimension is negative, the tensor is empty, or the node cannot run: the dimension is 0 there.
    """
    if min(one.growth, other.growth) < 0:
        return None
    period = lcm(one.period, other.period)
    for ahead in _periods_after(max(one.regular, other.regular), period, one.values):
        if min(min(one.values[at], other.values[at]) for at in ahead) >= 0:
            pairs = zip(one.values, other.values, strict=True)
            values = [max(left, 0) - max(right, 0) for left, right in pairs]
            return ValueSequence(values, ahead.start, period, one.growth_over(period) - other.growth_over(period))
    return None


def unless_empty(difference: ValueSequence, sizes: Sequence[ValueSequence]) -> ValueSequence | None:
    """Return the sequence of a difference, with 0 where one of some sizes is 0: the difference does not matter there.

    None if these are not regular: if a size is 0 for only a part of each period, and the difference grows.
    """
    period = lcm(difference.period, *[each.period for each in sizes])
    regular = max(difference.regular, *[each.regular for each in sizes])
    is_empty = [any(each.values[at] <= 0 for each in sizes) for at in range(len(difference.values))]
    values = [0 if is_empty[at] else value for at, value in enumerate(difference.values)]
    growth = difference.growth_over(period)
    for ahead in _periods_after(regular, period, values):
        if not all(_keeps_sign(each, ahead) for each in sizes):
            continue
        empty = sum(is_empty[at] for at in ahead)
        if empty == period:
            return ValueSequence(values, ahead.start, period, 0)
        return None if empty and growth else ValueSequence(values, ahead.start, period, growth)
    return None


def _keeps_sign(sequence: ValueSequence, ahead: range) -> bool:
    """Return whether the values from a period on are and stay above 0, or are and stay at most 0."""
    growth = sequence.growth
    return not growth or all((sequence.values[at] > 0) == (growth > 0) for at in ahead)


def _scaled(sequence: ValueSequence, number: int) -> ValueSequence:
    values = [number * each for each in sequence.values]
    return ValueSequence(values, sequence.regular, sequence.period, number * sequence.growth)


def _limited(inner: ValueSequence, limit: Limit) -> ValueSequence | None:
    """Return the sequence of a maximum or minimum with a number."""
    values = [limit.of(each) for each in inner.values]
    if not inner.growth:
        return ValueSequence(values, inner.regular, inner.period, 0)
    is_inner_at_last = (inner.growth > 0) == limit.is_maximum
    for ahead in _periods_after(inner.regular, inner.period, values):
        if is_inner_at_last and all(values[at] == inner.values[at] for at in ahead):
            return ValueSequence(values, ahead.start, inner.period, inner.growth)
        if not is_inner_at_last and all(values[at] == limit.bound for at in ahead):
            return ValueSequence(values, ahead.start, inner.period, 0)
    return None


def _divided(inner: ValueSequence, quotient: Quotient) -> ValueSequence | None:
    """Return the sequence of a quotient that is rounded down."""
    divisor = quotient.divisor
    if divisor < 1:
        return None
    times = divisor // gcd(divisor, inner.growth)
    if inner.regular + inner.period * times > len(inner.values):
        return None
    values = [each // divisor for each in inner.values]
    return ValueSequence(values, inner.regular, inner.period * times, inner.growth * times // divisor)


class Solutions(Record):
    """The sizes for which expressions are 0."""

    sizes: tuple[int, ...]
    are_endless: bool
    """True if there are other sizes as well, without end."""


def zeros(sequences: Sequence[ValueSequence]) -> Solutions | None:
    """Return the sizes for which all of the expressions are 0; None if their common period is too long."""
    regular = max(each.regular for each in sequences)
    period = lcm(*[each.period for each in sequences])
    if regular + period > len(sequences[0].values):
        return None
    found = [size for size in range(regular) if not any(each.values[size] for each in sequences)]
    growths = [each.growth_over(period) for each in sequences]
    for size in range(regular, regular + period):
        values = [each.values[size] for each in sequences]
        if not any(growths) and not any(values):
            return Solutions(tuple(found), are_endless=True)
        periods = _periods_until_zero(values, growths)
        if periods is not None:
            found.append(size + periods * period)
    return Solutions(tuple(sorted(found)), are_endless=False)


def _periods_until_zero(values: Sequence[int], growths: Sequence[int]) -> int | None:
    """Return after how many periods all values are 0, if one of them grows; None if never."""
    rows = list(zip(values, growths, strict=True))
    for value, growth in rows:
        if growth:
            periods = -value // growth
            is_zero = periods >= 0 and all(each + periods * by == 0 for each, by in rows)
            return periods if is_zero else None
    return None


_natural: Final[Memory[str, bool]] = Memory(500)


def is_natural(text: str) -> bool:
    """Return whether an expression is known to be at least 0 for all sizes of its only variable."""
    if text in _natural:
        return _natural[text]
    terms = read(text)
    sequence = OneVariable(first=_FIRST_OF_SIGN).of_sum(terms) if terms is not None else None
    return _natural.keep(text, sequence is not None and _is_never_negative(sequence))


def _is_never_negative(sequence: ValueSequence) -> bool:
    return sequence.growth >= 0 and min(sequence.values[: sequence.regular + sequence.period]) >= 0
