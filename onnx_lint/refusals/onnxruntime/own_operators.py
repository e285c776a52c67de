# SPDX-License-Identifier: Apache-2.0
"""The nodes that ONNX Runtime refuses of operators that it defines in the default domain, and ONNX does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.ir.operators.operators import Operator
from onnx_lint.model import Model, Node
from onnx_lint.refusals.causes import Refusal, RefusalCondition, refused_node
from onnx_lint.refusals.onnxruntime.kernels import no_kernel
from onnx_lint.refusals.operands import input_kinds, input_name, input_shape, kind_of, operator_name, output_name
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.products.refusals import ONNXRUNTIME_SIGNATURES, OnnxRuntimeSignature
from onnx_lint.wording import counted, quote


def refused_own_operators(
    model: Model, operator: Operator, nodes: Sequence[Node], release: ProductRelease
) -> Iterator[Refusal]:
    """Yield the nodes that a release refuses of an operator that it defines, and ONNX does not."""
    name = operator_name(operator.domain, operator.op_type)
    if not any(release.kernels(operator.domain, operator.op_type)):
        what = f"the operator {operator.op_type}, {no_kernel(release)}"
        for node in nodes:
            yield refused_node(node, name, what, RefusalCondition.NODE_IS_KEPT)
        return
    signature = ONNXRUNTIME_SIGNATURES.get(operator.op_type)
    if signature is None or (signature.until is not None and (operator.opset_version or 0) > signature.until):
        return
    for node in nodes:
        for what in _faults(model, node, signature):
            yield refused_node(node, name, f"{what}, which {release} refuses")


def _faults(model: Model, node: Node, signature: OnnxRuntimeSignature) -> Iterator[str]:
    """Yield what contradicts the signature, or what the inference of the operator refuses, in words."""
    yield from _wrong_count(node, "input", len(node.inputs), signature.inputs)
    yield from _wrong_count(node, "output", len(node.outputs), signature.outputs)
    for attribute in node.attribute_protos:
        kind = signature.attributes.get(attribute.name)
        if kind is not None and attribute.type not in (0, ATTRIBUTE_TYPE_CODES[kind]):
            yield f"an attribute {quote(attribute.name)} of {node.op_type} that is no {kind}"
    for index, given in enumerate(input_kinds(model, node)):
        if given and given not in signature.types:
            yield f"an input {index} of type {given}"
    if "axis" in signature.attributes and len(node.inputs) > 1:
        for attribute in node.attribute_protos:
            yield from _axis_out_of_range(model, node, attribute)
        yield from _output_unlike_scale(model, node)


def _wrong_count(node: Node, noun: str, count: int, allowed: range) -> Iterator[str]:
    if count not in allowed:
        most = f" to {allowed[-1]}" if len(allowed) > 1 else ""
        yield f"{counted(count, noun)} of {node.op_type}, not {allowed[0]}{most}"


def _axis_out_of_range(model: Model, node: Node, attribute: Proto) -> Iterator[str]:
    shape = input_shape(model, node, 0)
    if attribute.name == "axis" and shape is not None and not -len(shape) <= attribute.i < len(shape):
        yield f"attribute 'axis' with the value {attribute.i} for {counted(len(shape), 'dimension')}"


def _output_unlike_scale(model: Model, node: Node) -> Iterator[str]:
    """Yield the type of output 0 if it is not that of input 1, the scale."""
    scale, output = (kind_of(model, node.graph, name) for name in (input_name(node, 1), output_name(node, 0)))
    if scale and output and output != scale:
        yield f"an output 0 of type {output}, though input 1 is of type {scale}"
