# SPDX-License-Identifier: Apache-2.0
"""Where the size in an equation comes from: a constant, or the declaration of an input."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.ir.graph import Definition, Graph

_MAX_COMPUTED: Final = 32
"""The most values from which a constant may be computed."""


class PassedValue(Record):
    """A value that calls pass to a node, and the graph that sees it under this name."""

    graph: Graph
    name: str

    @property
    def definition(self) -> Definition | None:
        """The definition of the value."""
        return self.graph.definition_of(self.name)

    @property
    def declared_shape(self) -> Dims:
        """The shape with which an input of a graph is declared; empty for other values."""
        definition = self.definition
        if definition is None or definition.field != "input":
            return ()
        declared = facts_of_types(definition.graph.value_infos["input"].types)
        return declared[definition.graph.input_names.index(self.name)].shape or ()

    @property
    def is_constant(self) -> bool:
        """True if the value is stored, or if few nodes compute it from stored values alone."""
        left, seen = [self.name], {self.name}
        while left:
            if len(seen) > _MAX_COMPUTED:
                return False
            name = left.pop()
            operands = _operands_of_constant(self.graph, name)
            if operands is None:
                return False
            new = operands - seen
            left += sorted(new)
            seen |= new
        return True


def _operands_of_constant(graph: Graph, name: str) -> set[str] | None:
    """Return the values that a value is computed from, none if it is stored; None if it is no constant."""
    definition = graph.definition_of(name)
    if definition is None or (definition.field == "input" and name not in definition.graph.initializer_index):
        return None
    node = definition.node
    if node is None:
        return set()
    is_random = not node.inputs and node.op_type != "Constant"
    return None if is_random else {each for each in node.inputs if each}


def passed_value(name: str, graph: Graph, call: Call | None) -> PassedValue | None:
    """Return the value that calls pass to a function under a name; None if they leave it out."""
    definition = graph.definition_of(name)
    while definition is not None and definition.field == "input" and definition.graph.is_function:
        index = definition.graph.input_names.index(name)
        if call is None or index >= len(call.node.inputs):
            return None
        name, graph, call = call.node.inputs[index], call.node.graph, call.around
        definition = graph.definition_of(name)
    return PassedValue(graph, name)
