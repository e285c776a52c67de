# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on dimensions, known and unknown.

A dimension is a size, a variable or an expression of variables, or None if unknown. Sizes here are Python integers of
any size; `Operands.finished` rejects those that exceed an int64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, TypeGuard

from onnx_lint.inference.shapes import expression

Dim = int | str | None
"""A size, a variable or an expression of variables, or None for unknown."""

Dims = tuple[Dim, ...]
"""The dimensions of a tensor of known rank."""

Shape = Dims | None
"""The dimensions of a tensor; None if even the rank is unknown."""

SIZE_LIMIT: Final = 2**63
"""Sizes and numbers of elements are less: ONNX stores both as int64."""


def are_sizes(dims: Iterable[Dim | float] | None) -> TypeGuard[tuple[int, ...]]:
    """Return whether all of them are known integers, as sizes are. Axes and other numbers may be negative."""
    return dims is not None and all(isinstance(dim, int) for dim in dims)


def as_size(number: Dim | float) -> Dim:
    """Return a number as a dimension; None if it is unknown, a float or negative."""
    return None if isinstance(number, float) or (isinstance(number, int) and number < 0) else number


def agree(one: Dim, other: Dim) -> bool:
    """Return whether two dimensions may be equal: two different sizes are not, variables and
    unknown may be anything.
    """
    return one == other or not (isinstance(one, int) and isinstance(other, int))


def unified(one: Dim, other: Dim) -> Dim:
    """Return a dimension from two descriptions: a size rather than a variable, the first rather than the second.

    Of two different sizes it is the first.
    """
    if isinstance(one, int) or other is None:
        return one
    return other if isinstance(other, int) or one is None else one


def union(one: Shape, other: Shape) -> Shape:
    """Return the common part of two shapes of a value that has one or the other."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple([first if first == second else None for first, second in zip(one, other, strict=True)])


def add(one: Dim, other: Dim) -> Dim:
    """Return the sum: of a variable and a number an expression such as "N + 1"; None if it is unknown."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    if one == 0:
        return other
    if other == 0 or one is None or other is None:
        return one if other == 0 else None
    return expression.added(one, other) if isinstance(one, str) else expression.added(str(other), one)


def subtract(one: Dim, other: Dim) -> Dim:
    """Return the difference, which may be negative; an expression if variables are left."""
    if isinstance(one, int) and isinstance(other, int):
        return one - other
    if other == 0 or not isinstance(one, str) or other is None:
        return one if other == 0 else None
    return expression.added(one, other, -1)


def multiply(one: Dim, other: Dim) -> Dim:
    """Return the product, an expression such as "2*N" or "N*M"; None if a factor is unknown and the other is not 0."""
    if isinstance(one, int) and isinstance(other, int):
        return one * other
    if one == 0 or other == 0:
        return 0
    if one == 1:
        return other
    if other == 1 or one is None or other is None:
        return one if other == 1 else None
    return expression.multiplied(one, other) if isinstance(one, str) else expression.multiplied(str(other), one)


def is_natural(dim: Dim) -> bool:
    """Return whether a sum or difference is known and at least 0, for all values of its variables."""
    if isinstance(dim, int) or dim is None:
        return dim is not None and dim >= 0
    return " - " not in dim or ("(" in dim and (expression.is_natural(dim) or _is_never_negative(dim)))


def _is_never_negative(dim: str) -> bool:
    from onnx_lint.inference.shapes.one_variable import is_natural

    return is_natural(dim)


def is_positive(dim: Dim) -> bool:
    """Return whether a dimension is known and at least 1, for all values of its variables that are."""
    if isinstance(dim, int) or dim is None:
        return dim is not None and dim > 0
    if dim.isidentifier():
        return True
    bound = expression.lower_bound(dim, 1)
    return bound is not None and bound > 0


def at_least(dim: Dim, least: int) -> Dim:
    """Return the maximum of a dimension or difference and a number that is not negative."""
    if isinstance(dim, int) or dim is None:
        return dim if dim is None else max(dim, least)
    return dim if is_natural(subtract(dim, least)) else expression.at_least(dim, least)


