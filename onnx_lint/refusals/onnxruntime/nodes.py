# SPDX-License-Identifier: Apache-2.0
"""The nodes that a release of ONNX Runtime refuses, by what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.ir.operators.operators import AlikeNodes
from onnx_lint.model import Model, Node, normalized_domain
from onnx_lint.model.questions import runs_decoders
from onnx_lint.refusals.causes import CauseKind, Refusal, RefusalCause, RefusalCondition, refused_node
from onnx_lint.refusals.onnxruntime.inference import refused_by_inference
from onnx_lint.refusals.onnxruntime.kernels import refused_by_kernels
from onnx_lint.refusals.onnxruntime.own_operators import refused_own_operators
from onnx_lint.refusals.onnxruntime.signatures import refused_by_signature, refused_types_of, signature_of
from onnx_lint.refusals.operands import operator_name
from onnx_lint.refusals.refused_values import refused_values_of
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.products.refusals import ONNXRUNTIME_WITHOUT_KERNEL
from onnx_lint.wording import counted, quote


def refused_by_onnxruntime(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the nodes that a release of ONNX Runtime refuses."""
    functions = {(normalized_domain(each.domain), each.name) for each in model.functions}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if operator.function:
            yield from _calls_without_all_outputs(model, alike, release)
        elif (operator.domain, operator.op_type) not in functions and (nodes := run_nodes(model, alike, release)):
            yield from _refused(model, alike, nodes, release)
    yield from _refused_values_of_calls(model, release)
    if runs_decoders(model):
        yield from _later_graphs(model, release)


def run_nodes(model: Model, alike: AlikeNodes, release: ProductRelease) -> Sequence[Node]:
    """Return the nodes that run; none if the release lacks their operator set."""
    if release.lacks_opset(alike.operator.domain, alike.operator.opset_version):
        return ()
    return [node for node in alike.nodes if model.calls.is_run(node.graph)]


def _calls_without_all_outputs(model: Model, alike: AlikeNodes, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the calls that leave out outputs at the end. ONNX Runtime accepts those with empty names.

    In a domain that ONNX Runtime registers, an operator with the name of the function may run instead.
    """
    operator = alike.operator
    if operator.function is None or not _is_foreign(operator.domain, release):
        return
    count = len(operator.function.body.output_names)
    for node in alike.nodes:
        if len(node.outputs) < count and model.calls.is_run(node.graph):
            has = counted(len(node.outputs), "output")
            what = f"{has}, but its function has {count:,}; {release} refuses a call that leaves out the last ones"
            yield refused_node(node, operator_name(operator.domain, operator.op_type), what)


def _refused(model: Model, alike: AlikeNodes, nodes: Sequence[Node], release: ProductRelease) -> Iterator[Refusal]:
    """Yield why a release refuses nodes of one operator."""
    operator = alike.operator
    domain, op_type, schema = operator.domain, operator.op_type, operator.schema
    if domain in release.own_domains and not release.has_own(domain, op_type):
        what = f"has an operator that {release} does not have"
        yield Refusal(RefusalCause(CauseKind.MISSING_OPERATOR, operator_name(domain, op_type), what), nodes)
    elif op_type and _is_foreign(domain, release):
        if domain not in model.target.registered and not model.operators.schemas.is_described(domain):
            yield Refusal(_unregistered(domain, release), nodes)
    elif schema is None or schema.deprecated:
        if release.has_own(domain, op_type):
            yield from refused_own_operators(model, operator, nodes, release)
    elif operator_name(domain, op_type) not in ONNXRUNTIME_WITHOUT_KERNEL:
        yield from _refused_with_signature(model, alike, schema, nodes, release)


def _is_foreign(domain: str, release: ProductRelease) -> bool:
    """Return whether a domain is one that ONNX Runtime does not register."""
    return bool(domain) and domain not in release.own_domains and domain not in release.opsets


def _unregistered(domain: str, release: ProductRelease) -> RefusalCause:
    """Return the cause for nodes whose domain ONNX Runtime does not register."""
    library = LIBRARIES.get(domain)
    needs = f"it needs a library that registers {quote(domain)}" + (f": {library}" if library else "")
    what = f"is of domain {quote(domain)}, which {release} does not register; {needs}"
    return RefusalCause(CauseKind.UNREGISTERED_DOMAIN, domain, what)


LIBRARIES: Final = {
    "ai.onnx.contrib": "onnxruntime-extensions",
    "com.microsoft.extensions": "onnxruntime-extensions",
    "com.amd.quark": "the custom operators of AMD Quark",
    "mmcv": "the custom operators of mmcv",
    "mmdeploy": "the custom operators of mmdeploy",
    "org.pytorch.aten": "none for inference, this is PyTorch's ATen fallback; export without it",
    "qonnx.custom_op.general": "none, QONNX runs these operators itself",
    "trt": "a plugin of TensorRT, which the TensorRT execution provider runs",
    "trt.plugins": "a plugin of TensorRT, which the TensorRT execution provider runs",
}
"""The library that registers the operators of a well-known domain."""


def _refused_with_signature(
    model: Model, alike: AlikeNodes, schema: OperatorSchema, nodes: Sequence[Node], release: ProductRelease
) -> Iterator[Refusal]:
    """Yield what the signature of a release refuses, and what its inference and its kernels refuse of other nodes.

    `schema`: the signature in the newest release, by which the rules of the chapter on signatures judge the nodes.
    """
    older = signature_of(model, schema, release)
    refused = refused_by_signature(alike, schema, older, release)
    for what in refused:
        name = operator_name(schema.domain, schema.name)
        yield Refusal(RefusalCause(CauseKind.REFUSED_NODE, name, f"has {what}"), nodes)
    if refused:
        return
    version = alike.operator.opset_version or 0
    for node in nodes:
        types = refused_types_of(model, node, schema, older, release)
        yield from types
        yield from refused_by_inference(model, node, schema, release)
        if not types:
            yield from refused_by_kernels(model, node, older or schema, version, release)


def _refused_values_of_calls(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the nodes of functions that get a refused value from a call, or from the default of a parameter."""
    for each in model.bound_nodes:
        if not model.calls.is_run(each.graph):
            continue
        for what in refused_values_of(each.bound.attributes, each.schema, release):
            for node in each.nodes:
                refused = f"{what}, which {release} refuses"
                yield refused_node(node, each.schema.name, refused, RefusalCondition.NODE_IS_KEPT)


def _later_graphs(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    """Yield the searches of ONNX Runtime with graphs of a form that only later releases accept."""
    from onnx_lint.model.searches import later_graphs

    for search, what in later_graphs(model, release.version):
        if model.calls.is_run(search.node.graph):
            name = operator_name(search.schema.domain, search.schema.name)
            yield refused_node(search.node, name, f"the graph {what}, which {release} refuses")
