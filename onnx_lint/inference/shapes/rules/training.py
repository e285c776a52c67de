# SPDX-License-Identifier: Apache-2.0
"""Steps of training: gradients, and the tensors that an optimizer updates with them."""

from __future__ import annotations

from functools import partial

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.wording import counted

_register_rule = partial(register_rule, domain="ai.onnx.preview.training")

_SCALARS = 2
"""The inputs of an optimizer before its tensors: the learning rate and the number of updates."""


@_register_rule("Gradient")
def gradient(node: Operands) -> Outputs:
    """Infer a derivative by each tensor of `xs`, whose values are the first inputs."""
    names = node.argument("xs")
    count = (node.length("xs") or 0) + (node.length("zs") or 0)
    if isinstance(names, tuple) and count != node.count:
        reason = f"with 'zs' these are {counted(count, 'tensor')}, but the node has {counted(node.count, 'input')}"
        node.wrong_value("xs", names, reason, allowed="an input for each tensor")
    elif isinstance(names, tuple) and node.output_count > len(names):
        reason = f"{counted(len(names), 'tensor')}, but the node has {counted(node.output_count, 'output')}"
        node.wrong_value("xs", names, reason, allowed="at most one output for each tensor")
    return [node.shape(index) for index in range(len(names))] if isinstance(names, tuple) else UNKNOWN


@_register_rule("Adagrad", "Adam", "Momentum")
def updated(node: Operands) -> Outputs:
    """The new tensors and states. After the scalars come groups of inputs: tensors, gradients, then states.

    Adam has two kinds of states. The pseudo code of the descriptions broadcasts a tensor, its gradient and its states.
    """
    groups = 4 if node.operator == "Adam" else 3
    if node.operator == "Adagrad":
        node.scalar(0)  # makes a factor of the learning rate
    node.scalar(1)
    count, rest = divmod(node.count - _SCALARS, groups)
    if count < 1 or rest:
        return UNKNOWN
    found: list[Shape] = [None] * (count * (groups - 1))
    for index in range(count):
        members = [_SCALARS + group * count + index for group in range(groups)]
        shapes = [node.shape(member) for member in members]
        whole = node.broadcast(shapes, members)
        del shapes[_GRADIENT]
        for at, shape in enumerate(shapes):
            found[at * count + index] = shape if whole is None else whole
    return found


_GRADIENT = 1
"""The group of the gradients, which are not outputs."""
