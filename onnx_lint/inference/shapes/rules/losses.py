# SPDX-License-Identifier: Apache-2.0
"""Losses: how far scores of classes are from labels."""

from __future__ import annotations

from onnx_lint.inference.shapes.equations import solve
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.registration import shapes_of


@shapes_of("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(node: Operands) -> Outputs:
    """A loss for each label, or one of all; and the logarithms of the probabilities, shaped as the scores."""
    each, *others = solve("scores[n c *d] labels[n *d] weights[c] -> loss[n *d] log_prob[n c *d]", node)
    reduction = node.text("reduction", "mean")
    return [each if reduction == "none" else (), *others]
