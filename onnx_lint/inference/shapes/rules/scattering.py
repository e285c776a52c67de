# SPDX-License-Identifier: Apache-2.0
"""Operators that write elements into a copy of a tensor, whose shape the result has."""

from __future__ import annotations

from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Dimension, Unequal
from onnx_lint.inference.shapes.registration import shapes_of
from onnx_lint.inference.shapes.rules.gathering import indices_within


@shapes_of("Scatter", "ScatterElements", reads=(1,))
def scatter_elements(node: Operands) -> Outputs:
    """An update for each index; all inputs have the same rank, and from version 11 on indices have to be in bounds."""
    data, indices = node.shape(0, at_least=1), node.shape(1, at_least=1)
    updates = node.shape(2, at_least=1)
    if data is not None:
        axis = node.axis(node.integer("axis", 0), len(data), "axis")
        indices = node.shape(1, len(data), like=0) if indices is not None else None
        updates = node.shape(2, len(data), like=0) if updates is not None else None
        if indices is not None and axis is not None and node.version >= _IN_BOUNDS:
            indices_within(node, [data[axis]])
    elif indices is not None and updates is not None:
        updates = node.shape(2, len(indices), like=1)
    if indices is not None and updates is not None:
        for axis in range(len(indices)):
            node.equal((1, axis), (2, axis))
    return [data]


_IN_BOUNDS = 11
"""The version from which the description says that an index out of bounds is an error."""


@shapes_of("ScatterND", reads=(1,))
def scatter_nd(node: Operands) -> Outputs:
    """The last dimension of the indices says how many axes each index stands for; an update is what is behind them."""
    data, indices = node.shape(0, at_least=1), node.shape(1, at_least=1)
    updates = node.shape(2)
    if data is None or indices is None:
        return [data]
    depth = indices[-1]
    if not isinstance(depth, int):
        return [data]
    if depth > len(data):
        node.same((1, -1), len(data), None)
        return [data]
    if depth:
        indices_within(node, data[:depth])
    outer = len(indices) - 1
    if updates is not None and node.shape(2, outer + len(data) - depth, like=1) is not None:
        for axis in range(outer):
            node.equal((1, axis), (2, axis))
        for axis in range(depth, len(data)):
            node.equal((0, axis), (2, outer + axis - depth))
    return [data]


@shapes_of("TensorScatter", reads=(2,))
def tensor_scatter(node: Operands) -> Outputs:
    """The update fits the cache but for the axis of the sequence, which is not that of the batch."""
    cache, update = node.shape(0, at_least=2), node.shape(1, at_least=2)
    if node.shape(2, 1) is not None:
        node.equal((0, 0), (2, 0))
    if cache is None:
        return [cache]
    axis = node.axis(node.integer("axis", -2), len(cache), "axis")
    if axis == 0:
        node.wrong_value("axis", node.integer("axis"), "axis 0 is the batch")
    if axis is None or update is None or node.shape(1, len(cache), like=0) is None:
        return [cache]
    for place in range(len(cache)):
        if place != axis:
            node.equal((0, place), (1, place))
    most, length = cache[axis], update[axis]
    if isinstance(most, int) and isinstance(length, int) and length > most:
        node.problems.append(Unequal(Dimension(0, axis, most), length, node.place(1, axis), or_more=True))
        return [cache]
    if isinstance(most, int) and isinstance(length, int) and node.text("mode", "linear") == "linear":
        for place, begin in enumerate(node.content(2) or ()):
            if isinstance(begin, int) and begin + length > most:
                reason = f"{length} elements from there on do not fit into {most}"
                node.wrong_value(2, begin, reason, place)
    return [cache]
