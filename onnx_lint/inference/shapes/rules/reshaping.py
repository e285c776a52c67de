# SPDX-License-Identifier: Apache-2.0
"""Operators that change the shape of a tensor, and operators that return its shape."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from math import prod

from onnx_lint.inference.shapes.dims import (
    Dim,
    Dims,
    Shape,
    are_sizes,
    broadcast,
    divide,
    divide_down,
    is_positive,
    multiply,
    product,
)
from onnx_lint.inference.shapes.expression import is_never_multiple
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import AxisOutOfRange, Element
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.inference.shapes.rules.reduction import rank_without, unknown_of_rank
from onnx_lint.wording import describe_shape, quote


@register_rule("Shape")
def shape_of(node: Operands) -> Outputs:
    """Infer an element for each dimension of the input, from version 15 on for those from `start` to `end`."""
    shape = node.shape(0)
    if shape is None:
        return [(None,)]
    return [(len(shape[node.integer("start", 0) : node.integer("end")]),)]


@register_rule("Size")
def size_of(node: Operands) -> Outputs:
    """Return the shape of a scalar."""
    return [()]


@register_rule("Transpose")
def transpose(node: Operands) -> Outputs:
    """Infer the dimensions in the order of `perm`, or in reverse."""
    shape, perm = node.shape(0), node.integers("perm")
    if shape is None:
        return UNKNOWN if perm is None else [(None,) * len(perm)]
    if perm is None:
        return [shape[::-1]]
    if not node.has_count("perm", len(perm), len(shape), 0):
        return UNKNOWN
    axes = node.axes(perm, len(shape), "perm", negative=False)
    return UNKNOWN if axes is None else [tuple([shape[axis] for axis in axes])]


@register_rule("Flatten")
def flatten(node: Operands) -> Outputs:
    """Infer a matrix: the product of the dimensions before `axis`, and of those from it on."""
    shape = node.shape(0)
    if shape is None:
        return [(None, None)]
    axis, rank = node.integer("axis", 1), len(shape)
    least = -rank if node.version >= _NEGATIVE_AXES else 0
    # The axis may be one after the last dimension.
    if not least <= axis <= rank:
        node.problems.append(AxisOutOfRange(Element("axis", axis), rank + 1, least))
        return UNKNOWN
    place = axis + rank if axis < 0 else axis
    return [(product(shape[:place]), product(shape[place:]))]


_NEGATIVE_AXES = 11
"""The first version in which negative axes count from the end."""


@register_rule("Squeeze", reads=(1,))
def squeeze(node: Operands) -> Outputs:
    """Infer the shape without those axes, each of size 1; if none are listed, without all axes of size 1."""
    shape = node.shape(0)
    source, given = (1, node.given(1)) if node.version >= 13 else ("axes", node.has("axes"))
    listed = None
    if given:
        listed = node.integers_in(1) if node.version >= 13 else node.integers("axes")
    if shape is None or (given and listed is None):
        return UNKNOWN
    if listed is None:
        return [tuple([dim for dim in shape if dim != 1])] if are_sizes(shape) else UNKNOWN
    # An axis that is listed twice is squeezed once.
    axes = node.axes(listed, len(shape), source, repeated=True, negative=node.version >= _NEGATIVE_AXES)
    if axes is None:
        return unknown_of_rank(node, rank_without(shape, listed))
    for index, axis in enumerate(axes):
        node.same((0, axis), 1, Element(source, listed[index], index))
    return [tuple([dim for axis, dim in enumerate(shape) if axis not in axes])]


@register_rule("Unsqueeze", reads=(1,))
def unsqueeze(node: Operands) -> Outputs:
    """Infer the shape with dimensions of size 1 at those axes of the output."""
    shape = node.shape(0)
    listed = node.integers_in(1) if node.version >= 13 else node.integers("axes")
    if shape is None or listed is None:
        return UNKNOWN
    rank = len(shape) + len(listed)
    source = 1 if node.version >= 13 else "axes"
    axes = node.axes(listed, rank, source, negative=node.version >= _NEGATIVE_AXES)
    if axes is None:
        return UNKNOWN if node.problems else [(None,) * rank]
    rest = iter(shape)
    return [tuple([1 if axis in axes else next(rest) for axis in range(rank)])]


@register_rule("Expand", reads=(1,))
def expand(node: Operands) -> Outputs:
    """Infer the input broadcast with the shape in the second input."""
    shape, target = node.shape(0), node.integers_in(1)
    if target is None or not node.at_least(0, target, 1) or shape is None:
        return UNKNOWN
    for axis in range(-1, -min(len(shape), len(target)) - 1, -1):
        asked = target[axis]
        if isinstance(asked, int) and asked != 1 and shape[axis] != 1:
            node.same((0, axis), asked, Element(1, asked, len(target) + axis))
    return [broadcast([shape, target])]


@register_rule("Tile:6", reads=(1,))
def tile(node: Operands) -> Outputs:
    """Infer each dimension times its number of repeats."""
    shape, repeats = node.shape(0), node.integers_in(1)
    if repeats is None:
        return UNKNOWN if shape is None else [(None,) * len(shape)]
    if not node.at_least(0, repeats, 1):
        return UNKNOWN
    if shape is None:
        return [(None,) * len(repeats)]
    if not node.has_count(1, len(repeats), len(shape), 0):
        return UNKNOWN
    return [tuple([multiply(dim, times) for dim, times in zip(shape, repeats, strict=True)])]


@register_rule("Tile")
def tile_one_axis(node: Operands) -> Outputs:
    """Return an unknown size for each dimension. In version 1 the number of repeats and the axis are inputs."""
    node.scalar(1)
    node.scalar(2)
    shape = node.shape(0)
    return UNKNOWN if shape is None else [(None,) * len(shape)]


@register_rule("Reshape", reads=(1,))
def reshape(node: Operands) -> Outputs:
    """Infer the requested shape: 0 copies a dimension (unless `allowzero`), -1 is the rest of the elements."""
    source, asked = (1, node.integers_in(1)) if node.version >= 5 else ("shape", node.integers("shape"))
    shape = node.shape(0)
    if asked is None:
        return UNKNOWN
    rest: list[int] = [index for index, dim in enumerate(asked) if dim == -1]
    if len(rest) > 1:
        node.wrong_value(source, -1, f"element {rest[0]} is -1 as well", index=rest[1], allowed="-1 once")
    node.at_least(-1, asked, source)
    target: list[Dim] = list(asked)
    copied: set[int] = set()
    if not node.integer("allowzero", 0):
        copied = {index for index, dim in enumerate(asked) if dim == 0}
        target = _sure_sizes(_with_copies(node, source, shape, asked, copied), shape)
    if rest:
        target[rest[0]] = None
    if not node.problems and rest and 0 in target:
        # Any number fits, or none. Without `allowzero` ONNX does not say so; onnx, ONNX Runtime and NumPy refuse it.
        reason = f"element {target.index(0)} makes a dimension of 0, so no size can be computed for it"
        node.wrong_value(source, -1, reason, index=rest[0], allowed="a size", about_data=True)
    elif not node.problems and shape is not None:
        _count_elements(node, source, shape, target, rest=rest, copied=copied)
    return [tuple(target)]


def _sure_sizes(target: list[Dim], shape: Shape) -> list[Dim]:
    """Return the dimensions without expressions that may be 0: where they are, a dimension of the input is copied."""
    found: list[Dim] = []
    for dim, copy in zip_longest(target, (shape or ())[: len(target)]):
        is_sure = dim == copy or not isinstance(dim, str) or is_positive(dim)
        found.append(dim if is_sure else None)
    return found


def _with_copies(node: Operands, source: int | str, shape: Shape, asked: Dims, copied: set[int]) -> list[Dim]:
    """Return the requested shape with the dimensions that are copied from the input."""
    target: list[Dim] = list(asked)
    for index in sorted(copied):
        if shape is not None and index >= len(shape):
            reason = f"the input has no dimension {index} to copy"
            node.wrong_value(source, 0, reason, index=index, allowed="a size, or -1", about_data=True)
        target[index] = shape[index] if shape is not None and index < len(shape) else None
    return target


def _count_elements(
    node: Operands, source: int | str, shape: Dims, target: list[Dim], *, rest: list[int], copied: set[int]
) -> None:
    """Compare the numbers of elements, and insert the size for -1."""
    # Copied dimensions are on both sides and cancel, unless one is 0: nothing follows for the others then.
    if any(shape[index] == 0 for index in copied):
        copied = set()
    before, after = _without(shape, copied), _without(target, copied.union(rest))
    _cancel_variables(before, after)
    have, want = product(before), product(after)
    is_part = before != list(shape)
    of_all = "apart from the dimensions that both shapes have, " if is_part else ""
    if not isinstance(have, int) or not isinstance(want, int):
        if rest:
            _require_multiple(node, (source, rest[0]), of_all + describe_shape(before), have, want)
            target[rest[0]] = _exact_quotient(node, before, have, want)
        elif have is None and isinstance(want, int):
            _require_factor(node, source, (of_all, before), target, want)
        else:
            node.equal_counts(0, have, want)
    elif rest:
        if have % want:
            reason = f"{of_all}{describe_shape(before)} has {have} elements, which {want} does not divide"
            allowed = f"other sizes whose product divides {have}"
            node.wrong_value(source, -1, reason, index=rest[0], allowed=allowed, about_data=is_part)
        else:
            target[rest[0]] = _remaining_size(before, have, want)
    elif have != want:
        reason = f"{of_all}{describe_shape(before)} has {have} elements, but {describe_shape(after)} has {want}"
        allowed = f"a shape of {product(shape)} elements"
        node.wrong_value(source, tuple(target), reason, allowed=allowed, about_data=is_part)


def _without(dims: Sequence[Dim], axes: Collection[int]) -> list[Dim]:
    """Return the dimensions of all other axes."""
    return [dim for axis, dim in enumerate(dims) if axis not in axes]


def _require_multiple(node: Operands, at: tuple[int | str, int], before: str, have: Dim, want: Dim) -> None:
    """Record that no values of its variables make a number of elements, of `before`, a multiple of another one."""
    if isinstance(have, str) and isinstance(want, int) and is_never_multiple(have, want):
        reason = f"{before} has {quote(have)} elements, which {want} never divides"
        allowed = f"other sizes whose product divides {quote(have)}"
        node.wrong_value(at[0], -1, reason, index=at[1], allowed=allowed, about_data=True)


def _require_factor(
    node: Operands, source: int | str, data: tuple[str, list[Dim]], target: list[Dim], want: int
) -> None:
    """Record that a number of elements is no multiple of the known sizes of data with an unknown dimension."""
    of_all, before = data
    sizes = prod([dim for dim in before if isinstance(dim, int)])
    if want and (not sizes or want % sizes):
        reason = f"{of_all}{describe_shape(before)} has a multiple of {sizes} elements, but {want} is not a multiple"
        allowed = f"a shape whose number of elements is a multiple of {sizes}"
        node.wrong_value(source, tuple(target), reason, allowed=allowed, about_data=bool(of_all))


def _exact_quotient(node: Operands, before: Sequence[Dim], have: Dim, want: Dim) -> Dim:
    """Return the size for -1. If the quotient may have a remainder, keep that it must have none."""
    found = _remaining_size(before, have, want)
    if found is None and isinstance(have, str) and isinstance(want, int) and want > 0 and not node.problems:
        found = divide_down(have, want)
        node.equal_counts(0, have, multiply(found, want))
    return found


def _cancel_variables(one: list[Dim], other: list[Dim]) -> None:
    """Remove the variables that both lists have."""
    for dim in list(other):
        if isinstance(dim, str) and dim in one:
            one.remove(dim)
            other.remove(dim)


def _remaining_size(before: Sequence[Dim], have: Dim, want: Dim) -> Dim:
    """Return the size for -1: of dimensions with a product `have` it leaves a product `want`."""
    sizes = product([dim for dim in before if isinstance(dim, int)])
    others = [dim for dim in before if not isinstance(dim, int)]
    return others[0] if len(others) == 1 and sizes == want else divide(have, want)
