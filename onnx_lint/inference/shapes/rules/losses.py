# SPDX-License-Identifier: Apache-2.0
"""Losses: how far scores of classes are from labels."""

from __future__ import annotations

from onnx_lint.inference.shapes.equations import solve
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.registration import register_rule


@register_rule("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", reads=(1,))
def loss(node: Operands) -> Outputs:
    """Infer a loss for each label, or one of all, and the logarithms of the probabilities, shaped as the scores."""
    each, *others = solve("scores[n c *d] labels[n *d] weights[c] -> loss[n *d] log_prob[n c *d]", node)
    _check_labels(node)
    reduction = node.text("reduction", "mean")
    return [each if reduction == "none" else (), *others]


def _check_labels(node: Operands) -> None:
    """Check that constant labels are classes that the scores have, or the one that is ignored."""
    classes, ignored = node.dim(0, 1), node.integer("ignore_index")
    if not isinstance(classes, int):
        return
    labels = [(place, label) for place, label in enumerate(node.content(1) or ()) if isinstance(label, int)]
    wrong = [(place, label) for place, label in labels if not 0 <= label < classes and label != ignored]
    if wrong:
        place, label = wrong[0]
        allowed = f"0 to {classes - 1}, or ignore_index" if classes else "no label"
        node.wrong_value(1, label, f"there are {classes} classes", index=place, allowed=allowed, about_data=True)
        node.also_wrong(1, wrong[1:])
