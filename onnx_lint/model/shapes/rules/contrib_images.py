# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools of ONNX Runtime (com.microsoft).

Where the channels are the last axis, the spatial sizes are not told.
"""

from __future__ import annotations

from onnx_lint.model.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.model.shapes.registration import shapes_of
from onnx_lint.model.shapes.rules.convolution import bias, convolved, quantized_convolution
from onnx_lint.model.shapes.rules.pooling import global_pool, pool

_RUNTIME = "com.microsoft::"


@shapes_of(_RUNTIME + "FusedConv")
def fused_convolution(node: Operands) -> Outputs:
    """As Conv of ONNX."""
    found = convolved(node, 0, 1)
    bias(node, 2, 1)
    return [found]


@shapes_of(_RUNTIME + "QLinearConv")
def convolution_of_integers(node: Operands) -> Outputs:
    """As QLinearConv of ONNX, also with channels last."""
    return _channels_last(node, 3) if node.integer("channels_last", 0) else quantized_convolution(node)


@shapes_of(_RUNTIME + "NhwcConv", _RUNTIME + "NhwcFusedConv")
def convolution_with_channels_last(node: Operands) -> Outputs:
    """As Conv of ONNX, with channels last."""
    return _channels_last(node, 1)


def _channels_last(node: Operands, weights: int) -> Outputs:
    shape, kernel = node.shape(0), node.shape(weights)
    if shape is None or len(shape) < _LEAST_RANK:
        return UNKNOWN
    return [(shape[0], *(None,) * (len(shape) - 2), kernel[0] if kernel else None)]


_LEAST_RANK = 3
"""Batch, one spatial axis, and channels."""


@shapes_of(_RUNTIME + "QLinearAveragePool", _RUNTIME + "NhwcMaxPool")
def pool_of_integers(node: Operands) -> Outputs:
    """As AveragePool and MaxPool of ONNX, also with channels last."""
    if not node.integer("channels_last", 0) and node.operator != "NhwcMaxPool":
        return pool(node)
    shape = node.shape(0)
    if shape is None or len(shape) < _LEAST_RANK:
        return UNKNOWN
    return [(shape[0], *(None,) * (len(shape) - 2), shape[-1])]


@shapes_of(_RUNTIME + "QLinearGlobalAveragePool")
def global_pool_of_integers(node: Operands) -> Outputs:
    """As GlobalAveragePool of ONNX, also with channels last."""
    if not node.integer("channels_last", 0):
        return global_pool(node)
    shape = node.shape(0, at_least=2)
    return UNKNOWN if shape is None else [(shape[0], *(1,) * (len(shape) - 2), shape[-1])]
