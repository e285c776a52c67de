# SPDX-License-Identifier: Apache-2.0
"""Expressions of one variable, for all its sizes: whether they are ever negative, and where equations are true.

Sums, quotients by a number that are rounded down, minima and maxima with a number go on regularly after a while: from
some size on, the value grows by the same number with each period. So the first values and one period decide about all.
An expression with a product of variables, or one that is irregular for too long, has no course.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd, lcm
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.expression import Sum, limited_factor, read

_FIRST: Final = 1_536
"""The sizes for which values are computed to solve an equation: what becomes regular later has no course."""

_FIRST_OF_SIGN: Final = 192
"""The same, to find the sign of an expression: a model may have as many of them as nodes."""


class Course(Record):
    """The values of an expression for all sizes of its variable."""

    values: Sequence[int]
    """The values for the sizes from 0 on."""
    regular: int
    """The size from which on the values are regular."""
    period: int
    growth: int
    """From `regular` on, by how much the value is greater if the size is greater by `period`."""

    def growth_over(self, period: int) -> int:
        """Return the growth over a multiple of the period."""
        return self.growth * (period // self.period)


class OneVariable:
    """The courses of expressions that have one variable, the same for all of them."""

    def __init__(self, value: Callable[[str], int | str] = str, first: int = _FIRST) -> None:
        """`value`: returns the known size of a variable, or the variable that it equals. `first`: the sizes to try."""
        self._value = value
        self._first = first
        self.name = ""
        """The variable; empty while there is none."""

    def of_sum(self, terms: Sum) -> Course | None:
        """Return the course of a sum; None if it has none, or another variable."""
        found = Course([0] * self._first, 0, 1, 0)
        for product, times in terms.items():
            part = self._of_product(product)
            period = lcm(found.period, part.period) if part is not None else self._first
            if part is None or period >= self._first:
                return None
            growth = found.growth_over(period) + times * part.growth_over(period)
            values = [one + times * other for one, other in zip(found.values, part.values, strict=True)]
            found = Course(values, max(found.regular, part.regular), period, growth)
        return found if found.regular + found.period <= self._first else None

    def _of_product(self, factors: Sequence[str]) -> Course | None:
        """Return the course of a product with at most one factor that is no number."""
        number = 1
        course: Course | None = None
        for factor in factors:
            value = self._value(factor) if not factor.endswith(")") else factor
            if isinstance(value, int):
                number *= value
            elif course is not None:
                return None
            else:
                course = self._of_factor(value)
                if course is None:
                    return None
        if course is None:
            return Course([number] * self._first, 0, 1, 0)
        return course if number == 1 else _scaled(course, number)

    def _of_factor(self, factor: str) -> Course | None:
        if not factor.endswith(")"):
            self.name = self.name or factor
            return Course(range(self._first), 0, 1, 1) if factor == self.name else None
        limit = limited_factor(factor)
        if limit is not None:
            inner = self._of_text(limit[0])
            return inner and _limited(inner, limit[1], is_maximum=limit[2])
        dividend, sign, divisor = factor[1:-1].rpartition("//")
        if sign and divisor.isdecimal():
            inner = self._of_text(dividend)
            return inner and _divided(inner, int(divisor))
        return self._of_text(factor[1:-1]) if factor.startswith("(") else None

    def _of_text(self, text: str) -> Course | None:
        if text.isdecimal():
            return Course([int(text)] * self._first, 0, 1, 0)
        terms = read(text)
        return None if terms is None else self.of_sum(terms)


def difference(one: Course, other: Course) -> Course | None:
    """Return the course of the difference of two dimensions; None if one of them is less and less.

    Where the formula of a dimension is negative, the tensor is empty, or the node cannot run: the dimension is 0 there.
    """
    period = lcm(one.period, other.period)
    regular = max(one.regular, other.regular)
    if min(one.growth, other.growth) < 0:
        return None
    while regular + period <= len(one.values):
        ahead = slice(regular, regular + period)
        if min(*one.values[ahead], *other.values[ahead]) >= 0:
            pairs = zip(one.values, other.values, strict=True)
            values = [max(left, 0) - max(right, 0) for left, right in pairs]
            return Course(values, regular, period, one.growth_over(period) - other.growth_over(period))
        regular += period
    return None


def unless_empty(difference: Course, sizes: Sequence[Course]) -> Course | None:
    """Return the course of a difference that does not matter, and is 0, where one of some sizes is 0."""
    period = lcm(difference.period, *[each.period for each in sizes])
    regular = max(difference.regular, *[each.regular for each in sizes])
    while regular + period <= len(difference.values):
        ahead = range(regular, regular + period)
        if all(not each.growth or all((each.values[at] > 0) == (each.growth > 0) for at in ahead) for each in sizes):
            is_empty = [any(each.values[at] <= 0 for each in sizes) for at in range(len(difference.values))]
            values = [0 if left_out else value for left_out, value in zip(is_empty, difference.values, strict=True)]
            growth = 0 if all(is_empty[at] for at in ahead) else difference.growth_over(period)
            is_mixed = growth != 0 and any(is_empty[at] for at in ahead)
            return None if is_mixed else Course(values, regular, period, growth)
        regular += period
    return None


def _scaled(course: Course, number: int) -> Course:
    values = [number * each for each in course.values]
    return Course(values, course.regular, course.period, number * course.growth)


def _limited(inner: Course, number: int, *, is_maximum: bool) -> Course | None:
    """Return the course of a maximum or minimum with a number."""
    choose = max if is_maximum else min
    values = [choose(each, number) for each in inner.values]
    regular, period = inner.regular, inner.period
    if not inner.growth:
        return Course(values, regular, period, 0)
    is_inner = (inner.growth > 0) == is_maximum  # what the maximum or minimum is in the end
    while regular + period <= len(inner.values):
        ahead = inner.values[regular : regular + period]
        if all((choose(each, number) == each) if is_inner else (choose(each, number) == number) for each in ahead):
            return Course(values, regular, period, inner.growth if is_inner else 0)
        regular += period
    return None


def _divided(inner: Course, divisor: int) -> Course | None:
    """Return the course of a quotient that is rounded down."""
    if divisor < 1:
        return None
    times = divisor // gcd(divisor, inner.growth)
    if inner.regular + inner.period * times > len(inner.values):
        return None
    values = [each // divisor for each in inner.values]
    return Course(values, inner.regular, inner.period * times, inner.growth * times // divisor)


class Solutions(Record):
    """The sizes for which expressions are 0."""

    sizes: tuple[int, ...]
    are_endless: bool
    """True if there are other sizes as well, without end."""


def zeros(courses: Sequence[Course]) -> Solutions | None:
    """Return the sizes for which all of the expressions are 0; None if their common period is too long."""
    regular = max(each.regular for each in courses)
    period = lcm(*[each.period for each in courses])
    if regular + period > len(courses[0].values):
        return None
    found = [size for size in range(regular) if not any(each.values[size] for each in courses)]
    for size in range(regular, regular + period):
        rows = [(each.values[size], each.growth_over(period)) for each in courses]
        growing = next((row for row in rows if row[1]), None)
        if growing is None:
            if not any(value for value, _ in rows):
                return Solutions(tuple(found), are_endless=True)
            continue
        periods, rest = divmod(-growing[0], growing[1])
        if not rest and periods >= 0 and all(value + periods * growth == 0 for value, growth in rows):
            found.append(size + periods * period)
    return Solutions(tuple(sorted(found)), are_endless=False)


_natural: Final[Memory[str, bool]] = Memory(500)


def is_natural(text: str) -> bool:
    """Return whether an expression is known to be at least 0 for all sizes of its only variable."""
    if text in _natural:
        return _natural[text]
    terms = read(text)
    course = OneVariable(first=_FIRST_OF_SIGN).of_sum(terms) if terms is not None else None
    return _natural.keep(
        text,
        course is not None and course.growth >= 0 and min(course.values[: course.regular + course.period]) >= 0,
    )
