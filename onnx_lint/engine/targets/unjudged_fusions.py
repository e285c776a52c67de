# SPDX-License-Identifier: Apache-2.0
"""The nodes that ONNX Runtime fuses, or computes while it loads a model. A release may refuse the result.

Seen in 1.17.3, 1.18.1, 1.20.1, 1.23.2 and 1.32.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final

from onnx_lint.engine.targets.model_parts import may_be_constant, nodes_of
from onnx_lint.engine.targets.node_attributes import is_parameter, may_have_value
from onnx_lint.engine.targets.unjudged_kinds import UnjudgedKind, node_kind, phrase, phrases
from onnx_lint.model import Model, Node
from onnx_lint.refusals.operands import input_shape, kind_of


def unjudged_fusions(model: Model, version: tuple[int, ...]) -> Iterator[str]:
    """Yield the nodes that a release may refuse because of what it fuses or computes at load, as phrases."""
    activations = sum(_may_have_refused_activation(node, version) for node in _with_own_activation(model))
    yield from phrase(activations, "node", "with a fused activation")
    yield from phrases(model, _unjudged_constants(), version)
    if version >= _FUSES_TRANSPOSED_FLOAT16:
        yield from _unjudged_products(model)
    if nodes_of(model, "QuantizeLinear") or nodes_of(model, "DequantizeLinear"):
        from onnx_lint.engine.targets.unjudged_float8 import unjudged_float8

        yield from unjudged_float8(model, version)


def _unjudged_constants() -> Iterator[UnjudgedKind]:
    """Yield the kinds of nodes that a release may fail to compute while it loads a model."""
    until = _MENDED_SINCE
    yield node_kind(("DFT",), "of DFT that is one-sided and inverse", _may_be_inverse_and_one_sided, until=until)
    recurrent, lacks_output = ("GRU", "LSTM", "RNN"), "of constants without the first output"
    yield node_kind(recurrent, lacks_output, _is_constant_without_first_output, until=until)
    reduces_empty = "that reduces a constant of no elements"
    yield node_kind(("ArgMax", "ArgMin", "ReduceMax"), reduces_empty, _may_reduce_empty_constant, until=_REDUCES_EMPTY)
    yield node_kind(("ArgMax", "ArgMin"), reduces_empty, _may_reduce_empty_constant, since=_REDUCES_EMPTY, until=until)
    growing, is_huge = ("ConstantOfShape", "Expand", "Tile"), "that makes a constant of many GiB"
    yield node_kind(growing, is_huge, _makes_huge_constant, until=until)
    yield node_kind(("MelWeightMatrix",), "of MelWeightMatrix of constants", _is_computed_at_load, until=until)
    other_rank = "of MaxUnpool with indices of another rank, or of an unknown one"
    yield node_kind(("MaxUnpool",), other_rank, _ranks_may_differ, until=until)
    yield node_kind(_POOLS, "of a pool of no channels", _has_no_channels)
    yield node_kind(("Div", "Mod"), "with a quotient that may overflow", _may_divide_lowest_by_minus_1)


def _unjudged_products(model: Model) -> Iterator[str]:
    """Yield the products of float16 that may end the process."""
    named = [each for each in model.operators.alike_nodes if each.operator.op_type in ("MatMul", "FusedMatMul")]
    if named and nodes_of(model, "Transpose"):
        from onnx_lint.engine.targets.unjudged_products import count_products_ending_process

        count = count_products_ending_process(model, [node for each in named for node in each.nodes])
        yield from phrase(count, "node", "of MatMul of float16, of a Transpose and a constant")


_MENDED_SINCE: Final = (1, 32)
"""The first known release that has a one-sided inverse DFT, HardSwish in fused nodes, most float8 in them, and
constants of no elements."""
_FUSES_TRANSPOSED_FLOAT16: Final = (1, 23)
"""The first known release that ends the process for some products of a transposed tensor of float16."""
_REDUCES_EMPTY: Final = (1, 23)
"""The first known release whose ReduceMax takes an empty tensor."""


def _with_own_activation(model: Model) -> Iterator[Node]:
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
"""The operators with an activation of their own, and the activations with parameters that they take."""


def _may_have_refused_activation(node: Node, version: tuple[int, ...]) -> bool:
    """Return whether a kernel may refuse the activation of a node."""
    if is_parameter(node, "activation"):
        return True
    names = [each.s for each in node.attribute_protos if each.name == "activation"]
    if not names or names[0] in (b"", *_WITHOUT_PARAMETERS):
        return False
    with_parameters = _ACTIVATIONS[node.domain, node.op_type]
    if names[0] == b"HardSwish" and with_parameters:
        return version < _MENDED_SINCE
    has_parameters = any(each.name == "activation_params" for each in node.attribute_protos)
    return names[0] not in with_parameters or not has_parameters


def _is_constant_without_first_output(model: Model, node: Node) -> bool:
    """Return whether a node of constants leaves out its first output."""
    return node.outputs[:1] == ("",) and _is_computed_at_load(model, node)


def _is_computed_at_load(model: Model, node: Node) -> bool:
    """Return whether a release may compute a node while it loads the model."""
    names = [name for name in node.inputs if name]
    return bool(names) and all(may_be_constant(model, node.graph, name) for name in names)


def _may_reduce_empty_constant(model: Model, node: Node) -> bool:
    """Return whether a node may reduce no elements of a constant to one: then its output has elements."""
    if not node.outputs or 0 not in (input_shape(model, node, 0) or ()):
        return False
    return 0 not in (model.shape_of(node.outputs[0], node.graph) or ()) and _is_computed_at_load(model, node)


def _makes_huge_constant(model: Model, node: Node) -> bool:
    """Return whether a node makes a constant that the memory of a machine may not hold."""
    shape = model.shape_of(node.outputs[0], node.graph) if node.outputs else None
    sizes = [size for size in shape or () if isinstance(size, int)]
    return prod(sizes) > _MAX_ELEMENTS and _is_computed_at_load(model, node)


_MAX_ELEMENTS: Final = 2**30

_POOLS: Final = ("AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool")
"""The operators whose channels are blocked: no blocks of channels are refused."""


def _has_no_channels(model: Model, node: Node) -> bool:
    return 0 in (input_shape(model, node, 0) or ())[1:2]


def _ranks_may_differ(model: Model, node: Node) -> bool:
    """Return whether the data and the indices of a MaxUnpool may have unlike ranks."""
    shapes = [model.shape_of(name, node.graph) for name in node.inputs[:2]]
    return len({None if shape is None else len(shape) for shape in shapes}) > 1


def _may_divide_lowest_by_minus_1(model: Model, node: Node) -> bool:
    """Return whether a node may divide the lowest constant by -1."""
    kind = kind_of(model, node.graph, node.inputs[0]) if len(node.inputs) > 1 else ""
    lowest = {"tensor(int32)": -(2**31), "tensor(int64)": -(2**63)}.get(kind)
    if lowest is None or not _is_computed_at_load(model, node):
        return False
    known = model.value_flow.facts_seen(node.graph)
    dividend, divisor = (None if fact is None else fact.content for fact in map(known, node.inputs[:2]))
    return (dividend is None or lowest in dividend) and (divisor is None or -1 in divisor)


def _may_be_inverse_and_one_sided(_: Model, node: Node) -> bool:
    return may_have_value(node, "inverse", 1) and may_have_value(node, "onesided", 1)
