# SPDX-License-Identifier: Apache-2.0
"""Nodes from which ONNX Runtime makes others that a release may refuse: it cannot be said to load such a model.

Seen in 1.17.3, 1.18.1, 1.20.1, 1.23.2 and 1.32.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.engine.parts_in_question import has_attribute, nodes_of, phrases, stored_contents
from onnx_lint.model import Model, Node
from onnx_lint.spec.products import ProductRelease, version_number


def unjudged_fusions(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the nodes that a release may refuse because of what it fuses, in words."""
    version = version_number(release.version)
    activations = sum(_has_odd_activation(node, version) for node in _with_own_activation(model))
    yield from phrases((activations, "node", "with a fused activation"))
    if version < _SUPPORTS_INVERSE_AND_FLOAT8:
        inverses = sum(_is_inverse_and_one_sided(node) for node in nodes_of(model, "DFT"))
        yield from phrases((inverses, "node", "of DFT that is one-sided and inverse"))
    constants = sum(_is_computed_at_load(model, node) for node in nodes_of(model, "RNN"))
    yield from phrases((constants, "node", "of RNN with constant operands"))
    if version < _REDUCES_EMPTY:
        empty = sum(_is_empty(model, node) for node in nodes_of(model, "ReduceMax"))
        yield from phrases((empty, "node", "of ReduceMax of no elements"))
    if version >= _FUSES_TRANSPOSED_HALF:
        yield from _unjudged_products(model)
    if nodes_of(model, "QuantizeLinear") or nodes_of(model, "DequantizeLinear"):
        from onnx_lint.engine.unjudged_float8 import unjudged_float8

        yield from unjudged_float8(model, version)


def _unjudged_products(model: Model) -> Iterator[str]:
    """Yield the products of float16 that may end the process."""
    named = [each for each in model.operators.alike_nodes if each.operator.op_type in ("MatMul", "FusedMatMul")]
    if named and nodes_of(model, "Transpose"):
        from onnx_lint.engine.unjudged_products import products_in_question

        count = products_in_question(model, [node for each in named for node in each.nodes])
        yield from phrases((count, "node", "of MatMul of float16, of a Transpose and a constant"))


_SUPPORTS_INVERSE_AND_FLOAT8: Final = (1, 32)
"""The first known release that has a one-sided inverse DFT, HardSwish in fused nodes, and most float8 in them."""
_FUSES_TRANSPOSED_HALF: Final = (1, 23)
"""The first known release that ends the process for some products of a transposed tensor of float16."""
_REDUCES_EMPTY: Final = (1, 23)
"""The first known release whose ReduceMax takes an empty tensor."""


def _with_own_activation(model: Model) -> Iterator[Node]:
    """Yield the nodes whose operator has an activation of its own."""
    for alike in model.operators.alike_nodes:
        if (alike.operator.domain, alike.operator.op_type) in _ACTIVATIONS:
            yield from alike.nodes


_WITHOUT_PARAMETERS: Final = (b"Relu", b"Tanh", b"Sigmoid")
"""The activations that each of these operators takes."""
_WITH_PARAMETERS: Final = (b"Clip", b"HardSigmoid", b"LeakyRelu")
"""The activations that convolutions take with the attribute `activation_params`."""
_ACTIVATIONS: Final[Mapping[tuple[str, str], tuple[bytes, ...]]] = {
    ("com.microsoft", "FusedConv"): _WITH_PARAMETERS,
    ("com.microsoft", "FusedGemm"): (),
    ("com.microsoft.nchwc", "Conv"): _WITH_PARAMETERS,
}
"""The operators with an activation of their own, and the activations with parameters that they take."""


def _has_odd_activation(node: Node, version: tuple[int, ...]) -> bool:
    """Return whether a kernel may refuse the activation of a node."""
    names = [each.s for each in node.attribute_protos if each.name == "activation"]
    if not names or names[0] in (b"", *_WITHOUT_PARAMETERS):
        return False
    with_parameters = _ACTIVATIONS[node.domain, node.op_type]
    if names[0] == b"HardSwish" and with_parameters:
        return version < _SUPPORTS_INVERSE_AND_FLOAT8
    has_parameters = any(each.name == "activation_params" for each in node.attribute_protos)
    return names[0] not in with_parameters or not has_parameters


def _is_computed_at_load(model: Model, node: Node) -> bool:
    """Return whether a release may compute a node while it loads the model, since input 0 is a constant."""
    return bool(node.inputs) and bool(stored_contents(model, node.graph, node.inputs[0]))


def _is_empty(model: Model, node: Node) -> bool:
    """Return whether input 0 has no elements."""
    shape = model.shape_of(node.inputs[0], node.graph) if node.inputs else None
    return shape is not None and 0 in shape


def _is_inverse_and_one_sided(node: Node) -> bool:
    return has_attribute(node, "inverse", 1) and has_attribute(node, "onesided", 1)
