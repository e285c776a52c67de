# SPDX-License-Identifier: Apache-2.0
"""Dimensions as sums of products, for equations."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.shapes.expression import Sum, limit_in, read


def terms_of(dim: int | str) -> Sum:
    """Return a dimension as a sum. A name that is ambiguous in an expression is a variable of its own."""
    return {(): dim} if isinstance(dim, int) else read(dim) or {(dim,): 1}


def factors_of(dim: int | str) -> Iterator[str]:
    """Yield the factors in the products of a dimension."""
    for product in terms_of(dim):
        yield from product


def difference(left: Sum, right: Sum) -> Sum:
    """Return the difference of two sums, without terms that are 0."""
    found = {product: left.get(product, 0) - right.get(product, 0) for product in {**left, **right}}
    return {product: times for product, times in found.items() if times}


def number_of(terms: Sum) -> int | None:
    """Return the value of a sum without variables; None for others."""
    return terms.get((), 0) if all(not product or not times for product, times in terms.items()) else None


def integer_root(number: int, degree: int) -> int | None:
    """Return the integer whose power is a number from 0 to 2**63; None if there is none."""
    # The square root is below 2**32: a float has it exactly, but not the number itself.
    root = number if degree == 1 else round(number ** (1 / degree))
    return root if root**degree == number else None


def is_impossible(terms: Sum, number: int) -> bool:
    """Return whether a multiple of one quotient, minimum or maximum and a number add up to 0 for no value of it."""
    [(product, times), *others] = terms.items()
    if others or len(product) != 1:
        return False
    size, remainder = divmod(-number, times)
    limit = limit_in(product[0])
    return bool(remainder) or (limit is not None and not limit.can_be(size))
