# SPDX-License-Identifier: Apache-2.0
"""Operators that reduce the numbers along axes to one."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import NumberSource
from onnx_lint.inference.shapes.registration import register_rule


@register_rule(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare", reads=(1,),
)  # fmt: skip
def reduce(node: Operands) -> Outputs:
    """Infer the shape in which the axes become 1 or are left out: all axes if none are listed."""
    shape = node.shape(0)
    source: int | str = 1 if node.given(1) else "axes"
    listed = node.integers_in(1) if node.given(1) else node.integers("axes")
    keeps = node.integer("keepdims", 1) == 1
    if shape is None:
        return UNKNOWN
    if node.given(1) and listed is None:
        return [(None,) * len(shape)] if keeps else UNKNOWN
    return reduced(node, shape, listed, source)


def reduced(node: Operands, shape: Dims, listed: Dims | None, source: NumberSource) -> Outputs:
    """Return the shape without the listed axes, or with 1 for them; `source` lists them."""
    keeps = node.integer("keepdims", 1) == 1
    if not listed:
        if node.integer("noop_with_empty_axes", 0):
            return [shape]
        axes: tuple[int, ...] | None = tuple(range(len(shape)))
    else:
        # An axis that is listed twice is reduced once.
        axes = node.axes(listed, len(shape), source, repeated=True)
    if axes is None:
        return unknown_of_rank(node, len(shape) if keeps else rank_without(shape, listed))
    return [tuple([1 if axis in axes else dim for axis, dim in enumerate(shape) if keeps or axis not in axes])]


def rank_without(shape: Dims, listed: Sequence[object] | None) -> int | None:
    """Return the rank without the listed axes, one of which is unknown; None if axes may be listed twice."""
    return len(shape) - 1 if shape and listed is not None and len(listed) == 1 else None


def unknown_of_rank(node: Operands, rank: int | None) -> Outputs:
    """Return an output of unknown dimensions; of unknown rank if `rank` is None, and after a problem."""
    return UNKNOWN if rank is None or node.problems else [(None,) * rank]


@register_rule("ArgMax", "ArgMin")
def index_of(node: Operands) -> Outputs:
    """Infer the shape in which the axis becomes 1 or is left out."""
    shape = node.shape(0, at_least=1 if node.version >= _IN_RANGE else 0)
    if shape is None:
        return UNKNOWN
    if not shape:
        # Until version 10 no range is stated, and consumers accept axis 0 of a scalar, as NumPy does.
        if node.integer("axis", 0) not in (0, -1):
            node.axis(node.integer("axis", 0), 0, "axis")
        return [()]
    axis = node.axis(node.integer("axis", 0), len(shape), "axis")
    if axis is None:
        return UNKNOWN
    kept = (1,) if node.integer("keepdims", 1) == 1 else ()
    return [shape[:axis] + kept + shape[axis + 1 :]]


_IN_RANGE = 11
"""The first version of ArgMax and ArgMin that requires the axis to be in the range of the input's."""