def at_most(dim: Dim, most: int) -> Dim:
    """Return the minimum of a dimension and a number that is not negative."""
    if isinstance(dim, int) or dim is None:
        return dim if dim is None else min(dim, most)
    return most if not most or is_natural(subtract(dim, most)) else expression.limited(dim, most)


def product(dims: Iterable[Dim]) -> Dim:
    """Return the product of all; 1 for none."""
    size: Dim = 1
    result: Dim = 1
    for dim in dims:
        # Multiply numbers separately, so that they can be recognized when a product of sums is divided.
        if isinstance(dim, int):
            size = multiply(size, dim)
        else:
            result = multiply(result, dim)
    return multiply(result, size)


def total(dims: Iterable[Dim]) -> Dim:
    """Return the sum of all; 0 for none."""
    result: Dim = 0
    for dim in dims:
        result = add(result, dim)
    return result


def divide(one: Dim, divisor: Dim) -> Dim:
    """Return the quotient if the division has no remainder for any values of the variables; otherwise None."""
    if isinstance(one, int) and isinstance(divisor, int):
        return one // divisor if divisor and one % divisor == 0 else None
    if divisor == 1 or one is None or divisor is None:
        return one if divisor == 1 else None
    return expression.divided(one, divisor)


def divide_down(one: Dim, divisor: int) -> Dim:
    """Return the quotient by a positive number, rounded down."""
    if isinstance(one, int) or divisor == 1 or one is None:
        return one // divisor if isinstance(one, int) else one
    return expression.rounded_down(one, divisor)


def sliced(size: int, start: int, end: int, step: int) -> range:
    """Return the indices of a slice. Its bounds may lie before the first element, or after the last one."""
    start, end = (bound + size if bound < 0 else bound for bound in (start, end))
    least, most = (0, size) if step > 0 else (-1, size - 1)
    return range(min(max(start, 0), most), min(max(end, least), most), step)


def broadcast(shapes: Sequence[Dims]) -> Dims:
    """Return the result of broadcasting the shapes as NumPy does; if two sizes clash, the first that is not 1."""
    rank = max(map(len, shapes), default=0)
    return tuple([_broadcast_at([shape[at] for shape in shapes if len(shape) >= -at]) for at in range(-rank, 0)])


def _broadcast_at(dims: Sequence[Dim]) -> Dim:
    size = next((dim for dim in dims if isinstance(dim, int) and dim != 1), None)
    if size is not None:
        return size
    # The rest are sizes of 1, variables and unknown dimensions. Each of them may be 1.
    others = {dim for dim in dims if dim != 1}
    if not others:
        return 1
    one, *more = others
    if len(more) == 1 and isinstance(one, str) and isinstance(more[0], str):
        return expression.broadcast_with_minimum(one, more[0])
    return one if not more else None


def clashes(shapes: Sequence[Dims]) -> list[tuple[int, int, int]]:
    """Return the clashes in broadcasting: the indices of two shapes, and the axis from the end (-1, -2, ...)."""
    found: list[tuple[int, int, int]] = []
    for at in range(-1, -max(map(len, shapes), default=0) - 1, -1):
        first: tuple[int, int] | None = None
        for index, shape in enumerate(shapes):
            dim = shape[at] if len(shape) >= -at else 1
            if isinstance(dim, int) and dim != 1:
                if first is None:
                    first = index, dim
                elif first[1] != dim:
                    found.append((first[0], index, at))
    return found


def may_count_the_same(one: Dims, other: Dims) -> bool:
    """Return whether two shapes may have the same number of elements, none of their variables being 0.

    A variable that both have cancels out. An expression counts as a variable of its own.
    """
    left, right = list(one), list(other)
    for dim in one:
        if isinstance(dim, str) and dim in right:
            left.remove(dim)
            right.remove(dim)
    sizes = [math.prod(dim for dim in side if isinstance(dim, int)) for side in (left, right)]
    are_open = [any(not isinstance(dim, int) for dim in side) for side in (left, right)]
    if all(are_open) or sizes[0] == sizes[1]:
        return True
    if not any(are_open):
        return False
    # The open dimensions on one side may supply the missing factor.
    known, whole = sizes if are_open[0] else reversed(sizes)
    return known != 0 and whole % known == 0
