# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools of ONNX Runtime (com.microsoft). Some of them have the channels as the last axis."""

from __future__ import annotations

from onnx_lint.common.record import replace
from onnx_lint.inference.shapes.dims import Dims, are_sizes, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal
from onnx_lint.inference.shapes.rules.contrib_quantization import are_scalars
from onnx_lint.inference.shapes.rules.contrib_transformers import number_of
from onnx_lint.inference.shapes.rules.convolution import (
    bias,
    convolved,
    fits_kernel,
    quantization,
    quantized_convolution,
)
from onnx_lint.inference.shapes.rules.pooling import global_pool, pool
from onnx_lint.inference.shapes.rules.windows import check_attributes, output_sizes, window_of


def fused_convolution(node: Operands) -> Outputs:
    """As Conv of ONNX; what is added to the result has its shape."""
    found = convolved(node, 1)
    bias(node, 2, 1)
    is_empty = found is None or 0 in found
    if found is not None and not is_empty and not node.problems and node.shape(3, len(found), like=0) is not None:
        for axis, size in enumerate(found):
            node.same((3, axis), size, None)
    return [found]


def convolution_of_integers(node: Operands) -> Outputs:
    """As QLinearConv of ONNX, also with channels last."""
    order = node.integer("channels_last", 0)
    if order not in (0, 1):
        return UNKNOWN  # ONNX Runtime takes the channels for the last ones unless it rewrites the node
    if not order:
        return quantized_convolution(node)
    quantization(node)
    shape = node.shape(0, at_least=_LEAST_RANK)
    kernel = node.shape(3, len(shape), like=0) if shape is not None else None
    if shape is not None and kernel is not None and node.is_positive("group"):
        group = node.integer("group", 1)
        node.same((0, len(shape) - 1), multiply(kernel[1], group), Element("group", group))
        node.quotient((3, 0), group, Element("group", group))
        fits_kernel(node, kernel, 3)
    bias(node, 8, 3)
    return _channels_last(node, 3) if not node.problems else UNKNOWN


def convolution_with_channels_last(node: Operands) -> Outputs:
    """As Conv of ONNX, with channels last in the input; the weights are as those of Conv."""
    return _channels_last(node, 1)


def _channels_last(node: Operands, weights: int) -> Outputs:
    shape, kernel = node.shape(0), node.shape(weights)
    if shape is None or len(shape) < _LEAST_RANK:
        check_attributes(node)
        return UNKNOWN
    known = node.shape(weights, len(shape), like=0) if kernel is not None else None
    sizes = _windows(node, shape, known[2:] if known else (None,) * (len(shape) - 2), weights)
    return [(shape[0], *sizes, known[0] if known else None)]


_LEAST_RANK = 3
"""Batch, one spatial axis, and channels."""


def _windows(
    node: Operands, shape: Dims, kernel: Dims | None, weights: int | None = None, *, rounds_up: bool = False
) -> Dims:
    """The spatial axes after a window, which are before the channels."""
    spatial = shape[1:-1]
    over = window_of(node, len(spatial), kernel, weights)
    recorded = len(node.problems)
    sizes = output_sizes(node, (shape[0], shape[-1], *spatial), over, rounds_up=rounds_up) if over is not None else None
    # The places in the input are those of channels first.
    node.problems[recorded:] = [
        replace(each, place=replace(each.place, axis=each.place.axis - 1)) if isinstance(each, Unequal) else each
        for each in node.problems[recorded:]
    ]
    return sizes or (None,) * len(spatial)


