# SPDX-License-Identifier: Apache-2.0
"""Finds nodes whose result follows from constants alone, so that an exporter could have stored it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.dims import are_sizes
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Graph, GraphKind, Node
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES, ELEMENT_TYPES
from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE
from onnx_lint.spec.operators.attribute_constraints import NONDETERMINISTIC

_KEPT: Final = frozenset({"Constant", "ConstantOfShape", "DequantizeLinear", "DynamicQuantizeLinear", "Identity"})
"""Operators that are not reported: constants, stored in few bytes on purpose, or reported otherwise."""

_FREE_BYTES: Final = 1_024
"""The most bytes of a result that is always worth storing, even if its operands are small."""


def foldable_nodes(
    graphs: Sequence[Graph], operators: Operators, flow: ValueFlow, ir_version: int, training: Iterable[Proto]
) -> list[Node]:
    """Return the last nodes of computations on constants: those whose result others use, or that is an output.

    `graphs`: each before those nested in it. A result of unknown size, or larger than its operands, is left out.
    """
    found: list[Node] = []
    trained = {entry.key for info in training for entry in (*info.initialization_binding, *info.update_binding)}
    constants: dict[Graph, set[str]] = {}
    for graph in graphs:
        if graph.kind in {GraphKind.FILE, GraphKind.INITIALIZATION}:
            continue  # an initialization graph is there to compute constants
        known = constants[graph] = _stored(graph, ir_version) - trained
        computing: dict[str, int] = {}
        pure = {form for form in graph.form_counts if is_pure(operators, graph, form)}
        for index, (form, inputs, outputs) in enumerate(
            zip(graph.forms, graph.node_inputs, graph.node_outputs, strict=True)
        ):
            if form in pure and all(not name or _is_constant(graph, name, constants) for name in inputs):
                known.update(outputs)
                if form.op_type not in _KEPT and _is_worth_storing(flow, graph, form, inputs, outputs):
                    computing.update(dict.fromkeys(filter(None, outputs), index))
        found += _last(graph, computing)
    return found


def _last(graph: Graph, computing: dict[str, int]) -> list[Node]:
    """Return the nodes of `computing` with a result that a node outside of `computing`, or the graph, uses."""
    if not computing:
        return []
    inside = set(computing.values())
    used = {name for index, names in enumerate(graph.node_inputs) if index not in inside for name in names}
    for nested in graph.nested:
        used.update(*nested.node_inputs, nested.output_names)
    used.update(graph.output_names)
    return [graph.nodes[index] for index in sorted({computing[name] for name in used & computing.keys()})]


def _stored(graph: Graph, ir_version: int) -> set[str]:
    """Return the names of the initializers that no caller can replace."""
    stored = {*graph.initializer_names, *graph.sparse_initializer_names}
    return stored if ir_version < FREE_INITIALIZERS_SINCE else stored.difference(graph.input_names)


def _is_constant(graph: Graph, name: str, constants: dict[Graph, set[str]]) -> bool:
    scope: Graph | None = graph
    while scope is not None:
        if name in scope.positions:
            return name in constants.get(scope, ())
        scope = scope.parent
    return False


def is_pure(operators: Operators, graph: Graph, form: NodeForm) -> bool:
    """Return whether nodes of the form always compute the same from the same inputs."""
    schema = operators.operator_in(graph, form).schema
    if schema is None or schema.domain or schema.deprecated or form.op_type in NONDETERMINISTIC:
        return False
    if not any(form.inputs) and form.op_type != "Constant":
        return False
    return not any(each.ref_attr_name or each.HasField("g") or each.graphs for each in form.attributes)


def _is_worth_storing(
    flow: ValueFlow, graph: Graph, form: NodeForm, inputs: Sequence[str], outputs: Sequence[str]
) -> bool:
    operands = [flow.fact_of(name, graph) for name in inputs if name]
    results = [flow.fact_of(name, graph) for name in outputs if name]
    if form.op_type == "Cast" and [fact.kind for fact in operands] == [fact.kind for fact in results]:
        return False  # it has no effect, which is reported otherwise
    sizes = list(map(bytes_of, results))
    needed = sum(filter(None, sizes))
    return None not in sizes and (needed <= _FREE_BYTES or needed <= sum(filter(None, map(bytes_of, operands))))


def bytes_of(fact: Fact) -> int | None:
    """Return how many bytes a tensor takes; None if that is unknown, or if it is not a tensor of numbers."""
    if fact.kind is None or not are_sizes(fact.shape):
        return None
    name = fact.kind.removeprefix("tensor(").removesuffix(")")
    element = ELEMENT_TYPES[ELEMENT_TYPE_NAMES.index(name) + 1] if name in ELEMENT_TYPE_NAMES else None
    return element.bytes_of(math.prod(fact.shape)) if element is not None and element.bits else None
