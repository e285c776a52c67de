# SPDX-License-Identifier: Apache-2.0
"""What following the values through a model brings: types and shapes, and what is at odds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.flow.joining import joined
from onnx_lint.inference.flow.knowledge import Knowledge, Origins, unknown_shapes
from onnx_lint.inference.flow.walks import Call, Walked, Walks
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.inference.types.type_string import ValueType
from onnx_lint.ir.graph import Graph, GraphKind, Node
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.spec.operators import OperatorSchema

if TYPE_CHECKING:
    from onnx_lint.inference.flow.cell import Cell
    from onnx_lint.inference.flow.shape_conflict import (
        BranchShapeConflict,
        DeclaredCountConflict,
        DeclaredShapeConflict,
        ShapeConflict,
        SuppliedShapeConflict,
    )
    from onnx_lint.inference.shapes.problem import Problem as ShapeProblem
    from onnx_lint.inference.types.conflict import Conflict
    from onnx_lint.inference.types.declaration_conflict import DeclarationConflict, ImpossibleDeclaration
    from onnx_lint.inference.types.operand_conflict import OperandConflict
    from onnx_lint.inference.types.problem import Problem
    from onnx_lint.inference.types.subgraph_conflict import SubgraphConflict
    from onnx_lint.inference.types.subgraph_types import Mismatch
    from onnx_lint.ir.columns.nodes import NodeForm


class ValueFlow:
    """What is known of the values of the main graph, and the conflicts of all graphs.

    A function body is walked for each tuple of arguments; what is wrong there is kept the first time.
    """

    def __init__(self, operators: Operators, *, keeps_all: bool = False) -> None:
        self.walks = Walks()
        """The walks over the graphs and function bodies."""
        self.keeps_all = keeps_all
        """Whether every walk over a function body is kept, and not the first alone."""
        self.facts: dict[str, Fact] = {}
        """What is known of the values of the main graph; there may be no entry for one of which nothing is."""
        self.operands: list[OperandConflict] = []
        self.declarations: list[DeclarationConflict | ImpossibleDeclaration] = []
        self.subgraphs: list[SubgraphConflict] = []
        self.shapes: list[ShapeConflict] = []
        self.declared_shapes: list[DeclaredShapeConflict | DeclaredCountConflict] = []
        self.subgraph_shapes: list[SuppliedShapeConflict | BranchShapeConflict] = []
        self._operators = operators
        self._schemas = operators.schemas
        self._noted: set[tuple[object, ...]] = set()
        self.notes = 0
        """How many conflicts were met, those included that were there before."""

    @cached_property
    def types(self) -> Mapping[str, ValueType | None]:
        """The types of the values of the main graph; None, or no entry, where it is not known."""
        return {name: each.kind for name, each in self.facts.items()}

    def shape_of(self, name: str, graph: Graph | None = None) -> Shape:
        """The shape of a value that a graph sees, the main graph where none is given; None where it is not known.

        In a function body it is the shape that follows from the first call.
        """
        return self.fact_of(name, graph).shape

    def fact_of(self, name: str, graph: Graph | None = None) -> Fact:
        """What is known of a value that a graph sees, as in `shape_of`."""
        known: Mapping[str, Fact] = self.facts
        while graph is not None:
            walked = self.walks.of(graph, None)
            known = walked.facts if walked is not None else {}
            graph = graph.parent if name not in known else None
        return known.get(name, UNKNOWN)

    def facts_seen(self, graph: Graph) -> Callable[[str], Fact | None]:
        """What tells of a value that a graph sees, by its name, what is known of it, as `fact_of`; None for nothing."""
        walked = self.walks.of(graph, None)
        if graph.parent is None and walked is not None:
            return walked.facts.get
        return lambda name: self.fact_of(name, graph)

    def conflicts(self) -> Iterator[Conflict]:
        """All types that are at odds."""
        yield from self.operands
        yield from self.declarations
        yield from self.subgraphs

    @property
    def has_shape_conflicts(self) -> bool:
        """Whether any shape is at odds with an operator or a declaration."""
        return bool(self.shapes or self.declared_shapes or self.subgraph_shapes)

    @cached_property
    def knowledge(self) -> Knowledge:
        """How many values of all graphs and function bodies have a known shape, and where knowledge ended."""
        unknown = [walked for walked in self.walks.first if walked.unknown]
        if not unknown:
            return Knowledge(sum([len(walked.graph.positions) for walked in self.walks.first]), 0, ())
        return Origins(self.walks, self._operators).knowledge()

    def note_graph(
        self,
        graph: Graph,
        known: Mapping[str, Fact],
        cells: Mapping[NodeForm, Cell],
        call: Call | None,
        *,
        has_unknown: bool,
    ) -> None:
        """Keep what is known of a graph when it has been walked; of later walks over it only if that is asked for.

        `has_unknown`: whether there may be values of unknown shape.
        """
        if self.keeps_all or graph not in self.walks:
            kind = graph.kind
            # The values of these are forgotten when the walk leaves them; others have what is handed in to keep.
            is_inner = kind is GraphKind.NESTED or kind is GraphKind.INITIALIZATION or kind is GraphKind.ALGORITHM
            own = {name: known[name] for name in graph.positions if name in known} if is_inner else known
            unknown = unknown_shapes(graph, known) if has_unknown else _NONE_UNKNOWN
            self.walks.add(Walked(graph, own, unknown, cells, call))

    def keep(self, walked: Walked) -> None:
        """Keep a walk that another one stands for, unless there is one over its graph."""
        if walked.graph not in self.walks:
            self.walks.add(walked)

    def note_operand(
        self, node: Node, schema: OperatorSchema, problem: Problem, inputs: Facts, call: Call | None
    ) -> None:
        """Keep a problem of the types of a node's operands."""
        from onnx_lint.inference.types.conflict import call_site
        from onnx_lint.inference.types.operand_conflict import OperandConflict

        if self._is_new(node.graph, node.index, problem):
            kinds = tuple([each.kind for each in inputs])
            conflict = OperandConflict(node, schema, self._schemas, problem, kinds, call_site(_typed(call)))
            self.operands.append(conflict)

    def note_declaration(
        self, graph: Graph, field: str, index: int, declared: ValueType, inferred: ValueType, call: Call | None
    ) -> None:
        """Keep a declaration, in a list of the graph, that says another type than follows."""
        from onnx_lint.inference.types.conflict import call_site
        from onnx_lint.inference.types.declaration_conflict import DeclarationConflict

        if self._is_new(graph, field, index):
            conflict = DeclarationConflict(graph, field, index, declared, inferred, call_site(_typed(call)))
            self.declarations.append(conflict)

    def note_impossible(
        self, graph: Graph, field: str, index: int, declared: ValueType, schema: OperatorSchema, call: Call | None
    ) -> None:
        """Keep a declaration, in a list of the graph, that says a type which the operator of the node never gives."""
        from onnx_lint.inference.types.conflict import call_site
        from onnx_lint.inference.types.declaration_conflict import ImpossibleDeclaration

        if self._is_new(graph, field, index):
            site = call_site(_typed(call))
            conflict = ImpossibleDeclaration(graph, field, index, declared, schema, self._schemas, site)
            self.declarations.append(conflict)

    def note_subgraph(self, node: Node, graph: Graph, mismatch: Mismatch, call: Call | None) -> None:
        """Keep an input or output of a subgraph that is not of the type that the node needs there."""
        from onnx_lint.inference.types.conflict import call_site
        from onnx_lint.inference.types.subgraph_conflict import SubgraphConflict

        if self._is_new(graph, mismatch.role, mismatch.index):
            conflict = SubgraphConflict(node, graph, mismatch, call_site(_typed(call)))
            self.subgraphs.append(conflict)

    def note_shapes(
        self, node: Node, schema: OperatorSchema, problem: ShapeProblem, inputs: Facts, call: Call | None
    ) -> None:
        """Keep a problem of the shapes of a node's operands, or of what decides shapes."""
        from onnx_lint.inference.flow.shape_conflict import ShapeConflict

        about = [getattr(problem, name, None) for name in ("operand", "source", "output")]
        place = type(problem), *about, str(getattr(problem, "place", ""))
        # With other arguments of a function the numbers are others, and the matter is the same.
        if self._is_new(node.graph, node.index, *(place if call is not None else (problem,))):
            conflict = ShapeConflict(node, schema, problem, inputs, call)
            if not conflict.is_customary:
                self.shapes.append(conflict)

    def note_declared_shape(
        self,
        graph: Graph,
        field: str,
        index: int,
        declared: Fact,
        inferred: Fact,
        call: Call | None,
        branch: str = "",
    ) -> None:
        """Keep a declaration, in a list of the graph, that says another shape than follows.

        `branch` is the branch of an If from which it follows.
        """
        from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict

        if self._is_new(graph, field, index):
            self.declared_shapes.append(DeclaredShapeConflict(graph, field, index, declared, inferred, call, branch))

    def note_declared_count(
        self, graph: Graph, field: str, index: int, declared: Fact, data: Fact, call: Call | None
    ) -> None:
        """Keep a declaration of a Reshape's output with another number of elements than the input has."""
        from onnx_lint.inference.flow.shape_conflict import DeclaredCountConflict

        if self._is_new(graph, field, index):
            self.declared_shapes.append(DeclaredCountConflict(graph, field, index, declared, data, call))

    def note_supplied_shapes(self, node: Node, graph: Graph, supplied: tuple[Fact, ...], call: Call | None) -> None:
        """Keep the inputs of a subgraph that are declared with another shape than its operator supplies."""
        for index, (value, given) in enumerate(zip(graph.proto.input, supplied, strict=False)):
            if given.shape is None and given.inside is None:
                continue
            stated = fact_of_type(value.type)
            if joined(given, stated)[1] == "shape" and self._is_new(graph, "supplied shape", index):
                from onnx_lint.inference.flow.shape_conflict import SuppliedShapeConflict

                self.subgraph_shapes.append(SuppliedShapeConflict(node, graph, index, stated, given, call))

    def note_branches(
        self, node: Node, graphs: Mapping[str, Graph], found: Mapping[str, Facts], index: int, call: Call | None
    ) -> None:
        """Keep an output of which the two branches of an If hand on different shapes."""
        from onnx_lint.inference.flow.shape_conflict import BranchShapeConflict

        one, other = graphs["then_branch"], graphs["else_branch"]
        if self._is_new(other, "branches", index):
            shapes = found["then_branch"][index], found["else_branch"][index]
            self.subgraph_shapes.append(BranchShapeConflict(node, (one, other), index, shapes, call))

    def _is_new(self, graph: Graph, *what: object) -> bool:
        self.notes += 1
        key = (id(graph), *what)
        is_new = key not in self._noted
        self._noted.add(key)
        return is_new


_NONE_UNKNOWN: Final[frozenset[str]] = frozenset()


def _typed(call: Call | None) -> tuple[Node, tuple[ValueType | None, ...]] | None:
    """The call with the types of the arguments alone."""
    return None if call is None else (call.node, tuple([each.kind for each in call.arguments]))
