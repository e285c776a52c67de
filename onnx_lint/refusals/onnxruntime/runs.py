# SPDX-License-Identifier: Apache-2.0
"""The nodes of ONNX Runtime's operators that a release loads, and with which each run of the model fails."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from onnx_lint.model import Model, Node, normalized_domain
from onnx_lint.refusals.causes import CauseKind, Refusal, RefusalCause
from onnx_lint.refusals.onnxruntime.nodes import run_nodes
from onnx_lint.refusals.operands import attribute_values, input_name, input_shape, operand_types, operator_name
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.runtime_releases import EXTENTS, failing_runs, signature_in
from onnx_lint.spec.products import ProductRelease


def failing_runs_of(model: Model, release: ProductRelease, refused: Collection[Node]) -> Iterator[Refusal]:
    """Yield the nodes that a release loads, and with which each run of the model fails.

    `refused`: the nodes that it does not load.
    """
    failing = [each for each in _failing_nodes(model, release) if each.nodes[0] not in refused]
    run = _executed_nodes(model) if failing else ()
    yield from (each for each in failing if each.nodes[0] in run)


def _failing_nodes(model: Model, release: ProductRelease) -> Iterator[Refusal]:
    """Yield each node of the main graph with which a run fails, if it comes to it."""
    for alike in model.operators.alike_nodes:
        schema = alike.operator.schema
        if schema is None or alike.operator.function or schema.domain not in release.own_domains:
            continue
        for node in run_nodes(model, alike, release):
            if node.graph is model.main_graph:
                for what in _causes(model, node, schema, release):
                    cause = RefusalCause(
                        CauseKind.FAILING_RUN, operator_name(schema.domain, schema.name), f"has {what}"
                    )
                    yield Refusal(cause, (node,))


def _causes(model: Model, node: Node, schema: OperatorSchema, release: ProductRelease) -> Iterator[str]:
    """Yield what makes each run of a node fail, in words."""
    parameters = (signature_in(release.version, schema.domain, schema.name) or schema).inputs
    shapes = {
        parameter.name: model.shape_of(name, node.graph)
        for parameter, name in zip(parameters, node.inputs, strict=False)
        if name
    }
    extents = {name: _has_elements(model, node, each.first_axis) for name, each in EXTENTS.items()}
    found = failing_runs(
        release.version,
        schema.name,
        values=attribute_values(node, schema),
        ranks={name: None if shape is None else len(shape) for name, shape in shapes.items()},
        types=operand_types(model, node, schema),
        extents={name for name, has in extents.items() if has is not False},
    )
    for each in found:
        unless = " if input 0 has elements" if each.extent is not None and not extents[each.extent] else ""
        yield f"{each.words}, with which each run of {release} on CPUs fails{unless}"


def _has_elements(model: Model, node: Node, first: int) -> bool | None:
    """Return whether the axes of input 0 from one on have no size of 0; None if that is unknown."""
    shape = input_shape(model, node, 0)
    if shape is None:
        return None
    sizes = shape[first:]
    if 0 in sizes:
        return False
    return True if all(isinstance(size, int) for size in sizes) else None


def _executed_nodes(model: Model) -> set[Node]:
    """Return the nodes of the main graph that ONNX Runtime surely executes.

    They are the nodes that cannot be removed, those whose outputs nothing reads, and the producers of the values that
    these nodes need.
    """
    graph = model.main_graph
    used = model.uses.used_in(graph)
    calls = {node for node, _ in model.calls.all}
    pending = [node for node in graph.nodes if model.kept_nodes.is_kept(node) or used.isdisjoint(node.outputs)]
    found = {*pending}
    while pending:
        reader = pending.pop()
        if reader in calls:  # the function may need no more than the shape of an argument
            continue
        for name in filter(None, reader.inputs):
            definition = graph.definition_of(name)
            producer = definition.node if definition is not None else None
            if producer is not None and producer not in found and _needs(model, reader, name, producer):
                found.add(producer)
                pending.append(producer)
    return found


def _needs(model: Model, reader: Node, name: str, producer: Node) -> bool:
    """Return whether a node needs the elements of a value that it reads, or a size that only the run knows.

    If ONNX Runtime knows all sizes, it computes a Shape while it loads the model. It never computes a Size then.
    """
    if reader.op_type != "Shape" or normalized_domain(reader.domain):
        return True
    graph = model.main_graph
    is_stated = name in graph.value_info_names or name in graph.output_names
    if _has_no_inferred_shape(producer) and not is_stated:
        return True
    return any(isinstance(size, str) for size in model.shape_of(name, graph) or ())


def _has_no_inferred_shape(node: Node) -> bool:
    """Return whether ONNX Runtime infers no shape for a node: an Attention without a bias."""
    return (normalized_domain(node.domain), node.op_type) == ("com.microsoft", "Attention") and not input_name(node, 2)
