# SPDX-License-Identifier: Apache-2.0
"""Convolutions, which move weights as a window over an image."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Dims, Shape, multiply, product
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.inference.shapes.rules.quantization import check_zero_points
from onnx_lint.inference.shapes.rules.windows import (
    Window,
    check_attributes,
    output_sizes,
    per_axis,
    transposed_size,
    window_of,
)


@register_rule("Conv", "ConvInteger")
def convolution(node: Operands) -> Outputs:
    """Infer a convolution of [N, C, ...] with weights [M, C / group, ...]. The bias of Conv has M numbers."""
    found = convolved(node, 1)
    if node.operator == "Conv":
        check_bias(node, 2, 1)
    else:
        node.scalar(2)
        _check_numbers_by_output(node, 3, 1)
    return [found]


@register_rule("QLinearConv")
def quantized_convolution(node: Operands) -> Outputs:
    """Infer the shape as for Conv. A scale and a zero point follow each tensor."""
    found = convolved(node, 3)
    check_quantization(node)
    check_bias(node, 8, 3)
    if not node.schema.domain:
        check_zero_points(node, 1, 2, 4, 5, 6, 7)
    return [found]


def check_quantization(node: Operands) -> None:
    """Check the scales and zero points of QLinearConv."""
    for index in (1, 2, 6, 7):
        node.scalar(index)
    for index in (4, 5):
        _check_numbers_by_output(node, index, 3)


def check_bias(node: Operands, index: int, weights: int) -> None:
    """Check that there is a number for each output of the weights."""
    if node.given(index) and node.shape(index, 1) is not None:
        _check_outputs_of_groups(node, index, weights)


def _check_numbers_by_output(node: Operands, index: int, weights: int) -> None:
    """Record a scale or zero point of the weights that is neither one number nor one for each output."""
    shape = node.shape(index, at_most=1)
    if shape and shape[0] != 1:
        _check_outputs_of_groups(node, index, weights)


def _check_outputs_of_groups(node: Operands, index: int, weights: int) -> None:
    """Compare a list with the outputs of the weights, which groups share."""
    outputs, group = node.dim(weights, 0), node.integer("group", 1)
    node.equal((weights, 0), (index, 0))
    if not isinstance(outputs, int) and group > 0:
        node.quotient((index, 0), group, Element("group", group))


def convolved(node: Operands, weights: int) -> Shape:
    """Return the shape of the convolution of input 0 with the weights."""
    shape, kernel = _operands(node, weights)
    group = _group(node)
    if shape is None:
        node.quotient((weights, 0), group, Element("group", group or 1))
        check_kernel(node, node.fact(weights).shape or (), weights)
        return None
    _check_channels(node, weights, group)
    check_kernel(node, kernel, weights)
    window = window_of(node, len(shape) - 2, kernel[2:], weights)
    sizes = output_sizes(node, shape[2:], window) if window is not None else None
    return None if sizes is None else (shape[0], kernel[0], *sizes)


def _operands(node: Operands, weights: int) -> tuple[Shape, Dims]:
    """Return the shapes of the input and the weights, which have equal rank, at least three.

    Weights of unknown shape have the rank of the input. For an input of unknown shape, the weights decide how many
    spatial axes the attributes must have numbers for.
    """
    shape = node.shape(0, at_least=_LEAST_RANK)
    if shape is None:
        check_attributes(node)
        rank = len(node.fact(weights).shape or ()) - 2
        if rank > 0:
            _check_counts(node, rank, weights)
        return None, ()
    return shape, node.shape(weights, len(shape), like=0) or (None,) * len(shape)


def _check_counts(node: Operands, rank: int, weights: int) -> None:
    """Record attributes that do not have a number, or two, for each of `rank` spatial axes of the weights."""
    for name, each in _LISTS.items():
        listed = node.integers(name)
        if listed is not None:
            node.has_count(name, len(listed), each * rank, weights)


def _group(node: Operands) -> int | None:
    """Return the number of groups. Record a wrong one, and return None."""
    return node.integer("group", 1) if node.is_positive("group") else None


_LISTS = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 2}
"""The attributes by name: how many numbers each has for a spatial axis."""

_LEAST_RANK = 3
"""Batch, channels, and one spatial axis."""


def _check_channels(node: Operands, weights: int, group: int | None) -> None:
    """Check that input and weights have equally many channels in each group, and that `group` divides the outputs."""
    if group is None:
        return
    each = node.dim(weights, 1)
    by = node.place(weights, 1) if group == 1 else Element("group", group)
    if not isinstance(each, int):
        node.quotient((0, 1), group, by)
    if not node.problems:
        node.same((0, 1), multiply(each, group), by)
    node.quotient((weights, 0), group, Element("group", group))


def check_kernel(node: Operands, kernel: Dims, weights: int) -> None:
    """Check that the weights have the sizes in the attribute kernel_shape, and elements along each spatial axis."""
    stated = node.integers("kernel_shape") or ()
    if len(stated) == len(kernel) - 2:
        for axis, size in enumerate(stated):
            node.same((weights, axis + 2), size, Element("kernel_shape", size, axis))
    for axis, found in enumerate(kernel):
        if axis > 1 and found == 0:
            node.problems.append(Unequal(InputDimension(weights, axis, 0), 1, or_more=True))


@register_rule("ConvTranspose")
def transposed(node: Operands) -> Outputs:
    """Infer a convolution with weights [C, M / group, ...] of an input that the strides stretch."""
    shape, kernel = _operands(node, 1)
    group = _group(node)
    outputs = multiply(node.dim(1, 1), group)
    if shape is not None and group is not None:
        node.equal((0, 1), (1, 0))
    check_kernel(node, kernel if shape is not None else node.fact(1).shape or (), 1)
    known = 0 if isinstance(node.dim(0, 1), int) else 1
    node.quotient((known, 1 - known), group, Element("group", group or 1))
    if node.given(2) and node.shape(2, 1) is not None:
        node.same((2, 0), outputs, node.place(1, 1))
    if shape is None or group is None:
        return UNKNOWN
    window = window_of(node, len(shape) - 2, kernel[2:], 1)
    sizes = _transposed_sizes(node, shape, window) if window is not None else None
    return UNKNOWN if sizes is None else [(shape[0], outputs, *sizes)]


def _transposed_sizes(node: Operands, shape: Dims, window: Window) -> Dims | None:
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
        bound = max(window.strides[axis], window.dilations[axis])
        if more >= bound:
            reason = f"it must be less than {bound}, the larger of stride and dilation"
            node.wrong_value("output_padding", more, reason, index=axis, allowed=f"0 to {bound - 1}")
    return tuple([_transposed_axis(node, axis, size, window, padding[axis]) for axis, size in enumerate(shape[2:])])


def _transposed_axis(node: Operands, axis: int, size: Dim, window: Window, more: int) -> Dim:
    if not window.is_automatic:
        return transposed_size(node, axis, size, window, more)
    extent = window.extent(axis)
    # By the description, the output is the input times the stride. A kernel smaller than the stride does not reach that
    # far, because padding only removes elements: onnx and ONNX Runtime infer less.
    reaches = extent is not None and extent >= window.strides[axis]
    return multiply(size, window.strides[axis]) if reaches else None


@register_rule("DeformConv")
def deformed(node: Operands) -> Outputs:
    """Infer the shape as for Conv. Each element of the kernel has an offset at each place, and a mask weighs them."""
    shape, kernel = _operands(node, 1)
    group = _group(node)
    check_bias(node, 3, 1)
    if shape is None:
        if not node.problems:
            _check_without_image(node)
        return UNKNOWN
    rank = len(shape) - 2
    offset, mask = node.shape(2, len(shape), like=0), node.shape(4, len(shape), like=0)
    _check_channels(node, 1, group)
    check_kernel(node, kernel, 1)
    window = window_of(node, rank, kernel[2:], 1)
    sizes = output_sizes(node, shape[2:], window) if window is not None else None
    if node.problems or not node.is_positive("offset_group"):
        return UNKNOWN
    sizes = sizes or (None,) * rank
    groups = node.integer("offset_group", 1)
    node.quotient((0, 1), groups, Element("offset_group", groups))
    points = product([groups, *kernel[2:]])
    if offset is not None:
        _check_places(node, 2, multiply(points, rank), sizes)
        if not isinstance(points, int):
            node.quotient((2, 1), rank * groups)
    if mask is not None:
        # For two axes the mask has a number for each point; for others the description copies the sentence about
        # offsets.
        _check_places(node, 4, points if rank == _IMAGE else None, sizes)
        if not isinstance(points, int):
            node.quotient((4, 1), groups)
    if not node.problems:
        _check_same_places(node)
    return [(shape[0], kernel[0], *sizes)]


_IMAGE = 2
"""The spatial axes of an image."""


def _check_places(node: Operands, index: int, count: Dim, sizes: Dims) -> None:
    """Record an input that is not [N, count, ...], with numbers for each place of the output."""
    node.equal((0, 0), (index, 0))
    node.same((index, 1), count, None)
    for axis, size in enumerate(sizes):
        node.same((index, axis + 2), size, None)


def _check_without_image(node: Operands) -> None:
    """Compare weights, offset and mask with each other, for an input of unknown rank."""
    weights = node.shape(1, at_least=_LEAST_RANK)
    if weights is not None and node.is_positive("offset_group"):
        spatial = len(weights) - 2
        points = product([node.integer("offset_group", 1), *weights[2:]])
        for index, count in ((2, multiply(points, spatial)), (4, points if spatial == _IMAGE else None)):
            if node.shape(index, len(weights), like=1) is not None:
                node.same((index, 1), count, None)
    if not node.problems:
        _check_same_places(node)


def _check_same_places(node: Operands) -> None:
    """Record offset and mask for other places or images. With two axes, a point has two offsets and one weight."""
    offset = node.shape(2, at_least=_LEAST_RANK)
    if offset is None or node.shape(4, len(offset), like=2) is None:
        return
    for axis in range(len(offset)):
        if axis != 1:
            node.equal((2, axis), (4, axis))
    if len(offset) == _IMAGE + 2:
        node.same((4, 1), node.quotient((2, 1), _IMAGE), node.place(2, 1))
