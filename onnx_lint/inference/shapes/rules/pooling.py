# SPDX-License-Identifier: Apache-2.0
"""Operators that reduce the numbers in a window, or all of a channel, to one."""

from __future__ import annotations

from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.registration import shapes_of
from onnx_lint.inference.shapes.rules.windows import slid, stated_numbers, stretched, window


@shapes_of("AveragePool", "LpPool", "MaxPool")
def pool(node: Operands) -> Outputs:
    """A window over the spatial axes; MaxPool also gives the indices."""
    shape = node.shape(0, at_least=3)
    if shape is None:
        stated_numbers(node)
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


@shapes_of("MaxUnpool", reads=(2,))
def unpool(node: Operands) -> Outputs:
    """The input of the MaxPool that makes values and indices of these shapes; the third input may
    select one of several.
    """
    shape = node.shape(0, at_least=3)
    if shape is None:
        stated_numbers(node)
        return UNKNOWN
    indices = node.shape(1, len(shape), like=0)
    if indices is not None:
        shape = tuple([node.equal((0, axis), (1, axis)) for axis in range(len(shape))])
    over = window(node, len(shape) - 2, None)
    if node.given(2):
        stated = node.integers_in(2)
        if stated is None:
            return [(None,) * len(shape)]
        are_right = node.has_count(2, len(stated), len(shape), 0) and node.at_least(0, stated, 2)
        return [stated] if are_right else UNKNOWN
    if over is None:
        return UNKNOWN
    return [(*shape[:2], *[stretched(node, axis, size, over) for axis, size in enumerate(shape[2:])])]
