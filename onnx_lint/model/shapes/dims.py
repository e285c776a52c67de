# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on dimensions of which not all are known.

A dimension is a size, the name of a variable that stands for one, or None where nothing is known. Sizes are Python
integers here, however large; `Operands.finished` ends those that an int64 cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeGuard

Dim = int | str | None
"""A size, a variable, or unknown."""

Dims = tuple[Dim, ...]
"""The dimensions of a tensor of known rank."""

Shape = Dims | None
"""The dimensions of a tensor; None where not even the rank is known."""

SIZE_LIMIT: Final = 2**63
"""No size, and no number of elements, reaches this: ONNX keeps both in int64."""


def are_sizes(dims: Iterable[Dim | float] | None) -> TypeGuard[tuple[int, ...]]:
    """Whether the dimensions are known and all of them are sizes."""
    return dims is not None and all(isinstance(dim, int) for dim in dims)


def agree(one: Dim, other: Dim) -> bool:
    """Whether two dimensions may be the same: two sizes that differ are not, variables and unknown fit everything."""
    return one == other or not (isinstance(one, int) and isinstance(other, int))


def unified(one: Dim, other: Dim) -> Dim:
    """What is known of a dimension that two dimensions describe: a size before a variable, the first before the other.

    Of two sizes that differ the first.
    """
    if isinstance(one, int) or other is None:
        return one
    return other if isinstance(other, int) or one is None else one


def union(one: Shape, other: Shape) -> Shape:
    """What is known of a value that has the one or the other shape."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple([first if first == second else None for first, second in zip(one, other, strict=True)])


def add(one: Dim, other: Dim) -> Dim:
    """The sum; a variable is kept where 0 is added to it."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    if one == 0:
        return other
    return one if other == 0 else None


def multiply(one: Dim, other: Dim) -> Dim:
    """The product; a variable is kept where it is multiplied by 1, and nothing of a dimension by 0."""
    if isinstance(one, int) and isinstance(other, int):
        return one * other
    if one == 1:
        return other
    return one if other == 1 else None


def product(dims: Iterable[Dim]) -> Dim:
    """The product of all; 1 for none."""
    result: Dim = 1
    for dim in dims:
        result = multiply(result, dim)
    return result


def total(dims: Iterable[Dim]) -> Dim:
    """The sum of all; 0 for none."""
    result: Dim = 0
    for dim in dims:
        result = add(result, dim)
    return result


def divide(one: Dim, divisor: Dim) -> Dim:
    """The quotient of what divides without a rest; unknown for anything else."""
    if isinstance(one, int) and isinstance(divisor, int) and divisor and one % divisor == 0:
        return one // divisor
    return one if divisor == 1 else None


def broadcast(shapes: Sequence[Dims]) -> Dims:
    """The shape to which the shapes are broadcast as in NumPy; where two sizes clash, the first that is not 1."""
    rank = max(map(len, shapes), default=0)
    return tuple([_broadcast_at([shape[at] for shape in shapes if len(shape) >= -at]) for at in range(-rank, 0)])


def _broadcast_at(dims: Sequence[Dim]) -> Dim:
    size = next((dim for dim in dims if isinstance(dim, int) and dim != 1), None)
    if size is not None:
        return size
    # What is left are sizes of 1, variables and unknown dimensions, each of which may be 1.
    others = {dim for dim in dims if dim != 1}
    if not others:
        return 1
    return others.pop() if len(others) == 1 else None


def clash(shapes: Sequence[Dims]) -> tuple[int, int, int] | None:
    """Where broadcasting fails first: the indices of two of the shapes, and the axis from the end (-1, -2, ...)."""
    for at in range(-1, -max(map(len, shapes), default=0) - 1, -1):
        first: tuple[int, int] | None = None
        for index, shape in enumerate(shapes):
            dim = shape[at] if len(shape) >= -at else 1
            if isinstance(dim, int) and dim != 1:
                if first is None:
                    first = index, dim
                elif first[1] != dim:
                    return first[0], index, at
    return None


def describe(shape: Sequence[object] | None) -> str:
    """A shape for a message, as the textual syntax of ONNX writes it: "[2, N, ?]", "[]"; "of unknown rank" for None."""
    if shape is None:
        return "of unknown rank"
    return f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"
