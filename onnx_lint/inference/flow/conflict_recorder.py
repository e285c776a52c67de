# SPDX-License-Identifier: Apache-2.0
"""Records the conflicts that walks over graphs find, each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.declared_facts import DeclarationEntry
from onnx_lint.inference.flow.joining import differ_in_shape, have_different_types
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import MAX_FURTHER, Call, FurtherCalls
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.inference.shapes.problem import ShapeProblem, Warned, is_warning
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.spec.operators import OperatorSchema, OperatorSchemas

if TYPE_CHECKING:
    from onnx_lint.inference.flow.shape_conflict import ShapeConflict
    from onnx_lint.inference.flow.subgraph_shape_conflict import SubgraphShapeProblem
    from onnx_lint.inference.flow.type_conflict import OperandConflict
    from onnx_lint.inference.types.problem import TypeProblem
    from onnx_lint.inference.types.subgraph_types import Mismatch

ConflictKey = tuple[object, ...]
"""Identifies a conflict among those of all walks: the identity of its graph, and its place and kind there."""


class _IdleConflict(Record):
    """A conflict in what a call of a function does not run."""

    conflict: Any
    found: list[Any]
    """The list of conflicts to add it to if no other call runs it."""
    graph: Graph
    part: str
    """What does not run: "branch" or "body"."""


class ConflictRecorder:
    """Adds conflicts to those of a model, unless another walk found them before. It records none during a trial.

    A conflict in what one call of a function does not run is added after all walks, unless another call runs into it.
    """

    def __init__(self, flow: ValueFlow, schemas: OperatorSchemas) -> None:
        self._flow = flow
        self._schemas = schemas
        self._idle_parts = flow.reachability.idle_parts
        self._trials = flow.trials
        self._recorded: set[ConflictKey] = set()
        self._further: dict[ConflictKey, FurtherCalls] = {}
        """The other calls that have a recorded problem of operands, by its key."""
        self._idle_in_functions: dict[ConflictKey, _IdleConflict] = {}
        self.operand_problem_count = 0
        """How often a problem of operands was recorded, also again for another call."""

    # --- types

    def record_operand_types(
        self, node: Node, schema: OperatorSchema, problem: TypeProblem, inputs: Facts, call: Call | None
    ) -> None:
        """Record a type problem of a node's operands."""
        from onnx_lint.inference.flow.type_conflict import OperandConflict

        kinds = tuple([each.kind for each in inputs])
        conflict = OperandConflict(
            node=node, schema=schema, schemas=self._schemas, problem=problem, inputs=kinds, call=call
        )
        self._add_for_call(conflict, self._flow.operands)

    def record_impossible(
        self, entry: DeclarationEntry, declared: Fact, schema: OperatorSchema, call: Call | None
    ) -> None:
        """Record a declaration with a type that the operator of the node can never produce."""
        from onnx_lint.inference.flow.type_conflict import ImpossibleDeclaration

        conflict = ImpossibleDeclaration(
            graph=entry.graph,
            field=entry.field,
            index=entry.index,
            declared=declared.kind or "",
            schema=schema,
            schemas=self._schemas,
            call=call,
        )
        self._add(conflict, self._flow.declarations)

    def record_subgraph_type(self, node: Node, graph: Graph, mismatch: Mismatch, call: Call | None) -> None:
        """Record an input or output of a subgraph whose type is not the one that the node requires."""
        from onnx_lint.inference.flow.type_conflict import SubgraphConflict

        self._add(SubgraphConflict(node=node, graph=graph, mismatch=mismatch, call=call), self._flow.subgraphs)

    # --- shapes

    def record_operand_shapes(
        self, node: Node, schema: OperatorSchema, problem: ShapeProblem, inputs: Facts, call: Call | None
    ) -> None:
        """Record a problem of the shapes of a node's operands, or of values that decide shapes."""
        if self._trials.is_trial:
            if not self._idle_parts and not is_warning(problem):
                self._trials.failing_bodies.add(id(node.graph))
            return
        from onnx_lint.inference.flow.shape_conflict import ShapeConflict

        plain = problem.problem if isinstance(problem, Warned) else problem
        conflict = ShapeConflict(node=node, inputs=inputs, problem=plain, schema=schema, call=call)
        warning = problem.words if isinstance(problem, Warned) and not _fails_at_load(problem, conflict) else None
        if self._idle_parts:  # that says more about the problem than the warning of its operator
            warning = _never_runs(self._idle_parts[-1])
        conflict = replace(conflict, warning=warning)
        if conflict.is_tolerated:
            return
        if self._idle_parts and node.graph.function is not None:
            self._hold_back(conflict, self._flow.shapes, node.graph)
        else:
            self._add_for_call(conflict, self._flow.shapes)

    def record_supplied_shapes(self, node: Node, graph: Graph, supplied: Sequence[Fact], call: Call | None) -> None:
        """Record the inputs of a subgraph that are declared with another shape than its operator supplies."""
        for index, (value, argument) in enumerate(zip(graph.proto.input, supplied, strict=False)):
            if argument.shape is None and argument.inside is None:
                continue
            declared = fact_of_type(value.type)
            if differ_in_shape(argument, declared):
                from onnx_lint.inference.flow.subgraph_shape_conflict import SuppliedShapeConflict

                shapes = argument, declared
                self.record_subgraph_shape(
                    SuppliedShapeConflict(node=node, graph=graph, index=index, shapes=shapes, call=call)
                )

    def record_subgraph_shape(self, conflict: SubgraphShapeProblem) -> None:
        """Record an input or output of a subgraph with a wrong shape, unless it follows from a recorded conflict."""
        if conflict.cause_key not in self._recorded and conflict.cause_key not in self._idle_in_functions:
            self._add_unless_idle(conflict, self._flow.subgraph_shapes)

    # --- declarations

    def record_declared(
        self, entry: DeclarationEntry, declared: Fact, inferred: Fact, call: Call | None, branch: str = ""
    ) -> None:
        """Record a declaration whose type or shape contradicts the inferred one.

        `branch`: the branch of an If that has the inferred shape.
        """
        if have_different_types(declared, inferred):
            from onnx_lint.inference.flow.type_conflict import DeclarationConflict

            types = DeclarationConflict(
                graph=entry.graph,
                field=entry.field,
                index=entry.index,
                declared=declared.kind or "",
                inferred=inferred.kind or "",
                call=call,
            )
            self._add(types, self._flow.declarations)
        else:
            from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict

            shapes = DeclaredShapeConflict(
                graph=entry.graph,
                field=entry.field,
                index=entry.index,
                declared=declared,
                inferred=inferred,
                call=call,
                branch=branch,
            )
            self._add_unless_idle(shapes, self._flow.declared_shapes)

    def record_declared_count(self, entry: DeclarationEntry, declared: Fact, data: Fact, call: Call | None) -> None:
        """Record a declaration of a Reshape's output with another number of elements than the input has."""
        from onnx_lint.inference.flow.shape_conflict import DeclaredCountConflict

        conflict = DeclaredCountConflict(
            graph=entry.graph, field=entry.field, index=entry.index, declared=declared, data=data, call=call
        )
        self._add_unless_idle(conflict, self._flow.declared_shapes)

    # --- each conflict once

    def _add(self, conflict: Any, found: list[Any]) -> bool:
        """Add a conflict that no other walk found; return whether it was added."""
        is_new = not self._trials.is_trial and conflict.key not in self._recorded
        if is_new:
            self._recorded.add(conflict.key)
            found.append(conflict)
        return is_new

    def _add_unless_idle(self, conflict: Any, found: list[Any]) -> None:
        """Add a conflict that no other walk found; hold it back in what a call of a function does not run."""
        if self._idle_parts and conflict.graph.function is not None:
            self._hold_back(conflict, found, conflict.graph)
        elif self._add(conflict, found) and self._idle_parts:
            self._flow.idle_words[id(conflict)] = _never_runs(self._idle_parts[-1])

    def _add_for_call(self, conflict: OperandConflict | ShapeConflict, found: list[Any]) -> None:
        """Add a problem of operands, or add its call to those of the same problem."""
        if self._trials.is_trial:
            return
        self.operand_problem_count += 1
        further = self._further.get(conflict.key)
        if further is None:
            further = self._further[conflict.key] = FurtherCalls()
            self._add(replace(conflict, further=further), found)
        elif conflict.call is not None and len(further.calls) < MAX_FURTHER:
            further.calls.append(conflict.call)

    def _hold_back(self, conflict: Any, found: list[Any], graph: Graph) -> None:
        """Keep a conflict in what a call of a function does not run until all calls were followed."""
        if not self._trials.is_trial:
            held = _IdleConflict(conflict=conflict, found=found, graph=graph, part=self._idle_parts[-1])
            self._idle_in_functions.setdefault(conflict.key, held)

    def record_held_back(self) -> None:
        """Record the conflicts in what no call of a function runs."""
        for key, held in self._idle_in_functions.items():
            if key in self._recorded:
                continue
            words = f"; the {held.part} does not run in this call"
            if self._flow.never_runs(held.graph):
                words = _never_runs(held.part)
            kept = held.conflict
            if held.found is self._flow.shapes:
                kept = replace(kept, warning=words)
            self._flow.idle_words[id(kept)] = words
            held.found.append(kept)


def _never_runs(part: str) -> str:
    """Return the end of a message on a conflict in a branch or body that never runs."""
    return f"; the {part} never runs"


def _fails_at_load(problem: Warned, conflict: ShapeConflict) -> bool:
    """Return whether a problem is an error after all, since the shapes of the operands are known without any run."""
    from onnx_lint.inference.flow.load_time import ValueInCall, has_shape_at_load

    if not problem.is_error_at_load or not conflict.operands:
        return False
    node = conflict.node
    operands = [ValueInCall(node.graph, node.inputs[each], conflict.call) for each in conflict.operands]
    return all(map(has_shape_at_load, operands))
