# SPDX-License-Identifier: Apache-2.0
"""Expressions of variables that stand for dimensions: "2*N", "N + 1", "M*N", "((N - 1)//2) + 1", "min(N, 512)".

They are texts, as the variables of a model are, so that dimensions are compared by their texts: "N*M" is never written
for "M*N". PyTorch and ONNX Runtime write such texts into models as names of variables, and mean them so. No expression
grows beyond `_LONGEST`: what would is unknown.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from onnx_lint.common.cached import Memory

_LONGEST: Final = 96
"""Longer texts are not calculated with, and not made."""

_GREATEST: Final = 2**63
"""Factors and summands stay below it, as sizes do."""

Product = tuple[str, ...]
"""Variables, quotients and sums in parentheses, and minima, in alphabetical order, also several times the same."""

Sum = dict[Product, int]
"""How often each product is added; what stands for the empty product is added as it is."""

_read: Final[Memory[str, Sum | None]] = Memory(2_000)


def read(text: str) -> Sum | None:
    """What a variable or an expression is the sum of; None for a text that is neither, with which nothing is done."""
    if text in _read:
        return _read[text]
    return _read.keep(text, _parsed(text) if len(text) <= _LONGEST else None)


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
    """The parts between the signs that stand in no parentheses."""
    found = [""]
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == sign and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found


def _is_name(text: str) -> bool:
    """Whether a factor is a variable whose name can be told apart in an expression, or stands in parentheses."""
    if text.startswith(("(", "min(")) and text.endswith(")"):
        return True
    return bool(text) and not text.isdecimal() and not any(each in text for each in "+()")


def _text(terms: Sum) -> str | int | None:
    """The text of a sum; an integer where no variable is left, and None for a text that would be too long."""
    left = {product: times for product, times in terms.items() if times}
    offset = left.pop((), 0)
    if not left:
        return offset
    if max(map(abs, (offset, *left.values()))) >= _GREATEST:
        return None
    text = ""
    # A sum begins with what is added, and no variable is only taken away.
    for product, times in sorted(left.items(), key=lambda term: (term[1] < 0, term[0])):
        factor = [str(abs(times))] if abs(times) != 1 else []
        text += (" + " if times > 0 else " - ") + "*".join([*factor, *product])
    if offset:
        text += f" {'+' if offset > 0 else '-'} {abs(offset)}"
    return text[3:] if text.startswith(" + ") and len(text) <= _LONGEST + 3 else None


def added(one: str, other: str | int, times: int = 1) -> str | int | None:
    """The sum of two; with `times` of -1 the difference."""
    first, second = read(one), {(): other} if isinstance(other, int) else read(other)
    if first is None or second is None:
        return None
    found = dict(first)
    for product, factor in second.items():
        found[product] = found.get(product, 0) + times * factor
    return _text(found)


def multiplied(one: str, other: str | int) -> str | int | None:
    """The product of two; None where the second is a number below 1."""
    first = read(one)
    if first is None:
        return None
    if isinstance(other, int):
        return _text({product: times * other for product, times in first.items()}) if other > 0 else None
    second = read(other)
    if second is None:
        return None
    (product, times), (other_product, other_times) = _as_product(one, first), _as_product(other, second)
    return _text({tuple(sorted(product + other_product)): times * other_times})


def _as_product(text: str, terms: Sum) -> tuple[Product, int]:
    """The factors of an expression, and the number that all of it is multiplied with; a sum is a factor by itself."""
    if len(terms) == 1:
        return next(iter(terms.items()))
    common = gcd(*terms.values())
    rest = text if common == 1 else _text({product: times // common for product, times in terms.items()})
    return (f"({rest})",), common


def divided(one: str | int, divisor: str | int) -> str | int | None:
    """The quotient of what divides without a rest, whatever the variables stand for; None for anything else."""
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
    """The quotient, rounded down, by a number above 0."""
    first = read(one)
    if first is None:
        return None
    if all(times % divisor == 0 for product, times in first.items() if product):
        return _text({product: times // divisor for product, times in first.items()})
    dividend = one if list(first.items()) == [((one,), 1)] else f"({one})"
    return _text({(f"({dividend}//{divisor})",): 1})


def limited(one: str, most: int) -> str | None:
    """The variable or expression, or a number above 0 where that is less."""
    text = f"min({one}, {most})"
    return text if len(text) <= _LONGEST else None


def broadcast_with_limited(one: str, other: str) -> str | None:
    """What comes of broadcasting an expression with a minimum of itself and a number; None for other pairs.

    Where the number is less it has to be 1, or the two do not fit.
    """
    for whole, part in ((one, other), (other, one)):
        if part.startswith(f"min({whole}, ") and part[len(whole) + 6 : -1].isdecimal():
            return whole
    return None
