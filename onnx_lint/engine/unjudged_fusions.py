# SPDX-License-Identifier: Apache-2.0
"""The nodes of which ONNX Runtime makes others that a release may refuse, so that it cannot be said to load the model.

Seen in 1.17.3, 1.18.1, 1.20.1, 1.23.2 and 1.32.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.engine.parts_in_question import has_attribute, kind_of, nodes_of, some, stored_contents
from onnx_lint.model import Graph, Model, Node
from onnx_lint.spec.products import ProductRelease, version_number


def unjudged_fusions(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the nodes that a release may refuse for the others around them, and for what is fused into them."""
    version = version_number(release.version)
    yield from some(
        (sum(_has_odd_activation(node, version) for node in _fused(model)), "node", "with a fused activation"),
        (
            sum(_is_inverse_and_one_sided(node) for node in nodes_of(model, "DFT")) if version < _OF_2026 else 0,
            "node",
            "of DFT that is one-sided and inverse",
        ),
        (
            sum(_multiplies_transposed(model, node) for node in nodes_of(model, "MatMul"))
            if version >= _HALF_SINCE
            else 0,
            "node",
            "of MatMul of float16 after a Transpose",
        ),
        (_quantized_to_8_bits(model, version), "node", "between float8 tensors that may be fused"),
        (sum(_is_computed(model, node) for node in nodes_of(model, "RNN")), "node", "of RNN with constant operands"),
        (
            sum(_is_empty(model, node) for node in nodes_of(model, "ReduceMax")) if version < _HALF_SINCE else 0,
            "node",
            "of ReduceMax of no elements",
        ),
    )


_OF_2026: Final = [1, 32]
"""The first known release that knows float8 in the nodes that it fuses, and one-sided inverses of DFT."""
_HALF_SINCE: Final = [1, 23]
"""The first known release that ends the process for some products of a transposed tensor of float16."""


def _fused(model: Model) -> Iterator[Node]:
    """Yield the nodes whose operator has an activation of its own."""
    for alike in model.operators.alike_nodes:
        if (alike.operator.domain, alike.operator.op_type) in _ACTIVATIONS:
            yield from alike.nodes


_WITHOUT_PARAMETERS: Final = (b"Relu", b"Tanh", b"Sigmoid")
_WITH_PARAMETERS: Final = (b"Clip", b"HardSigmoid", b"LeakyRelu")
_ACTIVATIONS: Final[Mapping[tuple[str, str], tuple[bytes, ...]]] = {
    ("com.microsoft", "FusedConv"): _WITH_PARAMETERS,
    ("com.microsoft", "FusedGemm"): (),
    ("com.microsoft.nchwc", "Conv"): _WITH_PARAMETERS,
}
"""The activations that an operator takes with the attribute `activation_params`, besides those without parameters."""


def _has_odd_activation(node: Node, version: list[int]) -> bool:
    """Return whether a kernel may refuse the activation of a node."""
    names = [each.s for each in node.attribute_protos if each.name == "activation"]
    if not names or names[0] in (b"", *_WITHOUT_PARAMETERS):
        return False
    with_parameters = _ACTIVATIONS[node.domain, node.op_type]
    if names[0] == b"HardSwish" and with_parameters:
        return version < _OF_2026
    has_parameters = any(each.name == "activation_params" for each in node.attribute_protos)
    return names[0] not in with_parameters or not has_parameters


def _is_computed(model: Model, node: Node) -> bool:
    """Return whether a release may compute a node while it loads the model."""
    return bool(node.inputs) and bool(stored_contents(model, node.graph, node.inputs[0]))


def _is_empty(model: Model, node: Node) -> bool:
    shape = model.shape_of(node.inputs[0], node.graph) if node.inputs else None
    return shape is not None and 0 in shape


def _is_inverse_and_one_sided(node: Node) -> bool:
    return has_attribute(node, "inverse", 1) and has_attribute(node, "onesided", 1)


def _multiplies_transposed(model: Model, node: Node) -> bool:
    """Return whether a product of float16 has a transposed operand."""
    sources = [node.graph.definition_of(name) for name in node.inputs if name]
    producers = [each.node for each in sources if each is not None and each.node is not None]
    is_half = any(kind_of(model, node.graph, name) == "tensor(float16)" for name in node.inputs)
    return is_half and any(each.op_type == "Transpose" for each in producers)


def _quantized_to_8_bits(model: Model, version: list[int]) -> int:
    """Return the number of nodes that have operands of float8, as far as nodes around them dequantize these."""
    dequantized: dict[Graph, set[str]] = {}
    for node in nodes_of(model, "DequantizeLinear"):
        if node.inputs and "float8" in kind_of(model, node.graph, node.inputs[0]):
            dequantized.setdefault(node.graph, set()).update(node.outputs)
    readers = [
        node for graph, names in dequantized.items() for node in graph.nodes if not names.isdisjoint(node.inputs)
    ]
    return sum(version < _OF_2026 or node.op_type == "Clip" for node in readers)  # 1.32.0 fails for Clip only
