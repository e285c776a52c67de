# SPDX-License-Identifier: Apache-2.0
"""Convolutions, which move weights as a window over an image."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Dims, Shape, multiply, product
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal
from onnx_lint.inference.shapes.registration import shapes_of
from onnx_lint.inference.shapes.rules.quantization import same_zero_point
from onnx_lint.inference.shapes.rules.windows import (
    Window,
    per_axis,
    slid,
    spatial_kernel,
    stated_numbers,
    stretched,
    window,
)


@shapes_of("Conv", "ConvInteger")
def convolution(node: Operands) -> Outputs:
    """Weights [M, C / group, ...] over an input [N, C, ...]; the bias of Conv has M numbers."""
    found = convolved(node, 0, 1)
    if node.operator == "Conv":
        bias(node, 2, 1)
    else:
        node.scalar(2)
        _by_output(node, 3, 1)
    return [found]


@shapes_of("QLinearConv")
def quantized_convolution(node: Operands) -> Outputs:
    """As Conv, each tensor followed by its scale and zero point."""
    found = convolved(node, 0, 3)
    bias(node, 8, 3)
    quantization(node)
    if not node.schema.domain:
        same_zero_point(node, 1, 2, 4, 5, 6, 7)
    return [found]


def quantization(node: Operands) -> None:
    """Check the scales and zero points of QLinearConv."""
    for index in (1, 2, 6, 7):
        node.scalar(index)
    for index in (4, 5):
        _by_output(node, index, 3)


def bias(node: Operands, index: int, weights: int) -> None:
    """Check that there is a number for each output of the weights."""
    if node.given(index) and node.shape(index, 1) is not None:
        node.same((index, 0), node.dim(weights, 0), node.place(weights, 0))


def _by_output(node: Operands, index: int, weights: int) -> None:
    """A scale or zero point of the weights: one number, or one for each output."""
    shape = node.shape(index, at_most=1)
    if shape and shape[0] != 1:
        node.same((index, 0), node.dim(weights, 0), node.place(weights, 0))


def convolved(node: Operands, data: int, weights: int) -> Shape:
    """The shape of the output of a convolution."""
    shape, kernel = _operands(node, data, weights)
    group = _group(node)
    if shape is None:
        return None
    _channels(node, data, weights, group)
    _stated_kernel(node, kernel, weights)
    _positive_kernel(node, kernel, weights)
    over = window(node, len(shape) - 2, spatial_kernel(kernel), weights)
    sizes = slid(node, shape, over) if over is not None else None
    return None if sizes is None else (shape[0], kernel[0], *sizes)


def _operands(node: Operands, data: int, weights: int) -> tuple[Shape, Dims]:
    """Return the shapes of the input and the weights, which have equal rank, at least three.

    The rank of weights of unknown shape is that of the input. Without an input the attributes are checked alone.
    """
    shape = node.shape(data, at_least=_LEAST_RANK)
    if shape is None:
        stated_numbers(node)
        return None, ()
    return shape, node.shape(weights, len(shape), like=data) or (None,) * len(shape)


def _group(node: Operands) -> int | None:
    """Return the number of groups; None if it is wrong, which is recorded."""
    group = node.integer("group", 1)
    if group < 1:
        node.wrong_value("group", group, "at least 1")
        return None
    return group


_LEAST_RANK = 3
"""Batch, channels, and one spatial axis."""


def _channels(node: Operands, data: int, weights: int, group: int | None) -> None:
    """Check that the channels of the input are those of the weights in each group, and that
    groups share the outputs.
    """
    if group is None:
        return
    each = node.dim(weights, 1)
    by = node.place(weights, 1) if group == 1 else Element("group", group)
    node.same((data, 1), multiply(each, group), by)
    node.quotient((weights, 0), group, Element("group", group))


def _positive_kernel(node: Operands, kernel: Dims, weights: int) -> None:
    """A kernel has elements along each spatial axis."""
    for axis, size in enumerate(kernel):
        if axis > 1 and size == 0:
            node.problems.append(Unequal(InputDimension(weights, axis, 0), 1, or_more=True))


def _stated_kernel(node: Operands, kernel: Dims, weights: int) -> None:
    """Check that the attribute kernel_shape agrees with the weights."""
    stated = node.integers("kernel_shape") or ()
    if len(stated) == len(kernel) - 2:
        for axis, size in enumerate(stated):
            node.same((weights, axis + 2), size, Element("kernel_shape", size, axis))


@shapes_of("ConvTranspose")
def transposed(node: Operands) -> Outputs:
    """Weights [C, M / group, ...]: the input is stretched by the strides."""
    shape, kernel = _operands(node, 0, 1)
    group = _group(node)
    if shape is None or group is None:
        return UNKNOWN
    node.equal((0, 1), (1, 0))
    node.quotient((0, 1), group, Element("group", group))
    _stated_kernel(node, kernel, 1)
    outputs = multiply(kernel[1], group)
    if node.given(2) and node.shape(2, 1) is not None:
        node.same((2, 0), outputs, node.place(1, 1))
    _positive_kernel(node, kernel, 1)
    over = window(node, len(shape) - 2, spatial_kernel(kernel), 1)
    sizes = _stretched(node, shape, over) if over is not None else None
    return UNKNOWN if sizes is None else [(shape[0], outputs, *sizes)]


def _stretched(node: Operands, shape: Dims, over: Window) -> Dims | None:
    """Return the spatial axes of a transposed convolution: from output_shape, or from strides, kernel and padding."""
    rank = len(shape) - 2
    padding = per_axis(node, "output_padding", rank, least=0)
    if padding is None:
        return None
    stated = node.integers("output_shape")
    if stated is not None:
        are_right = node.has_count("output_shape", len(stated), rank, 0) and node.at_least(0, stated, "output_shape")
        return stated if are_right else None
    for axis, more in enumerate(padding):
        bound = max(over.strides[axis], over.dilations[axis])
        if more >= bound:
            reason = f"it must be less than {bound}, the larger of stride and dilation"
            node.wrong_value("output_padding", more, reason, axis, allowed=f"0 to {bound - 1}")
    return tuple([_stretched_axis(node, axis, size, over, padding[axis]) for axis, size in enumerate(shape[2:])])


def _stretched_axis(node: Operands, axis: int, size: Dim, over: Window, more: int) -> Dim:
    if not over.is_automatic:
        return stretched(node, axis, size, over, more)
    extent = over.extent(axis)
    # By the description, the output is the input times the stride. A kernel smaller than the stride does not reach that
    # far, because padding only removes elements: onnx and ONNX Runtime infer less.
    reaches = extent is not None and extent >= over.strides[axis]
    return multiply(size, over.strides[axis]) if reaches else None


@shapes_of("DeformConv")
def deformed(node: Operands) -> Outputs:
    """As Conv, with an offset for each element of the kernel at each place, and a mask that weighs them."""
    shape, kernel = _operands(node, 0, 1)
    group = _group(node)
    if shape is None:
        return UNKNOWN
    rank = len(shape) - 2
    offset, mask = node.shape(2, len(shape), like=0), node.shape(4, len(shape), like=0)
    _channels(node, 0, 1, group)
    _stated_kernel(node, kernel, 1)
    _positive_kernel(node, kernel, 1)
    bias(node, 3, 1)
    over = window(node, rank, spatial_kernel(kernel), 1)
    sizes = slid(node, shape, over) if over is not None else None
    if sizes is None:
        return UNKNOWN
    groups = node.integer("offset_group", 1)
    if groups < 1:
        node.wrong_value("offset_group", groups, "at least 1")
        return UNKNOWN
    node.quotient((0, 1), groups, Element("offset_group", groups))
    points = product([groups, *spatial_kernel(kernel)])
    if offset is not None:
        _of_each_place(node, 2, multiply(points, rank), sizes)
    if mask is not None:
        # For two axes the mask has a number for each point; for others the description copies the sentence about
        # offsets.
        _of_each_place(node, 4, points if rank == _IMAGE else None, sizes)
    return [(shape[0], kernel[0], *sizes)]


_IMAGE = 2
"""The spatial axes of an image."""


def _of_each_place(node: Operands, index: int, count: Dim, sizes: Dims) -> None:
    """An input [N, count, ...] with numbers for each place of the output."""
    node.equal((0, 0), (index, 0))
    node.same((index, 1), count, None)
    for axis, size in enumerate(sizes):
        node.same((index, axis + 2), size, None)
