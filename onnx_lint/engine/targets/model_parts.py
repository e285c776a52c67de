# SPDX-License-Identifier: Apache-2.0
"""Lookups of nodes, types of values and constants for the modules that say what a program may refuse."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from onnx_lint.engine.targets.node_attributes import integer_of, is_parameter
from onnx_lint.inference.shapes.fact import Content
from onnx_lint.inference.shapes.stated import content_of
from onnx_lint.ir.graph import Definition, GraphKind
from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.model import Graph, Model, Node
from onnx_lint.refusals.operands import input_shape, kind_of
from onnx_lint.spec.releases import normalized_domain


def nodes_of(model: Model, name: str) -> list[Node]:
    """Return the nodes with the operator of this name in the default domain."""
    return [
        node
        for alike in model.operators.alike_nodes
        if alike.operator.op_type == name and not alike.operator.domain
        for node in alike.nodes
    ]


def count_inputs_of_kind(model: Model, pattern: str) -> int:
    """Return the number of inputs of the main graph with a type that matches a pattern."""
    graph = model.main_graph
    return sum(re.search(pattern, kind_of(model, graph, name)) is not None for name in graph.input_names)


def stored_contents(model: Model, graph: Graph, name: str) -> list[Content]:
    """Return the elements of each tensor that a value may be, None for unknown elements; empty if it is no constant."""
    tensors = StoredElements(model.calls, model.main_graph).tensors_of(graph, name)
    return [content_of(each, tuple(each.dims)) for each in tensors]


def may_be_constant(model: Model, graph: Graph, name: str, not_folded: Collection[str] = ()) -> bool:
    """Return whether a program may compute a value while it loads the model: it depends on no input of the model.

    `not_folded`: the operators that the program does not compute then.
    """

    def inputs_of(node: Node, _: str) -> Sequence[str]:
        return () if node.op_type in not_folded else node.inputs

    def is_constant(found: Definition) -> bool:
        if found.node is not None:
            return found.node.op_type not in not_folded and not any(found.node.inputs)
        is_input = found.field == "input" and found.graph.kind is GraphKind.MAIN
        return not is_input or found.graph.input_names[found.index] in found.graph.initializer_index

    sources = [*StoredElements(model.calls, model.main_graph).definitions_behind(graph, name, inputs_of)]
    return bool(sources) and all(map(is_constant, sources))


def producers_of(model: Model, graph: Graph, name: str) -> list[Node]:
    """Return the nodes that may compute a value, after the removal of those that only pass it on."""
    found = StoredElements(model.calls, model.main_graph)
    definitions = found.definitions_behind(graph, name, lambda node, output: passed_on(model, node, output))
    return [each.node for each in definitions if each.node is not None]


def passed_on(model: Model, node: Node, output: str) -> tuple[str, ...]:
    """Return the input that a node only passes on, so that it may be removed; none if its output is the model's."""
    if normalized_domain(node.domain) or node.op_type not in ("Cast", "Dropout", "Identity") or not node.inputs:
        return ()
    graph = node.graph
    if output != node.outputs[0] or (graph is model.main_graph and output in graph.output_names):
        return ()
    is_cast = node.op_type == "Cast" and kind_of(model, graph, node.inputs[0]) != kind_of(model, graph, output)
    return () if is_cast else (node.inputs[0],)


def normalized_sizes(model: Model, node: Node) -> Sequence[object] | None:
    """Return the size of each axis that a LayerNormalization normalizes, with None for an unknown size.

    Return None if the number of these axes is unknown.
    """
    if is_parameter(node, "axis"):
        return None
    data, axis = input_shape(model, node, 0), integer_of(node, "axis", -1)
    if data is None:
        return [None] * -axis if axis < 0 else None
    return data[axis:] if -len(data) <= axis < len(data) else None
