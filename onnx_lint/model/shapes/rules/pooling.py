# SPDX-License-Identifier: Apache-2.0
"""Operators that make one number of those in a window, or of all of a channel."""

from __future__ import annotations

from onnx_lint.model.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.model.shapes.registration import shapes_of
from onnx_lint.model.shapes.rules.windows import slid, window


@shapes_of("AveragePool", "LpPool", "MaxPool")
def pool(node: Operands) -> Outputs:
    """A window over the spatial axes; MaxPool also gives the indices."""
    shape = node.shape(0, at_least=3)
    if shape is None:
        return UNKNOWN
    over = window(node, len(shape) - 2, None)
    if over is None:
        return UNKNOWN
    sizes = slid(node, shape, over, rounds_up=node.integer("ceil_mode", 0) == 1)
    return UNKNOWN if sizes is None else [shape[:2] + sizes] * 2


@shapes_of("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(node: Operands) -> Outputs:
    """The spatial axes become 1."""
    shape = node.shape(0, at_least=2)
    return UNKNOWN if shape is None else [shape[:2] + (1,) * (len(shape) - 2)]
