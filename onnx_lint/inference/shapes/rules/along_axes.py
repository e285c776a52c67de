# SPDX-License-Identifier: Apache-2.0
"""Operators that work along an axis, or on matrices, and keep the shape."""

from __future__ import annotations

from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.registration import register_equations, register_rule


@register_rule("CumProd", "CumSum", reads=(1,))
def cumulate(node: Operands) -> Outputs:
    """Infer the shape of the input; a scalar states the axis."""
    shape, axis = node.shape(0, at_least=1), node.scalar(1)
    if shape is not None:
        node.axis(axis, len(shape), 1, 0)
    return [shape]


register_equations({"EyeLike": "input[n m] -> output[n m]", "Trilu": "input[*batch n m] k[] -> output[*batch n m]"})


@register_rule("ReverseSequence", reads=(1,))
def reverse_sequence(node: Operands) -> Outputs:
    """Return the shape of the input. Record lengths that are not one for each sequence of the batch."""
    shape, batch = node.shape(0, at_least=2), node.integer("batch_axis", 1)
    time = node.integer("time_axis", 0)
    if batch == time:
        node.wrong_value("time_axis", time, "this is the batch axis", allowed=str(1 - batch), about_data=True)
    if node.shape(1, 1) is not None and batch in (0, 1):
        node.equal((0, batch), (1, 0))
        if time == 1 - batch:
            node.counts_within(1, 1, node.dim(0, time), "steps")
    return [shape]
