# SPDX-License-Identifier: Apache-2.0
"""The fix that turns constant operands from lists of one element into scalars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.flow.shape_conflict import ShapeConflict
from onnx_lint.inference.shapes.problem import WrongRank
from onnx_lint.inference.types.conflict import definition_of
from onnx_lint.ir.graph import Definition, Graph, Node
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import message

_Operand = tuple[Graph, int, int]
"""A graph, the number of a node in it, and the index of an input."""


class ScalarFix:
    """One fix for all tensors of a model that must be scalars. Findings that are only about such tensors share it."""

    def __init__(self, conflicts: Iterable[ShapeConflict], graphs: Sequence[Graph]) -> None:
        self._conflicts = [conflict for conflict in conflicts if _needs_scalar(conflict)]
        self._graphs = graphs

    def of(self, conflicts: Iterable[ShapeConflict]) -> Fix | None:
        """Return the fix if it resolves all of these conflicts; otherwise None."""
        if not self._conflicts:
            return None
        tensors = self._tensors
        return self._fix if all(_needs_scalar(each) and _name(each) in tensors for each in conflicts) else None

    def _declarations(self) -> Iterator[Edit]:
        """Yield the edits that make the declarations of the tensors in `value_info` those of scalars."""
        for graph in self._graphs:
            for index, name in enumerate(graph.value_info_names):
                if name in self._tensors:
                    shape = graph.at("value_info", index).at("type").at("tensor_type").at("shape")
                    if graph.message_at("value_info", index).type.tensor_type.shape.dim:
                        yield Delete(shape.at("dim"))

    @cached_property
    def _fix(self) -> Fix:
        edits = tuple(self._tensors.values())
        tensors = "1 tensor" if len(edits) == 1 else f"{len(edits):,} tensors"
        return Fix(f"make {tensors} of one element a scalar", (*edits, *self._declarations()), is_safe=False)

    @cached_property
    def _tensors(self) -> Mapping[str, Edit]:
        """The edit that makes a scalar of each tensor whose every use requires one, by the name of the tensor."""
        operands: dict[str, set[_Operand]] = {}
        places: dict[str, dict[Place, Edit]] = {}
        for conflict in self._conflicts:
            name = _name(conflict)
            operands.setdefault(name, set()).add((conflict.node.graph, conflict.node.index, _operand(conflict)))
            definition = definition_of(conflict.node.graph, name)
            edit = _as_scalar(definition) if definition is not None else None
            if edit is not None and not _is_list_inside(conflict.node, _operand(conflict)):
                places.setdefault(name, {})[edit.place] = edit
        uses = Counter(
            name for graph in self._graphs for names in graph.node_inputs for name in names if name in places
        )
        declared = [stated for graph in self._graphs for stated in (graph.input_names, graph.output_names)]
        others = {name for names in declared for name in names if name in places}
        return {
            name: next(iter(found.values()))
            for name, found in places.items()
            if len(found) == 1 and uses[name] == len(operands[name]) and name not in others
        }


def _needs_scalar(conflict: ShapeConflict) -> bool:
    problem = conflict.problem
    return isinstance(problem, WrongRank) and problem.greatest == 0


def _operand(conflict: ShapeConflict) -> int:
    assert isinstance(conflict.problem, WrongRank)
    return conflict.problem.operand


def _name(conflict: ShapeConflict) -> str:
    return conflict.node.inputs[_operand(conflict)]


def _is_list_inside(node: Node, operand: int) -> bool:
    """Return whether a body declares as a list what it gets from an operand: input 1 of a Loop is that of its body."""
    bodies = [graph for graph in node.graph.nested if graph.position == node.index]
    return any(
        bool(body.message_at("input", operand).type.tensor_type.shape.dim)
        for body in bodies
        if operand < len(body.input_names)
    )


_VALUES: Final = {"value", "value_floats"}
"""The attributes of a Constant that are a tensor or a list of numbers."""


def _as_scalar(definition: Definition) -> Edit | None:
    """Return the edit that makes a scalar of a constant with one element; None for anything else."""
    if definition.field == "initializer":
        shape = definition.graph.message_at("initializer", definition.index).dims
        return Delete(definition.place.at("dims")) if set(shape) == {1} else None
    node = definition.node
    if node is None or node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    index = next(attributes_with(node, _VALUES), None)
    if index is None:
        return None
    attribute, place = node.attribute_protos[index], node.place.at("attribute", index)
    if len(attribute.floats) == 1 and not attribute.HasField("t"):
        return Assign(place, message("AttributeProto")(name="value_float", type=1, f=attribute.floats[0]))
    return Delete(place.at("t").at("dims")) if set(attribute.t.dims) == {1} else None
