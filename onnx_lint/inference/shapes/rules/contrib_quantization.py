# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) on quantized tensors, whose scales and zero points are inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from onnx_lint.inference.shapes.dims import Dims, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import NotOneElement, Warned, WrongRank
from onnx_lint.inference.shapes.requirements import has_attribute
from onnx_lint.inference.shapes.rules.joining import concatenated
from onnx_lint.inference.shapes.rules.reduction import reduced
from onnx_lint.inference.shapes.rules.unary import lp_normalization
from onnx_lint.spec.operators.records import requirements

_BROADCAST: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "MulInteger": ((0, 2), (1, 3)),
    "QLinearAdd": ((0, 3), (1, 2, 4, 5, 6, 7)),
    "QLinearMul": ((0, 3), (1, 2, 4, 5, 6, 7)),
    "QLinearWhere": ((0, 1, 4), ()),
}
"""The operands that are broadcast, and the scales and zero points that must be scalars."""


def elementwise(node: Operands) -> Outputs:
    """Operands that are each followed by scale and zero point, broadcast to one shape."""
    operands, scalars = _BROADCAST[node.operator]
    are_scalars(node, *scalars)
    return [node.broadcast(list(map(node.shape, operands)), operands)]


def are_scalars(node: Operands, *indices: int) -> None:
    """Note scales and zero points that are no scalars: ONNX Runtime needs nothing else when it makes a session."""
    for index in indices:
        if node.fact(index).shape:
            node.wrong_rank(index, 0, 0)


def softmax_of_integers(node: Operands) -> Outputs:
    """As LpNormalization of ONNX. ONNX Runtime needs a scalar if the scale is a constant.

    Of another one it reads the first number.
    """
    shape = node.fact(1).shape
    if shape and (len(shape) > 1 or (isinstance(shape[0], int) and shape[0] != 1)):
        problem = WrongRank(1, len(shape), 0, 0)
        if node.content(1) is not None:
            node.problems.append(problem)
            return UNKNOWN
        node.warnings.append(Warned(problem, "; ONNX Runtime refuses a constant of this shape"))
    return lp_normalization(node)


def concat(node: Operands) -> Outputs:
    """As Concat of ONNX. The scale and zero point of the result come first, then each tensor with its own."""
    for index in range(2, node.count, _WITH_ITS_OWN):
        _has_types_of_result(node, (index, index + 2))
        if not node.problems:
            _is_rescaled(node, index + 1, index + 2)
    return UNKNOWN if node.problems else concatenated(node, range(2, node.count, _WITH_ITS_OWN))


_WITH_ITS_OWN = 3
"""A tensor, its scale and its zero point."""


def _has_types_of_result(node: Operands, operands: Iterable[int]) -> None:
    """Record a tensor or zero point of another type than the zero point of the result."""
    kind = node.fact(1).kind
    for index in operands:
        found = node.fact(index).kind
        if found and kind and found != kind and not node.problems:
            node.wrong_value(index, found, "", allowed=f"{kind} like input 1 ('Y_zero_point')")


def _is_rescaled(node: Operands, scale: int, zero_point: int) -> None:
    """Record scales and zero points of several elements. ONNX Runtime compares the first elements of a tensor's with
    the result's; only if they differ it needs a scalar or one element each.
    """
    first = [(node.content(one) or (None,))[0] for one in (0, 1, scale, zero_point)]
    differs = None not in first and first[:2] != first[2:]
    if first[:2] == first[2:] and None not in first:
        return
    for index in (0, 1, scale, zero_point):
        shape = node.fact(index).shape
        if not shape or (len(shape) == 1 and shape[0] in (1, None)) or any(isinstance(each, str) for each in shape):
            continue
        problem = WrongRank(index, len(shape), 0, 1) if len(shape) > 1 else NotOneElement(index, is_scalar=False)
        if differs or 0 in shape:
            node.problems.append(problem)
            return
        warned = Warned(problem, _UNLESS_EQUAL)
        if warned not in node.warnings:
            node.warnings.append(warned)


_UNLESS_EQUAL = "; ONNX Runtime runs it only if scale and zero point are equal to those of the result"


def reduced_integers(node: Operands) -> Outputs:
    """The axes, all if there are none, become 1 or are left out."""
    shape = node.shape(0)
    if node.operator == "QLinearReduceMean":
        are_scalars(node, 1, 2, 3, 4)
    return UNKNOWN if shape is None else reduced(node, shape, node.integers("axes"), "axes")


