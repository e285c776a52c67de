# SPDX-License-Identifier: Apache-2.0
"""Operators with a result whose size is the number of elements that fulfil a condition, or a requested number."""

from __future__ import annotations

import math
from typing import Final

from onnx_lint.inference.shapes.dims import Dim, are_sizes, product
from onnx_lint.inference.shapes.equations import solve
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, WrongValue
from onnx_lint.inference.shapes.registration import register_rule

_BOXES: Final = "boxes[b s 4] scores[b c s] most[] overlap[] score[] -> selected[? 3]"
"""Three numbers identify a selected box: batch, class and index."""


@register_rule("NonMaxSuppression", reads=(3,))
def non_max_suppression(node: Operands) -> Outputs:
    """Infer the selected boxes. The largest overlap that is kept is a share of the union of two boxes."""
    found = solve(_BOXES, node)
    overlap = node.first_element(3)
    if isinstance(overlap, int | float) and not 0 <= overlap <= 1:
        problem = WrongValue(Element(3, overlap), "the range is 0 to 1", "0 to 1", is_without_shapes=True)
        node.problems.append(problem)
    return found


@register_rule("Compress", reads=(1,))
def compress(node: Operands) -> Outputs:
    """Infer the slices along the axis, or the elements without an axis, for which the condition is true.

    Consumers accept a scalar input until version 10.
    """
    node.shape(1, 1)
    shape = node.shape(0, at_least=0 if node.version < _NO_SCALAR else 1)
    axis = node.integer("axis")
    if axis is None:
        return [(_chosen(node, product(shape) if shape is not None else None),)]
    if shape is None:
        return UNKNOWN
    place = node.axis(axis, len(shape), "axis")
    return UNKNOWN if place is None else [(*shape[:place], _chosen(node, shape[place]), *shape[place + 1 :])]


def _chosen(node: Operands, size: Dim) -> Dim:
    """Return how many of `size` elements the condition selects; it may be shorter."""
    condition = node.content(1)
    if not isinstance(size, int) or not are_sizes(condition):
        return None
    return sum(map(bool, condition[:size]))


_NO_SCALAR = 11
"""The first version of Compress for which consumers reject a scalar."""


@register_rule("NonZero", reads=(0,))
def non_zero(node: Operands) -> Outputs:
    """Infer a row for each dimension, and a column for each element that is not 0."""
    shape, content = node.shape(0), node.content(0)
    is_known = content is not None and all(isinstance(each, int | float) for each in content)
    return [(len(shape) if shape is not None else None, sum(map(bool, content or ())) if is_known else None)]


@register_rule("OneHot", reads=(0, 1))
def one_hot_without_negative_indices(node: Operands) -> Outputs:
    """Infer the shape as from version 11 on. Before, an index must be at least 0, but may be too large."""
    indices = enumerate(node.content(0) or ())
    wrong = [each for each in indices if isinstance(each[1], int | float) and each[1] <= -1]  # cast toward 0
    if wrong:
        at, index = wrong[0]
        node.too_small(0, index, 0, index=at)
        node.also_wrong(0, wrong[1:])
    return one_hot(node)


@register_rule("OneHot:11", reads=(1,))
def one_hot(node: Operands) -> Outputs:
    """Infer the indices with one more dimension, of the size `depth`."""
    indices, depth = node.shape(0, at_least=1), node.scalar(1)
    if node.shape(2, 1) is not None:
        node.same((2, 0), 2, None)
    if isinstance(depth, float):
        depth = math.trunc(depth) if math.isfinite(depth) else None
    if not node.at_least(0, (depth,), 1) or indices is None:
        return UNKNOWN
    axis = node.axis(node.integer("axis", -1), len(indices) + 1, "axis")
    return UNKNOWN if axis is None else [(*indices[:axis], depth, *indices[axis:])]


@register_rule("TopK", reads=(1,))
def top_k(node: Operands) -> Outputs:
    """Infer the first k elements along an axis. k is an attribute up to version 9, then an input of one element."""
    shape = node.shape(0)
    source: int | str = "k"
    count: Dim = node.integer("k")
    if node.version >= _AS_INPUT:
        source, listed = 1, node.integers_in(1)
        if listed is not None and not node.has_count(1, len(listed), 1):
            return UNKNOWN
        count = listed[0] if listed else None
    if not node.at_least(1, (count,), source) or shape is None:
        return UNKNOWN
    axis = node.axis(node.integer("axis", -1), len(shape), "axis")
    if axis is None:
        return UNKNOWN
    size = shape[axis]
    if isinstance(size, int) and isinstance(count, int) and count > size:
        reason = f"there are {size} elements along the axis"
        place = 0 if source == 1 else None
        node.wrong_value(source, count, reason, index=place, allowed=f"at most {size}", about_data=True)
        return UNKNOWN
    return [(*shape[:axis], count, *shape[axis + 1 :])] * 2


_AS_INPUT = 10
"""The first version with an input for the number."""


@register_rule("Unique", reads=(0,))
def unique(node: Operands) -> Outputs:
    """The distinct slices along an axis, or elements without one; and the index of each slice of
    the input among them.
    """
    shape = node.shape(0)
    axis = node.integer("axis")
    if axis is None:
        content = node.content(0)
        # Floating-point elements decide no shape: see `floats_read`.
        is_known = are_sizes(content) and node.fact(0).kind in ("tensor(int32)", "tensor(int64)")
        count = len(set(map(str, content or ()))) if is_known else None
        return [(count,), (count,), (product(shape) if shape is not None else None,), (count,)]
    if shape is None:
        return [None, (None,), (None,), (None,)]
    place = node.axis(axis, len(shape), "axis")
    if place is None:
        return UNKNOWN
    return [(*shape[:place], None, *shape[place + 1 :]), (None,), (shape[place],), (None,)]
