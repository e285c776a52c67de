# SPDX-License-Identifier: Apache-2.0
"""Operators that shift and scale a tensor by its mean and variance."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Dims
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import AxisOutOfRange, Element, ProblemPlace, Warned
from onnx_lint.inference.shapes.registration import register_equations, register_rule
from onnx_lint.inference.shapes.rules.broadcasting import check_unidirectional_broadcast

register_equations(
    {
        "InstanceNormalization": "input[n c *spatial] scale[c] B[c] -> output[n c *spatial]",
        "LRN": "X[n c *spatial] -> Y[n c *spatial]",
    }
)


@register_rule("BatchNormalization")
def batch_normalization(node: Operands) -> Outputs:
    """Infer the input, and statistics of each channel. The channels are axis 1; a list of numbers is one channel."""
    data = node.shape(0)
    if data is not None and len(data) == 0:
        node.shape(0, at_least=1)
        return UNKNOWN
    # Until version 8 each element of the input may have numbers of its own where `spatial` is 0.
    if node.version < _BY_CHANNEL and not node.integer("spatial", 1):
        return [data]
    channels: Dim = None
    by: ProblemPlace | None = None
    if data is not None:
        channels, by = (data[1], node.place(0, 1)) if len(data) > 1 else (1, None)
    for index in range(1, 5):
        if node.shape(index, 1) is not None:
            channels = node.same((index, 0), channels, by)
            by = by or node.place(index, 0)
    return [data, *[(channels,)] * 4]


_BY_CHANNEL = 9
"""The first version with one number for each channel."""


@register_rule("LayerNormalization", "RMSNormalization")
def layer_normalization(node: Operands) -> Outputs:
    """Infer the input and its statistics, for the axes from `axis` on. Scale and bias broadcast to the input."""
    data = node.shape(0, at_least=1)
    if data is None and node.problems:
        return UNKNOWN
    axis = node.axis(node.integer("axis", -1), len(data), "axis") if data is not None else None
    for index in (1, 2):
        other = node.shape(index)
        if other is not None:
            check_unidirectional_broadcast(node, data, other, index)
    if data is None or axis is None:
        return UNKNOWN
    statistics = data[:axis] + (1,) * (len(data) - axis)
    return [data] if node.operator == "RMSNormalization" else [data, statistics, statistics]


@register_rule("GroupNormalization")
def group_normalization(node: Operands) -> Outputs:
    """Return the shape of the input. Scale and bias have a number for each channel, in version 18 for each group."""
    data = node.shape(0, at_least=2)
    if not node.is_positive("num_groups"):
        return UNKNOWN
    groups = node.integer("num_groups", 1)
    by = Element("num_groups", groups)
    for index in (1, 2):
        if node.shape(index, 1) is not None:
            if node.version < _PER_CHANNEL:
                node.same((index, 0), groups, by)
            else:
                node.equal((0, 1), (index, 0))
    node.quotient((0, 1), groups, by)
    return [data]


_PER_CHANNEL = 21
"""The first version with a scale and a bias for each channel."""


_IMAGE_ROWS = 3
"""The rank without the last one of the default axes."""


@register_rule("MeanVarianceNormalization")
def mean_variance(node: Operands) -> Outputs:
    """Return the shape of the input. Record axes that it does not have."""
    data: Dims | None = node.shape(0)
    axes = node.integers("axes")
    # The default is meant for images, and is undocumented for other ranks.
    if data is not None and axes is not None and node.has("axes"):
        node.axes(axes, len(data), "axes", repeated=True)
    elif data is not None and len(data) == _IMAGE_ROWS:
        problem = AxisOutOfRange(Element("axes", 3, 2), len(data), -len(data))
        node.warnings.append(Warned(problem))
    return [data]
