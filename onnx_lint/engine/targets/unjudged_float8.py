# SPDX-License-Identifier: Apache-2.0
"""The nodes that a release of ONNX Runtime may fuse with quantization of float8.

A node may be fused with the QuantizeLinear after it, or with the DequantizeLinear before it. Loading the model fails if
the fused operator does not support float8.

Tried with 1.17.3, 1.20.1, 1.23.2 and 1.32.0. All four refuse a Clip before a QuantizeLinear; the first three may refuse
other models as well. Releases between 1.23.2 and 1.32 are treated like 1.23.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.engine.targets.model_parts import nodes_of, producers_of
from onnx_lint.engine.targets.unjudged_kinds import phrase
from onnx_lint.model import Graph, Model, Node
from onnx_lint.refusals.operands import kind_of

_SUPPORTED_SINCE: Final = (1, 32)
"""The first known release whose fused operators support float8."""
_MOVES_MORE_SINCE: Final = (1, 20)
"""The first known release that also moves the operators of `_MOVED_LATER`."""
_MOVED: Final = ("ArgMax", "MaxPool", "Squeeze", "Transpose", "Unsqueeze")
"""The operators that ONNX Runtime applies to the quantized tensor, if a DequantizeLinear is before them or a
QuantizeLinear after them."""
_MOVED_LATER: Final = ("Reshape", "Slice")
_PRODUCTS: Final = ("Gemm", "MatMul")
"""The operators that are fused if both of their operands are dequantized."""
_NEVER_FUSED: Final = (
    "Cast",
    "DequantizeLinear",
    "Div",
    "Dropout",
    "Expand",
    "InstanceNormalization",
    "Pad",
    "Relu",
    "Sub",
)
"""The operators that stay as they are between a DequantizeLinear and a QuantizeLinear."""


def unjudged_float8(model: Model, version: tuple[int, ...]) -> Iterator[str]:
    """Yield the nodes that a release may fuse with quantization of float8, and then refuse, in words."""
    producers = [node for each in _quantizing(model) for node in producers_of(model, each.graph, each.inputs[0])]
    unjudged = {node for node in producers if node.op_type == "Clip"}
    if version < _SUPPORTED_SINCE:
        moved = _MOVED if version < _MOVES_MORE_SINCE else (*_MOVED, *_MOVED_LATER)
        unjudged.update(node for node in producers if node.op_type in moved or _may_be_fused(model, node))
        unjudged |= _fused_readers(model, moved)
    yield from phrase(len(unjudged), "node", "that may be fused with float8 quantization")


def _fused_readers(model: Model, moved: Sequence[str]) -> set[Node]:
    """Return the nodes that may be fused with a DequantizeLinear before them. `moved`: the operators that are moved."""
    operands = {**dict.fromkeys(moved, 1), **dict.fromkeys(_PRODUCTS, 2)}
    return {
        node
        for name, count in operands.items()
        for node in nodes_of(model, name)
        if _is_dequantized(model, node, count)
    }


def _quantizing(model: Model) -> list[Node]:
    """Return the nodes that make a tensor of float8."""
    nodes = [node for node in nodes_of(model, "QuantizeLinear") if node.inputs and node.outputs]
    return [node for node in nodes if _is_float8(model, node.graph, node.outputs[0])]


def _may_be_fused(model: Model, node: Node) -> bool:
    """Return whether a node before a QuantizeLinear reads dequantized operands that may be fused with it.

    Operators that no list names are taken to be fused.
    """
    if node.op_type in _NEVER_FUSED:
        return False
    if node.op_type in ("Add", "Mul", *_PRODUCTS):
        return _is_dequantized(model, node, 2)
    return any(_may_be_dequantized(model, node, name) for name in node.inputs)


def _is_dequantized(model: Model, node: Node, count: int) -> bool:
    """Return whether each of the first operands of a node may be a dequantized tensor of float8."""
    operands = node.inputs[:count]
    return len(operands) == count and all(_may_be_dequantized(model, node, name) for name in operands)


def _may_be_dequantized(model: Model, reader: Node, name: str) -> bool:
    return any(
        node.op_type == "DequantizeLinear" and _is_float8(model, node.graph, node.inputs[0])
        for node in producers_of(model, reader.graph, name)
        if node.inputs
    )


def _is_float8(model: Model, graph: Graph, name: str) -> bool:
    """Return whether a value is a tensor of one of the types of float8."""
    return kind_of(model, graph, name).startswith("tensor(float8")
