# SPDX-License-Identifier: Apache-2.0
"""Expressions of dimension variables: "2*N", "N + 1", "M*N", "((N - 1)//2) + 1", "min(N, 512)", "max(N, 1)".

They are texts, as the variables of a model are. Dimensions are compared by their texts, so there is one normal form:
"M*N", never "N*M". PyTorch and ONNX Runtime write such texts into models as names of variables. Nothing makes a value
follow its name, so such a name is a variable of its own, in quotes. A text longer than `_LONGEST` is unknown.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record

_LONGEST: Final = 96
"""The longest text that is parsed or created."""

_GREATEST: Final = 2**63
"""The bound of factors and summands, as of sizes."""

Product = tuple[str, ...]
"""Variables, quotients and sums in parentheses, minima and maxima, in alphabetical order, with repetitions."""

Sum = dict[Product, int]
"""The coefficient of each product; the empty product has the constant term."""

_AMBIGUOUS: Final = (" ", "*", "+", "(", ")", "'", "//")
"""The texts with which a name could be an expression."""

_read: Final[Memory[str, Sum | None]] = Memory(2_000)


def read(text: str) -> Sum | None:
    """Return the sum that a variable or an expression means; None for a text that is neither, which stays opaque."""
    if text in _read:
        return _read[text]
    return _read.keep(text, _parsed(text) if len(text) <= _LONGEST else None)


def variable(name: str) -> str | None:
    """Return the text of a declared variable: in quotes if its name could be an expression; None if it has a quote."""
    if not name.isdecimal() and not any(each in name for each in _AMBIGUOUS):
        return name
    return None if "'" in name else f"'{name}'"


def declared_name(text: str) -> str:
    """Return the declared name of a variable, which `variable` may have put in quotes; an expression as it is."""
    return text[1:-1] if text.startswith("'") and read(text) == {(text,): 1} else text


def is_variable(factor: str) -> bool:
    """Return whether a factor is a variable. All others end with a parenthesis, and such a name is in quotes."""
    return not factor.endswith(")")


def _parsed(text: str) -> Sum | None:
    if text.isidentifier():
        return {(text,): 1}
    found: Sum = {}
    sign = 1
    parts = _split(text, " ")
    if len(parts) % 2 == 0:
        return None
    for index, part in enumerate(parts):
        if index % 2:
            if part not in ("+", "-"):
                return None
            sign = 1 if part == "+" else -1
            continue
        factors = _split(part, "*")
        times = int(factors.pop(0)) if factors[0].isdecimal() and (index or len(factors) > 1) else 1
        if not all(map(_is_name, factors)):
            return None
        product = tuple(sorted(factors))
        found[product] = found.get(product, 0) + sign * times
    return found


def _split(text: str, sign: str) -> list[str]:
    """Return the parts between the signs outside of parentheses and quotes."""
    found = [""]
    depth = 0
    is_quoted = False
    for character in text:
        is_quoted ^= character == "'"
        depth += 0 if is_quoted else (character == "(") - (character == ")")
        if character == sign and depth == 0 and not is_quoted:
            found.append("")
        else:
            found[-1] += character
    return found


def _is_name(text: str) -> bool:
    """Return whether a factor is a variable with an unambiguous name, or is in parentheses."""
    if text.startswith(("(", "min(", "max(")) and text.endswith(")"):
        return True
    if text.startswith("'") and text.endswith("'"):
        return True
    return bool(text) and not text.isdecimal() and not any(each in text for each in "+()")


def _text(terms: Sum) -> str | int | None:
    """Return the text of a sum; an integer if no variable is left, and None if the text would be too long."""
    left = {product: times for product, times in terms.items() if times}
    offset = left.pop((), 0)
    if not left:
        return offset
    if max(map(abs, (offset, *left.values()))) >= _GREATEST:
        return None
    text = ""
    # A sum begins with positive terms, and has at least one.
    for product, times in sorted(left.items(), key=lambda term: (term[1] < 0, term[0])):
        factor = [str(abs(times))] if abs(times) != 1 else []
        text += (" + " if times > 0 else " - ") + "*".join([*factor, *product])
    if offset:
        text += f" {'+' if offset > 0 else '-'} {abs(offset)}"
    return text[3:] if text.startswith(" + ") and len(text) <= _LONGEST + 3 else None


def added(one: str, other: str | int, times: int = 1) -> str | int | None:
    """Return the sum of two; with `times` of -1 the difference."""
    first, second = read(one), {(): other} if isinstance(other, int) else read(other)
    if first is None or second is None:
        return None
    found = dict(first)
    for product, factor in second.items():
        found[product] = found.get(product, 0) + times * factor
    return _text(found)


def multiplied(one: str, other: str | int) -> str | int | None:
    """Return the product of two; None if the second is a number below 0."""
    first = read(one)
    if first is None:
        return None
    if isinstance(other, int):
        return _text({product: times * other for product, times in first.items()}) if other >= 0 else None
    second = read(other)
    if second is None:
        return None
    (product, times), (other_product, other_times) = _as_product(one, first), _as_product(other, second)
    return _text({tuple(sorted(product + other_product)): times * other_times})


def _as_product(text: str, terms: Sum) -> tuple[Product, int]:
    """Return the factors of an expression and its coefficient; a sum is one factor."""
    if len(terms) == 1:
        return next(iter(terms.items()))
    common = gcd(*terms.values())
    rest = text if common == 1 else _text({product: times // common for product, times in terms.items()})
    return (f"({rest})",), common


def divided(one: str | int, divisor: str | int) -> str | int | None:
    """Return the quotient if the division has no remainder for any values of the variables; otherwise None."""
    first = None if isinstance(one, int) else read(one)
    if first is None:
        return None
    if isinstance(divisor, int):
        if divisor < 1 or any(times % divisor for times in first.values()):
            return None
        return _text({product: times // divisor for product, times in first.items()})
    second = read(divisor)
    if second is None:
        return None
    if first == second:
        return 1
    (product, times), (other_product, other_times) = _as_product(str(one), first), _as_product(divisor, second)
    left = list(product)
    for name in other_product:
        if name not in left:
            return None
        left.remove(name)
    return _text({tuple(left): times // other_times}) if times % other_times == 0 else None


def rounded_down(one: str, divisor: int) -> str | int | None:
    """Return the quotient by a positive number, rounded down."""
    first = read(one)
    if first is None:
        return None
    if all(times % divisor == 0 for product, times in first.items() if product):
        return _text({product: times // divisor for product, times in first.items()})
    dividend = one if list(first.items()) == [((one,), 1)] else f"({one})"
    return _text({(f"({dividend}//{divisor})",): 1})


def variables_in(text: str | int) -> set[str]:
    """Return the variables in an expression."""
    if isinstance(text, int):
        return set()
    if text.isidentifier():
        return {text}
    factors = {factor for product in read(text) or {(text,): 1} for factor in product}
    return set().union(*map(_variables_in_factor, factors))


def _variables_in_factor(factor: str) -> set[str]:
    if is_variable(factor):
        return {factor}
    limit, quotient = limit_in(factor), quotient_in(factor)
    if limit is not None:
        return variables_in(limit.inner)
    return variables_in(factor[1:-1] if quotient is None else quotient.dividend)


def is_never_multiple(text: str, divisor: int) -> bool:
    """Return whether no values of its variables make an expression a multiple of a positive number: 6*N + 2 of 3."""
    terms = read(text) or {}
    common = gcd(divisor, *[times for product, times in terms.items() if product])
    return terms.get((), 0) % common != 0


def limited(one: str, most: int) -> str | None:
    """Return the minimum of the variable or expression and a positive number."""
    text = f"min({one}, {most})"
    return text if len(text) <= _LONGEST else None


def at_least(one: str, least: int) -> str | None:
    """Return the maximum of the variable or expression and a number that is not negative."""
    text = f"max({one}, {least})"
    return text if len(text) <= _LONGEST else None


class Limit(Record):
    """A factor that is the maximum or the minimum of an expression and a number: "max(N, 1)", "min(N, 512)"."""

    inner: str
    """The expression."""
    bound: int
    """The number."""
    is_maximum: bool

    def of(self, number: int) -> int:
        """Return the value of the factor if the expression is this number."""
        return max(number, self.bound) if self.is_maximum else min(number, self.bound)

    def can_be(self, number: int) -> bool:
        """Return whether the factor can have this value: a maximum is never below its number."""
        return self.of(number) == number


def limit_in(factor: str) -> Limit | None:
    """Return the maximum or minimum that a factor is; None for other factors."""
    inner, _, bound = factor.removesuffix(")").rpartition(", ")
    is_maximum = inner.startswith("max(")
    if not bound.isdecimal() or not (is_maximum or inner.startswith("min(")):
        return None
    return Limit(inner[len("max(") :], int(bound), is_maximum)


class Quotient(Record):
    """A factor that is an expression divided by a number and rounded down: "((N + 1)//2)"."""

    dividend: str
    divisor: int


def quotient_in(factor: str) -> Quotient | None:
    """Return the quotient that a factor is; None for other factors."""
    dividend, sign, divisor = factor[1:-1].rpartition("//")
    is_quotient = bool(sign) and factor.startswith("(") and divisor.isdecimal()
    return Quotient(dividend, int(divisor)) if is_quotient else None


def factor_of_dividend(text: str) -> int | None:
    """Return the number that an expression multiplies before it divides: 72 for "((72*N)//64)"; None for others."""
    quotient = quotient_in(text) if read(text) == {(text,): 1} else None
    terms = read(quotient.dividend.removeprefix("(").removesuffix(")")) if quotient is not None else None
    return gcd(*terms.values()) if terms else None


def is_natural(text: str) -> bool:
    """Return whether an expression is at least 0 for all values of its variables: each difference is in a maximum."""
    bound = lower_bound(text, 0)
    return bound is not None and bound >= 0


def lower_bound(text: str, least: int) -> int | None:
    """Return a number that an expression is never below, if no variable in it is below `least`; None if unknown."""
    terms = read(text)
    if terms is None:
        return None
    bounds_of_terms = [_lower_bound_of_term(*term, least) for term in terms.items()]
    known = [bound for bound in bounds_of_terms if bound is not None]
    return sum(known) if len(known) == len(bounds_of_terms) else None


def _lower_bound_of_term(product: Product, times: int, least: int) -> int | None:
    bound = times
    for factor in product:
        part = _lower_bound_of_factor(factor, least)
        if part is None or min(bound, part) < 0:
            return None
        bound *= part
    return bound


def _lower_bound_of_factor(factor: str, least: int) -> int | None:
    if is_variable(factor):
        return least
    limit, quotient = limit_in(factor), quotient_in(factor)
    if limit is not None:
        inner = lower_bound(limit.inner, least)
        without_inner = limit.bound if limit.is_maximum else None
        return without_inner if inner is None else limit.of(inner)
    if quotient is None:
        return lower_bound(factor[1:-1], least)
    inner = lower_bound(quotient.dividend, least)
    return None if inner is None else inner // quotient.divisor


def is_part(one: str, whole: str) -> bool:
    """Return whether an expression is known to be at most another: a quotient of it, or a minimum with it."""
    quotient, limit = quotient_in(one), limit_in(one)
    if quotient is not None:
        return quotient.dividend == (whole if whole.isidentifier() else f"({whole})")
    return limit is not None and not limit.is_maximum and limit.inner == whole


def broadcast_with_minimum(one: str, other: str) -> str | None:
    """Return the result of broadcasting an expression with a minimum of itself and a number; None for other pairs.

    If the number is less, it must be 1, or the two cannot be broadcast.
    """
    for whole, part in ((one, other), (other, one)):
        limit = limit_in(part)
        if limit is not None and not limit.is_maximum and limit.inner == whole:
            return whole
    return None
