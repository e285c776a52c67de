# SPDX-License-Identifier: Apache-2.0
"""What the shape inference of onnx refuses although it is valid, or gets wrong (docs/faults_of_onnx.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.engine.targets.node_attributes import may_have_value
from onnx_lint.model import Graph, Model, Node
from onnx_lint.refusals.operands import input_name
from onnx_lint.spec.products.refusals import FORBIDDEN_GATES

MVN: Final = "MeanVarianceNormalization"
"""The operator whose function mixes float with the type of the input, and lacks the default axes."""

FORBIDDEN_GATES_WORDS: Final = "of LinearAttention with an input that the update rule may forbid"
"""The nodes of `may_have_forbidden_gates` in words."""


def may_have_forbidden_gates(_: Model, node: Node) -> bool:
    """Return whether a LinearAttention may have an input that onnx forbids beside the update rule."""
    rules = [rule for rule, indices in FORBIDDEN_GATES.items() if any(input_name(node, index) for index in indices)]
    return bool(rules) and may_have_value(node, "update_rule", *rules)


def has_untyped_output(graph: Graph) -> bool:
    """Return whether a graph of an attribute has an output without a type, also a second entry of one name."""
    return graph.parent is not None and any(not each.type.WhichOneof("value") for each in graph.proto.output)


def has_empty_outputs(_: Model, node: Node) -> bool:
    """Return whether a node has several outputs, and omits all but the first."""
    return len(node.outputs) > 1 and not any(node.outputs[1:])


def _rounds_up_without_padding(_: Model, node: Node) -> bool:
    return may_have_value(node, "ceil_mode", 1) and may_have_value(node, "auto_pad", "VALID")


def _pads_like_input(_: Model, node: Node) -> bool:
    return may_have_value(node, "auto_pad", "SAME_UPPER", "SAME_LOWER")


MISTAKEN_SHAPES: Final[Mapping[str, Callable[[Model, Node], bool]]] = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _rounds_up_without_padding),
    "BatchNormalization": has_empty_outputs,
    "ConvTranspose": _pads_like_input,
    "STFT": lambda _, __: True,
}
"""Which nodes of an operator get a wrong shape, or none, from the inference of onnx."""