def pool_of_integers(node: Operands) -> Outputs:
    """As AveragePool and MaxPool of ONNX, also with channels last, or with a mask."""
    if node.operator == "QLinearAveragePool":
        are_scalars(node, 1, 2, 3, 4)
        _is_pooled(node)
    _are_pads_small(node)
    if node.problems:
        return UNKNOWN
    if not node.integer("channels_last", 0) and node.operator != "NhwcMaxPool":
        return pool(node)
    shape = node.shape(0, at_least=_LEAST_RANK)
    if shape is None:
        check_attributes(node)
        return UNKNOWN
    sizes = _windows(node, shape, None, rounds_up=node.integer("ceil_mode", 0) == 1)
    if node.operator == "QLinearAveragePool" and shape[0] != 0 and not node.problems:
        _has_windows(node, shape[1:-1])
    return [(shape[0], *sizes, shape[-1])]


def _is_pooled(node: Operands) -> None:
    """Record an input of more than three spatial axes, or without elements, except of an empty batch: runs fail."""
    shape = node.fact(0).shape or ()
    if len(shape) > _MAX_RANK:
        node.wrong_rank(0, _LEAST_RANK, _MAX_RANK)
    for axis, size in enumerate(shape):
        if axis and size == 0 and not node.problems:
            node.problems.append(Unequal(InputDimension(0, axis, 0), 1, or_more=True))


_MAX_RANK = 5


def _has_windows(node: Operands, spatial: Dims) -> None:
    """Record a kernel that is so much larger than the padded input that there is no window: ONNX Runtime ends."""
    if node.text("auto_pad", "NOTSET").startswith("SAME") or node.integer("ceil_mode", 0):
        return
    kernel, count = node.integers("kernel_shape") or (), len(spatial)
    strides, pads = node.integers("strides") or (1,) * count, node.integers("pads") or (0,) * (2 * count)
    if (len(kernel), len(strides), len(pads)) != (count, count, 2 * count):
        return
    for axis, size in enumerate(spatial):
        if isinstance(size, int) and 0 < strides[axis] <= kernel[axis] - size - pads[axis] - pads[axis + count]:
            least = kernel[axis] - strides[axis] + 1 - pads[axis] - pads[axis + count]
            node.problems.append(Unequal(InputDimension(0, axis + 1, size), least, or_more=True))
            return


def _are_pads_small(node: Operands) -> None:
    """Record pads that are as long as the kernel, which no pool of ONNX Runtime takes, whatever it does with them."""
    kernel, pads = node.integers("kernel_shape") or (), node.integers("pads") or ()
    if len(pads) == 2 * len(kernel):
        for index, (pad, size) in enumerate(zip(pads, kernel + kernel, strict=True)):
            if pad >= size > 0:
                node.wrong_value("pads", pad, f"it must be less than {size}, the size of the kernel", index)


def global_pool_of_integers(node: Operands) -> Outputs:
    """As GlobalAveragePool of ONNX, also with channels last."""
    for index in range(1, 5):
        node.scalar(index)
    if not node.integer("channels_last", 0):
        return global_pool(node)
    shape = node.shape(0, at_least=2)
    return UNKNOWN if shape is None else [(shape[0], *(1,) * (len(shape) - 2), shape[-1])]


_IMAGE = 4

_BATCH_AND_CHANNELS = 2
"""The dimensions of an image before its spatial ones."""


def crop(node: Operands) -> Outputs:
    """A crop of one size for each region."""
    data, regions, sizes = node.shape(0), node.shape(1), node.integers_in(3)
    known: Dims = sizes if sizes is not None and len(sizes) == 2 else (None, None)
    if are_sizes(sizes) and min(sizes, default=0) < 0:
        known = (None, None)
    channels = data[1] if data is not None and len(data) == _IMAGE else None
    return [(regions[0] if regions else None, channels, *known)]


def padded_transposed_convolution(node: Operands) -> Outputs:
    """As ConvTranspose of ONNX, but the padding, an input, is not read."""
    shape, kernel = node.shape(0), node.shape(1)
    if shape is None or len(shape) < _BATCH_AND_CHANNELS:
        return UNKNOWN
    outputs = multiply(kernel[1], number_of(node, "group")) if kernel is not None and len(kernel) > 1 else None
    return [(shape[0], outputs, *(None,) * (len(shape) - _BATCH_AND_CHANNELS))]
