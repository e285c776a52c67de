# SPDX-License-Identifier: Apache-2.0
"""Operators that turn numbers into small integers and back."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, WrongValue
from onnx_lint.inference.shapes.registration import register_rule


@register_rule("QuantizeLinear")
@register_rule("DequantizeLinear", reads=(2,))
def quantize(node: Operands) -> Outputs:
    """Return the shape of the input. A scale is for all, for an index of the axis, or from version 21 on for a block.

    Until version 12 the descriptions have only scalars; ONNX Runtime also accepts a scale for each index of axis 1.
    A scale of one element may be a list, which exporters write; one of more dimensions needs blocks.
    """
    data, scale = node.shape(0), node.shape(1)
    block = node.integer("block_size", 0)
    if block < 0:
        node.too_small("block_size", block, 0)
    if scale is not None and len(scale) > 1 and block <= 0:
        node.wrong_rank(1, 0, 1, "block_size" if node.version >= _BY_BLOCK else None)
        return [data]
    if block > 0 or not _is_scale_alone_wrong(node):
        check_zero_points(node, 1, 2)
    if data is not None and scale and block > 0:
        _check_scales_of_blocks(node, len(data), block)
    elif data and scale:
        _check_scale_of_each_index(node, len(data))
    if node.operator == "DequantizeLinear" and not node.schema.domain:
        _check_zero_points_of_int32(node)
    return [data]


def _check_scale_of_each_index(node: Operands, rank: int) -> None:
    """Record several scales that are not one for each index along the axis, or whose axis is out of range."""
    if not _are_many((node.dim(1, 0),)):
        return
    axis = node.axis(node.integer("axis", 1), rank, "axis")
    if axis is not None:
        node.equal((0, axis), (1, 0))


def _is_scale_alone_wrong(node: Operands) -> bool:
    """Return whether there is a zero point for each index of the axis, and another number of scales."""
    data, scale, zero = node.shape(0), node.shape(1), node.shape(2)
    axis = node.integer("axis", 1)
    if not data or not -len(data) <= axis < len(data) or not scale or not zero or max(len(scale), len(zero)) > 1:
        return False
    is_other = _are_many(scale) and scale[0] != zero[0]
    return is_other and _are_many(zero) and zero[0] == data[axis]


def _check_zero_points_of_int32(node: Operands) -> None:
    """Record a zero point for numbers of type int32 that is not 0."""
    if node.fact(2).kind != "tensor(int32)" or node.problems:
        return
    wrong = [(at, zero) for at, zero in enumerate(node.content(2) or ()) if zero and isinstance(zero, int)]
    if wrong:
        (at, zero), *others = wrong
        reason = "int32 has no zero point other than 0"
        element = Element(2, zero, at, tuple(others))
        node.problems.append(WrongValue(element, reason, "0", is_without_shapes=True))


_BY_BLOCK = 21
"""The first version with scales of blocks."""


def _are_many(shape: Dims) -> bool:
    """Return whether a tensor is known not to have one element, which would fit everything."""
    return any(isinstance(dim, int) and dim != 1 for dim in shape)


def _check_scales_of_blocks(node: Operands, rank: int, block: int) -> None:
    """Record scales that are not one for each block along the axis, or have another size along other axes."""
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


def check_zero_points(node: Operands, *indices: int) -> None:
    """Record zero points of another shape than the scale before them. One element may be a scalar or a list."""
    for index, other in zip(indices[::2], indices[1::2], strict=True):
        scale, zero = node.fact(index).shape, node.fact(other).shape
        if scale is None or zero is None or (node.problems and len(indices) > 2):
            continue
        if len(zero) == len(scale):
            for axis in range(len(zero)):
                node.equal((index, axis), (other, axis))
        elif _are_many(zero) or _are_many(scale) or max(len(zero), len(scale)) > 1:
            node.wrong_rank(other, len(scale), len(scale), index)


@register_rule("DynamicQuantizeLinear")
def dynamic(node: Operands) -> Outputs:
    """Infer the numbers, and their scale and zero point, which are scalars."""
    return [node.shape(0), (), ()] if node.given(0) else UNKNOWN
