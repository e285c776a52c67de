# SPDX-License-Identifier: Apache-2.0
"""The nodes that the data of a release do not judge. Each makes the verdict *not proven*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from onnx_lint.engine.targets.unjudged_kinds import phrase
from onnx_lint.ir.operators.operators import AlikeNodes, Operator, OperatorStatus
from onnx_lint.model import Model, Node
from onnx_lint.refusals.operands import kind_of
from onnx_lint.spec.operators.schema import OperatorSchema, Parameter
from onnx_lint.spec.products import ProductRelease, version_number
from onnx_lint.spec.products.refusals import LOADED_WITH_FLOAT, ONNXRUNTIME_WITHOUT_KERNEL
from onnx_lint.spec.releases import DOMAIN_ALIAS, normalized_domain
from onnx_lint.wording import report_name


def unjudged_nodes(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the number of nodes that the data of a release do not judge, for each reason: `3 nodes of ai.onnx.ml`."""
    counts: Counter[str] = Counter()
    functions = {(normalized_domain(each.domain), each.name) for each in model.functions}
    for alike in model.operators.alike_nodes:
        for reason, count in _unjudged_of(model, alike, release, functions):
            counts[reason] += count
    for reason, count in counts.items():
        yield from phrase(count, "node", reason)


def _unjudged_of(
    model: Model, alike: AlikeNodes, release: ProductRelease, functions: Collection[tuple[str, str]]
) -> Iterator[tuple[str, int]]:
    """Yield why the data of a release do not judge nodes of one operator, with the number of these nodes.

    `functions`: those of the model, by domain and name.
    """
    operator = alike.operator
    nodes = [node for node in alike.nodes if model.calls.is_run(node.graph)]
    if _is_listed_as_refused(operator, release):  # OpenVINO leaves out what no output needs
        yield "that no output needs", sum(not model.uses.is_needed(node) for node in nodes)
    if not nodes:
        return
    reason = _reason(model, operator, release, functions)
    if reason is not None:
        yield reason, sum(not _is_judged_own(model, operator, node, release) for node in nodes)
    elif operator.schema is not None and operator.function is None:
        typed = _typed_parameters(operator, release)
        if typed != frozenset():
            unknown = sum(_has_unknown_type(model, node, operator.schema, typed) for node in nodes)
            yield "with operands of unknown type", unknown


def _reason(
    model: Model, operator: Operator, release: ProductRelease, functions: Collection[tuple[str, str]]
) -> str | None:
    """Return why the data do not say whether the release accepts an operator; None if they say yes or no.

    The reason is the end of a phrase that begins with the number of nodes.
    """
    domain, schema = operator.domain, operator.schema
    of_domain = f"of {report_name(domain) or DOMAIN_ALIAS}"
    if operator.function is not None:
        return _reason_of_call(operator, release, of_domain)
    if domain not in release.judged_domains:
        is_registered = domain in model.target.registered or model.operators.schemas.is_described(domain)
        return of_domain if is_registered or not release.has_kernels else None
    if (domain, operator.op_type) in functions or operator.status is OperatorStatus.UNVERIFIED:
        return of_domain
    if schema is None:
        return _reason_without_signature(operator, release, of_domain)
    if domain in release.own_domains and model.operators.schemas.is_described(domain):
        return of_domain  # by a schema file, whose signatures may be those of another release
    return "with subgraphs" if schema.has_subgraphs and not _judges_subgraphs(operator, release) else None


def _reason_of_call(operator: Operator, release: ProductRelease, of_domain: str) -> str | None:
    """Return why the data do not judge a call of a function of the model; None if they do."""
    if not release.has_kernels:
        return "calling functions of the model"
    if operator.domain in release.own_domains and release.has_own(operator.domain, operator.op_type):
        return f"{of_domain} that call a function of the model, though {release} has the operator"
    return None


def _reason_without_signature(operator: Operator, release: ProductRelease, of_domain: str) -> str | None:
    """Return why the data do not judge an operator that ONNX does not have; None if the release refuses it."""
    if not release.has_kernels:
        return f"{of_domain} with an operator that ONNX does not have"
    has_it = release.has_own(operator.domain, operator.op_type)
    return f"{of_domain} with an operator of {release.product}'s own" if has_it else None


def _judges_subgraphs(operator: Operator, release: ProductRelease) -> bool:
    """Return whether the data of a release judge an operator with subgraphs."""
    was_tried = release.product == "openvino" and version_number(release.version) >= _SUBGRAPHS_TRIED_SINCE
    return release.has_kernels or (was_tried and operator.op_type in ("If", "Loop", "Scan"))


_SUBGRAPHS_TRIED_SINCE = (2026, 4)
"""The first release of OpenVINO that was tried with subgraphs."""


def _is_judged_own(model: Model, operator: Operator, node: Node, release: ProductRelease) -> bool:
    """Return whether a release loads a node of an operator of its own, if no finding is about it."""
    name = operator.op_type
    is_own = not operator.domain and operator.function is None and release.has_own("", name)
    if not is_own or name not in LOADED_WITH_FLOAT or node.graph.function is not None:
        return False  # in a function it ends the process
    return all(kind_of(model, node.graph, each) == "tensor(float)" for each in node.inputs if each)


def _is_listed_as_refused(operator: Operator, release: ProductRelease) -> bool:
    """Return whether a release without kernels is known to refuse an operator."""
    schema = operator.schema
    return (
        schema is not None
        and not release.has_kernels
        and release.refuses(schema.domain, schema.name, schema.since_version)
    )


def _typed_parameters(operator: Operator, release: ProductRelease) -> frozenset[str] | None:
    """Return the parameters and type variables on whose types the answer depends; None for all of them."""
    if not release.has_kernels:
        return None if release.element_types else frozenset()
    if operator.op_type in ONNXRUNTIME_WITHOUT_KERNEL:
        return frozenset()
    kernels = [kernel.types for kernel in release.kernels(operator.domain, operator.op_type)]
    refused = release.refused_types(operator.domain, operator.op_type, operator.opset_version or 0)
    return frozenset().union(*kernels, *refused)


def _has_unknown_type(model: Model, node: Node, schema: OperatorSchema, typed: Collection[str] | None) -> bool:
    """Return whether the answer depends on the type of an operand, and this type is unknown."""
    if any(_operands_of_unknown_type(model, node, node.inputs, schema.input_at, typed)):
        return True
    # After a violation the inference has no type for an output, but the graph may state one.
    graph = node.graph
    stated = {*graph.value_info_names, *graph.output_names}
    unknown = _operands_of_unknown_type(model, node, node.outputs, schema.output_at, typed)
    return any(name not in stated for name in unknown)


def _operands_of_unknown_type(
    model: Model,
    node: Node,
    names: Sequence[str],
    parameter_at: Callable[[int], Parameter | None],
    typed: Collection[str] | None,
) -> Iterator[str]:
    """Yield the names of operands of unknown type. `typed`: the parameters that matter; None for all of them."""
    for index, name in enumerate(names):
        parameter = parameter_at(index) if name else None
        if parameter is None or (typed is not None and {parameter.name, parameter.variable}.isdisjoint(typed)):
            continue
        if not kind_of(model, node.graph, name):
            yield name