def gather_blocks(node: Operands) -> Outputs:
    """Indices in place of an axis; the packed axis has several numbers in a byte."""
    data, indices = node.shape(0, at_least=2), node.shape(1)
    size = node.integer("block_size", 128)
    has_attribute(node, "block_size", _BLOCK if node.fact(0).kind in _BY_BLOCKS else _BLOCK_OR_WHOLE)
    if node.fact(0).kind == "tensor(uint8)":
        has_attribute(node, "bits", _PACKED)
    elif node.fact(0).kind in _ONE_BY_ONE:
        has_attribute(node, "bits", _IN_FOURS)
    if data is not None and node.fact(3).shape is not None:
        node.shape(3, len(data), like=0)
    if data is not None and node.fact(2).shape is not None and node.shape(2, len(data), like=0) is not None:
        _has_scales(node, data, size)
    if data is None or indices is None:
        return UNKNOWN
    rank = len(data)
    axis, packed = _axes(node, rank)
    if axis is None or packed is None:
        return [(None,) * (len(indices) + rank - 1)]
    unpacked = _unpacked(node, data, packed)
    return [(*unpacked[:axis], *indices, *unpacked[axis + 1 :])]


def _unpacked(node: Operands, data: Dims, packed: int) -> Dims:
    """Return the shape of the numbers in the data. A byte may hold several numbers along the axis `packed`."""
    bits = node.integer("bits", 4)
    if node.fact(0).kind == "tensor(uint8)" and bits in _BITS:
        return (*data[:-1], multiply(data[-1], 8 // bits))
    if node.fact(0).kind in _ONE_BY_ONE:
        return data
    return tuple([dim if place not in (packed, len(data) - 1) else None for place, dim in enumerate(data)])


def _axes(node: Operands, rank: int) -> tuple[int | None, int | None]:
    """Return the axis of the indices and the axis of the blocks. In packed bytes the indices have the first axis."""
    number = node.integer("gather_axis", 0)
    axis = node.axis(number, rank, "gather_axis")
    packed = node.axis(node.integer("quantize_axis", 1), rank, "quantize_axis")
    if node.fact(0).kind == "tensor(uint8)" and axis:
        node.wrong_value("gather_axis", number, "packed bytes are gathered along the first axis", allowed="0")
    elif node.fact(0).kind == "tensor(uint8)" and axis == packed == 0:
        node.wrong_value("quantize_axis", 0, "packed bytes are gathered along this axis", allowed="another axis")
    return axis, packed


def _has_scales(node: Operands, data: Dims, size: int) -> None:
    """Record scales that are not one for each block along the quantized axis."""
    kind, bits = node.fact(0).kind, node.integer("bits", 4)
    if node.problems or size < 1 or (kind != "tensor(uint8)" and kind not in _ONE_BY_ONE):
        return
    in_a_byte = 8 // bits if kind == "tensor(uint8)" and bits in _BITS else 1
    quantized = node.integer("quantize_axis", 1) % len(data)
    for axis, dim in enumerate(data):
        if not isinstance(dim, int):
            continue
        numbers = dim * in_a_byte if axis == len(data) - 1 else dim
        scales = -(-numbers // size) if axis == quantized else numbers
        node.same((2, axis), scales, node.place(0, axis))
        node.same((3, axis), -(-scales // in_a_byte) if axis == len(data) - 1 else scales, node.place(0, axis))


_BITS = (2, 4, 8)

# 0 means one block.
_BLOCK, _BLOCK_OR_WHOLE, _PACKED, _IN_FOURS = requirements(
    "power of 2 from 16; power of 2 from 16 if block_size; one of 2 4 8; one of 4"
)

_ONE_BY_ONE = frozenset({"tensor(int4)", "tensor(uint4)"})
"""Element types whose elements are one number each."""

_BY_BLOCKS = _ONE_BY_ONE | {"tensor(uint8)"}
"""Element types that always have blocks."""


def unpacked(node: Operands) -> Outputs:
    """The shape that the second input gives."""
    shape = node.fact(1).shape
    stated = node.integers_in(1) if shape is not None and len(shape) == 1 else None
    if stated is None:
        return UNKNOWN
    return [tuple([None if isinstance(size, int) and size < 0 else size for size in stated])]
