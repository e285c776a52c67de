# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools of ONNX Runtime (com.microsoft). Some of them have the channels as the last axis."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dims, are_sizes, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal
from onnx_lint.inference.shapes.rules.contrib_quantization import check_scalars, quantization_inputs
from onnx_lint.inference.shapes.rules.convolution import (
    check_bias,
    check_kernel,
    check_quantization,
    convolved,
    quantized_convolution,
)
from onnx_lint.inference.shapes.rules.pooling import global_pool, pool
from onnx_lint.inference.shapes.rules.windows import check_attributes, output_sizes, window_of

# --- convolutions


def fused_convolution(node: Operands) -> Outputs:
    """Infer the shape as for Conv of ONNX. What is added to the result has its shape."""
    weights, added = node.input("W"), node.input("Z")
    found = convolved(node, weights)
    check_bias(node, node.input("B"), weights)
    if found is None or 0 in found or node.problems:
        return [found]
    if node.shape(added, len(found), like=0) is not None:
        for axis, size in enumerate(found):
            node.same((added, axis), size, None)
    return [found]


def convolution_of_integers(node: Operands) -> Outputs:
    """Infer the shape as for QLinearConv of ONNX, also with channels last."""
    order = node.integer("channels_last", 0)
    if order not in (0, 1):
        return UNKNOWN  # ONNX Runtime reads the channels last unless it rewrites the node
    if not order:
        return quantized_convolution(node)
    check_quantization(node)
    weights = node.input("w")
    shape = node.shape(0, at_least=_LEAST_RANK)
    kernel = node.shape(weights, len(shape), like=0) if shape is not None else None
    if shape is not None and kernel is not None and node.is_positive("group"):
        group = node.integer("group", 1)
        by = Element("group", group)
        node.same((0, len(shape) - 1), multiply(kernel[1], group), by)
        node.quotient((weights, 0), group, by)
        check_kernel(node, kernel, weights)
    check_bias(node, node.input("B"), weights)
    return _channels_last(node, weights) if not node.problems else UNKNOWN


def convolution_with_channels_last(node: Operands) -> Outputs:
    """Infer the shape as for Conv of ONNX, with channels last in the input. The weights are as those of Conv."""
    return _channels_last(node, node.input("W"))


def _channels_last(node: Operands, weights: int) -> Outputs:
    """Infer the shape of a convolution whose input has the channels last."""
    shape, kernel = node.shape(0), node.shape(weights)
    if shape is None or len(shape) < _LEAST_RANK:
        check_attributes(node)
        return UNKNOWN
    known = node.shape(weights, len(shape), like=0) if kernel is not None else None
    sizes = _sizes_before_channels(node, shape, known[2:] if known else (None,) * (len(shape) - 2), weights=weights)
    return [(shape[0], *sizes, known[0] if known else None)]


_LEAST_RANK = 3
"""The rank of an image with one spatial axis, beside batch and channels."""


def _sizes_before_channels(
    node: Operands, shape: Dims, kernel: Dims | None, *, weights: int | None = None, rounds_up: bool = False
) -> Dims:
    """Return the sizes of the spatial axes after a window. They come before the channels."""
    spatial = shape[1:-1]
    window = window_of(node, len(spatial), kernel, weights, first_axis=1)
    sizes = output_sizes(node, spatial, window, rounds_up=rounds_up) if window is not None else None
    return sizes or (None,) * len(spatial)


def padded_transposed_convolution(node: Operands) -> Outputs:
    """Infer the channels as for ConvTranspose of ONNX. The padding, an input, is not read."""
    shape, kernel = node.shape(0), node.shape(node.input("W"))
    if shape is None or len(shape) < 2:
        return UNKNOWN
    channels = multiply(kernel[1], node.positive("group")) if kernel is not None and len(kernel) > 1 else None
    return [(shape[0], channels, *[None] * (len(shape) - 2))]


# --- pools


def pool_of_integers(node: Operands) -> Outputs:
    """Infer the shape as for AveragePool and MaxPool of ONNX, also with channels last, or with a mask."""
    is_average = node.operator == "QLinearAveragePool"
    if is_average:
        check_scalars(node)
        _check_pooled_input(node)
    _check_pads(node)
    if node.problems:
        return UNKNOWN
    if not node.integer("channels_last", 0) and node.operator != "NhwcMaxPool":
        return pool(node)
    shape = node.shape(0, at_least=_LEAST_RANK)
    if shape is None:
        check_attributes(node)
        return UNKNOWN
    sizes = _sizes_before_channels(node, shape, None, rounds_up=node.integer("ceil_mode", 0) == 1)
    if is_average and shape[0] != 0 and not node.problems:
        _check_kernel(node, shape[1:-1])
    return [(shape[0], *sizes, shape[-1])]


def _check_pooled_input(node: Operands) -> None:
    """Record an input of more than three spatial axes, or whose only empty axis is not the batch: runs fail."""
    shape = node.fact(0).shape or ()
    if len(shape) > _MOST_RANK:
        node.wrong_rank(0, _LEAST_RANK, _MOST_RANK)
    empty = next((axis for axis, size in enumerate(shape) if axis and size == 0), None)
    if empty is not None and not node.problems:
        node.problems.append(Unequal(InputDimension(0, empty, 0), 1, or_more=True))


_MOST_RANK = 5
"""The rank of an image with three spatial axes."""


def _check_kernel(node: Operands, spatial: Dims) -> None:
    """Record an axis that is so short that no window is counted: ONNX Runtime ends the process."""
    if node.text("auto_pad", "NOTSET").startswith("SAME") or node.integer("ceil_mode", 0):
        return
    window = window_of(node, len(spatial), None, first_axis=1)
    if window is None or not are_sizes(window.kernel):
        return
    for axis, size in enumerate(spatial):
        kernel, stride = window.kernel[axis], window.strides[axis]
        least = kernel - stride + 1 - window.padding_before[axis] - window.padding_after[axis]
        if isinstance(size, int) and size < least:
            node.problems.append(Unequal(InputDimension(0, axis + 1, size), least, or_more=True))
            return


def _check_pads(node: Operands) -> None:
    """Record pads that are not less than the kernel. ONNX Runtime rejects them also if `auto_pad` ignores them."""
    kernel, pads = node.integers("kernel_shape") or (), node.integers("pads") or ()
    if len(pads) != 2 * len(kernel):
        return
    for index, (pad, size) in enumerate(zip(pads, kernel + kernel, strict=True)):
        if pad >= size > 0:
            node.wrong_value("pads", pad, f"it must be less than {size}, the size of the kernel", index=index)


def global_pool_of_integers(node: Operands) -> Outputs:
    """Infer the shape as for GlobalAveragePool of ONNX, also with channels last."""
    for index in quantization_inputs(node):
        node.scalar(index)
    if not node.integer("channels_last", 0):
        return global_pool(node)
    shape = node.shape(0, at_least=2)
    return UNKNOWN if shape is None else [(shape[0], *[1] * (len(shape) - 2), shape[-1])]


# --- crops


def crop(node: Operands) -> Outputs:
    """Infer a crop of one size for each region."""
    data, regions = node.shape_of_rank(0, 4), node.shape(node.input("rois"))
    sizes = node.integers_in(node.input("crop_size")) or ()
    if len(sizes) != 2 or any(isinstance(size, int) and size < 0 for size in sizes):
        sizes = (None, None)
    return [(regions[0] if regions else None, data[1] if data is not None else None, *sizes)]
