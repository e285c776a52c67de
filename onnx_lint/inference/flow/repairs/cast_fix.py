# SPDX-License-Identifier: Apache-2.0
"""The fix of Casts whose attribute contradicts both the declaration and the users of their output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.flow.type_conflict import DeclarationConflict, OperandConflict
from onnx_lint.inference.types.problem import Differing
from onnx_lint.inference.types.type_string import TENSORS, ValueType
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.edits import Assign, Edit, Fix
from onnx_lint.ir.places.place import Place


class CastFix:
    """One fix for all such Casts. The findings on values that follow from them share it."""

    def __init__(
        self,
        declarations: Iterable[object],
        operands: Iterable[OperandConflict],
        graphs: Sequence[Graph],
        kind_of: Callable[[str, Graph], ValueType | None],
    ) -> None:
        self._conflicts = {
            _definition(each.graph, each.subject): each
            for each in declarations
            if isinstance(each, DeclarationConflict) and each.call is None and not each.graph.is_function
        }
        self._graphs = graphs
        self._kind_of = kind_of
        self._required = _required_types(operands)
        edits = self._edits()
        casts = "1 Cast" if len(edits) == 1 else f"{len(edits):,} Casts"
        what = f"set attribute 'to' of {casts} to the type that the declaration and the users of the output require"
        self._fix = Fix(what, tuple(edits.values()), is_safe=False)
        self._resolved = self._resolved_by(edits)

    def fix_for(self, conflict: object) -> Fix | None:
        """Return the fix if it resolves the conflict."""
        return self._fix if id(conflict) in self._resolved else None

    def _resolved_by(self, edits: Iterable[Place | None]) -> set[int]:
        """Return the identities of the conflicts that edits of Casts resolve, and of those that follow from them."""
        resolved = set(edits)
        for place, conflict in self._conflicts.items():
            if not resolved.isdisjoint(self._sources(conflict)):
                resolved.add(place)
        return {id(self._conflicts[place]) for place in resolved}

    def _edits(self) -> dict[Place | None, Edit]:
        """Return the edit of the attribute of each Cast, by the place of its output."""
        required: set[Place | None] = set()
        found: dict[Place | None, Edit] = {}
        for place, conflict in reversed(self._conflicts.items()):
            if place not in required and (place, conflict.declared) not in self._required:
                continue
            if conflict.cast_to is None:
                required |= self._sources(conflict)
            elif conflict.declared in TENSORS and not self._has_other_user(conflict):
                found[place] = Assign(conflict.cast_to.at("i"), TENSORS.index(conflict.declared))
        return found

    def _sources(self, conflict: DeclarationConflict) -> set[Place | None]:
        """Return the inputs of the node of a value that have the same conflict."""
        definition = conflict.graph.definition_of(conflict.subject)
        node = definition.node if definition is not None else None
        places = {_definition(node.graph, name) for name in node.inputs if name} if node is not None else set()
        kinds = conflict.declared, conflict.inferred
        return {
            place
            for place in places & self._conflicts.keys()
            if (self._conflicts[place].declared, self._conflicts[place].inferred) == kinds
        }

    def _has_other_user(self, conflict: DeclarationConflict) -> bool:
        """Return whether a user has another input of the inferred type, which may have to be that of the Cast."""
        name, place = conflict.subject, _definition(conflict.graph, conflict.subject)
        return any(
            self._kind_of(other, graph) == conflict.inferred and _definition(graph, other) not in self._conflicts
            for graph, names in self._users.get(name, ())
            if _definition(graph, name) == place
            for other in names
            if other and other != name
        )

    @cached_property
    def _users(self) -> dict[str, list[tuple[Graph, Sequence[str]]]]:
        """The inputs of the nodes that use a value with a conflict, by its name."""
        found: dict[str, list[tuple[Graph, Sequence[str]]]] = {each.subject: [] for each in self._conflicts.values()}
        for graph in self._graphs:
            for names in graph.node_inputs:
                for name in found.keys() & set(names):
                    found[name].append((graph, names))
        return found


def _required_types(conflicts: Iterable[OperandConflict]) -> set[tuple[Place | None, ValueType | None]]:
    """Return the definitions of operands, each with the type of another operand that must have the same."""
    found: set[tuple[Place | None, ValueType | None]] = set()
    for conflict in conflicts:
        problem, node, kinds = conflict.problem, conflict.node, conflict.inputs
        if isinstance(problem, Differing):
            one, other = problem.index, problem.other
            found.add((_definition(node.graph, node.inputs[one]), kinds[other]))
            found.add((_definition(node.graph, node.inputs[other]), kinds[one]))
    return found


def _definition(graph: Graph, name: str) -> Place | None:
    found = graph.definition_of(name)
    return None if found is None else found.place
