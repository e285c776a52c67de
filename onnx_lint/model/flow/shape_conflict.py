# SPDX-License-Identifier: Apache-2.0
"""Where shapes are at odds with operators and declarations, for rules to make findings of."""

from __future__ import annotations

from onnx_lint.model.graph import Graph, Node
from onnx_lint.model.shapes.fact import Fact, Facts
from onnx_lint.model.shapes.problem import Problem
from onnx_lint.record import Record
from onnx_lint.spec.operators import OperatorSchema

Call = tuple[Node, Facts]


class ShapeConflict(Record):
    """A node whose operator does not take the shapes of its inputs, or the numbers that decide shapes."""

    node: Node
    schema: OperatorSchema
    problem: Problem
    inputs: Facts
    call: Call | None
    """The call by which the arguments came into a function body: the first one that led to the conflict."""


class DeclaredShapeConflict(Record):
    """A value that is declared with another shape than follows from the node that makes it."""

    graph: Graph
    field: str
    """`output` or `value_info`: the list that declares it."""
    index: int
    declared: Fact
    inferred: Fact
    call: Call | None


class SuppliedShapeConflict(Record):
    """An input of a subgraph that is declared with another shape than its control-flow operator supplies."""

    node: Node
    graph: Graph
    index: int
    declared: Fact
    supplied: Fact
    call: Call | None
