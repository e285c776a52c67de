# SPDX-License-Identifier: Apache-2.0
"""What following the types through a model brings: the types of values, and what is at odds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnx_lint.model.graph import Graph, Node
from onnx_lint.model.types.type_string import ValueType
from onnx_lint.model.types.typed_operator import Inputs
from onnx_lint.spec.operators import OperatorSchema, OperatorSchemas

if TYPE_CHECKING:
    from onnx_lint.model.types.conflict import Conflict
    from onnx_lint.model.types.declaration_conflict import DeclarationConflict
    from onnx_lint.model.types.operand_conflict import OperandConflict
    from onnx_lint.model.types.problem import Problem
    from onnx_lint.model.types.subgraph_conflict import SubgraphConflict
    from onnx_lint.model.types.subgraph_types import Mismatch

Call = tuple[Node, Inputs]
"""A node that calls a function, and the types of its arguments."""


class TypeFlow:
    """The types of the values of the main graph, and the conflicts of all graphs.

    A function body is walked for each tuple of argument types; what is wrong there is kept the first time.
    """

    __slots__ = ("_noted", "_schemas", "declarations", "operands", "subgraphs", "types")

    def __init__(self, schemas: OperatorSchemas) -> None:
        self.types: dict[str, ValueType | None] = {}
        """The types of the values of the main graph; None, or no entry, where it is not known."""
        self.operands: list[OperandConflict] = []
        self.declarations: list[DeclarationConflict] = []
        self.subgraphs: list[SubgraphConflict] = []
        self._schemas = schemas
        self._noted: set[tuple[object, ...]] = set()

    def conflicts(self) -> Iterator[Conflict]:
        """All that is at odds."""
        yield from self.operands
        yield from self.declarations
        yield from self.subgraphs

    def note_operand(
        self, node: Node, schema: OperatorSchema, problem: Problem, inputs: Inputs, call: Call | None
    ) -> None:
        """Keep a problem of a node's operands."""
        from onnx_lint.model.types.conflict import call_site
        from onnx_lint.model.types.operand_conflict import OperandConflict

        if self._is_new(node.graph, node.index, problem):
            conflict = OperandConflict(node, schema, self._schemas, problem, inputs, call_site(call))
            self.operands.append(conflict)

    def note_declaration(
        self, graph: Graph, field: str, index: int, declared: ValueType, inferred: ValueType, call: Call | None
    ) -> None:
        """Keep a declaration, in a list of the graph, that says another type than follows."""
        from onnx_lint.model.types.conflict import call_site
        from onnx_lint.model.types.declaration_conflict import DeclarationConflict

        if self._is_new(graph, field, index):
            conflict = DeclarationConflict(graph, field, index, declared, inferred, call_site(call))
            self.declarations.append(conflict)

    def note_subgraph(self, node: Node, graph: Graph, mismatch: Mismatch, call: Call | None) -> None:
        """Keep an input or output of a subgraph that is not of the type that the node needs there."""
        from onnx_lint.model.types.conflict import call_site
        from onnx_lint.model.types.subgraph_conflict import SubgraphConflict

        if self._is_new(graph, mismatch.role, mismatch.index):
            conflict = SubgraphConflict(node, graph, mismatch, call_site(call))
            self.subgraphs.append(conflict)

    def _is_new(self, graph: Graph, *what: object) -> bool:
        key = (id(graph), *what)
        is_new = key not in self._noted
        self._noted.add(key)
        return is_new
