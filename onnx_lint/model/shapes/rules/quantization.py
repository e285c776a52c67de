# SPDX-License-Identifier: Apache-2.0
"""Operators that turn numbers into small integers and back."""

from __future__ import annotations

from onnx_lint.model.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.model.shapes.registration import shapes_of


@shapes_of("QuantizeLinear", "DequantizeLinear")
def per_tensor(node: Operands) -> Outputs:
    """Until version 12 scale and zero point are scalars."""
    node.scalar(1)
    node.scalar(2)
    return [node.shape(0)]


@shapes_of("QuantizeLinear:13", "DequantizeLinear:13")
def per_axis(node: Operands) -> Outputs:
    """One scale for all, or one for each index of the axis; from version 21 on also for each block along it."""
    data, scale = node.shape(0), node.shape(1)
    if data is None or scale is None:
        return [data]
    block = node.integer("block_size", 0)
    if block < 0:
        node.wrong_value("block_size", block, "at least 0")
    if len(scale) == 0 or (len(scale) == 1 and scale[0] == 1 and not block):
        pass  # all of the tensor
    elif block > 0:
        _blocks(node, len(data), block)
    elif len(scale) == 1:
        axis = node.axis(node.integer("axis", 1), len(data), "axis") if data else None
        if axis is not None:
            node.equal((0, axis), (1, 0))
    _same_zero_point(node, len(scale))
    return [data]


def _blocks(node: Operands, rank: int, block: int) -> None:
    """Blocks of a size along one axis, with a scale each; the other axes are those of the input."""
    axis = node.axis(node.integer("axis", 1), rank, "axis")
    if axis is None or node.shape(1, rank, like=0) is None:
        return
    for place in range(rank):
        if place != axis:
            node.equal((0, place), (1, place))
    size, count = node.dim(0, axis), node.dim(1, axis)
    by = node.place(0, axis)
    if isinstance(size, int) and isinstance(count, int) and by is not None and -(-size // block) != count:
        node.same((1, axis), -(-size // block), by)


def _same_zero_point(node: Operands, rank: int) -> None:
    """Scale and zero point have the same shape; one of a single element goes with any scale."""
    zero = node.fact(2).shape
    if zero is None or not zero or not rank:
        return
    if len(zero) == rank:
        for axis in range(rank):
            node.equal((1, axis), (2, axis))


@shapes_of("DynamicQuantizeLinear")
def dynamic(node: Operands) -> Outputs:
    """The numbers, and their scale and zero point, which are scalars."""
    return [node.shape(0), (), ()] if node.given(0) else UNKNOWN
