# SPDX-License-Identifier: Apache-2.0
"""The nodes that a release of OpenVINO or TensorRT refuses. Its data list operators and types that it does not support.

OpenVINO removes the nodes that no output of the model needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.ir.operators.operators import AlikeNodes
from onnx_lint.model import Model, Node, normalized_domain
from onnx_lint.refusals.causes import CauseKind, Refusal, RefusalCause, RefusalCondition, refused_node
from onnx_lint.refusals.operands import operand_types, operator_name
from onnx_lint.refusals.refused_values import refused_values_of
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.products.refusals import OPENVINO_DOMAINS


def refused_by_converter(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the nodes that a release without a list of kernels refuses."""
    functions = {(normalized_domain(each.domain), each.name) for each in model.functions}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if operator.function:
            yield from _refused_calls(model, alike, release)
        elif (
            operator.schema is not None
            and not operator.schema.deprecated
            and (operator.domain, operator.op_type) not in functions
        ):
            for node in _needed_nodes(model, alike, release):
                yield from _refused(model, node, operator.schema, release)


def _refused_calls(model: Model, alike: AlikeNodes, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the calls of a function that OpenVINO refuses, whatever is in the function."""
    domain = alike.operator.domain
    if release.product != "openvino" or domain in OPENVINO_DOMAINS:
        return
    nodes = [node for node in alike.nodes if node.graph is model.main_graph and model.uses.is_needed(node)]
    if nodes:
        what = f"is a call of a function of the model, for which {release} has no conversion rule"
        cause = RefusalCause(CauseKind.FUNCTION_CALL, operator_name(domain, alike.operator.op_type), what)
        yield Refusal(cause, nodes, RefusalCondition.NODE_IS_KEPT)


def _needed_nodes(model: Model, alike: AlikeNodes, release: ProductRelease) -> Sequence[Node]:
    """Return the nodes that run and that an output needs; none if the release lacks their operator set."""
    if release.lacks_opset(alike.operator.domain, alike.operator.opset_version):
        return ()
    return [node for node in alike.nodes if model.calls.is_run(node.graph) and model.uses.is_needed(node)]


def _refused(model: Model, node: Node, schema: OperatorSchema, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the refusal of a node for its operator, else for values of attributes and for types of operands."""
    if release.refuses(schema.domain, schema.name, schema.since_version):
        operator = f"the operator {schema.name} of version {schema.since_version}"
        what = f"{operator}, which {release} does not support{release.quoted}"
        yield refused_node(node, operator_name(schema.domain, schema.name), what)
        return
    for what in refused_values_of(node.attribute_protos, schema, release):
        yield refused_node(node, schema.name, f"{what}, which {release} refuses")
    if release.element_types and not schema.has_subgraphs:
        kinds = set[str]().union(*operand_types(model, node, schema).values())
        for kind in sorted(kinds - release.element_types):
            if kind.startswith("tensor("):
                what = f"an operand of type {kind}, which {release} does not support{release.quoted}"
                yield refused_node(node, kind, what)
