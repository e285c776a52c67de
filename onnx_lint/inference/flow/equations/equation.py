# SPDX-License-Identifier: Apache-2.0
"""The equation between two dimensions, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import Note, call_notes
from onnx_lint.inference.flow.equations.origins import EquationOrigin, Sides
from onnx_lint.inference.flow.equations.passed_values import PassedValue, passed_value
from onnx_lint.inference.flow.shape_words import dimension_in_words, shape_in_words
from onnx_lint.inference.shapes.expression import variables_in
from onnx_lint.ir.graph import Node
from onnx_lint.ir.places.place import Place

MAX_SHOWN: Final = 3
"""The most equations that a message states as its reasons. All of them are related places."""


class DimensionEquation(Record):
    """Two dimensions that are equal, and what makes them so."""

    left: int | str
    """The declared dimension, or that of the operand."""
    right: int | str
    """The dimension that the node produces, or requires."""
    origin: EquationOrigin

    @property
    def sides(self) -> Sides:
        """Both dimensions."""
        return self.left, self.right

    @property
    def node(self) -> Node:
        """The node that produces or requires a dimension."""
        return self.origin.node

    @property
    def inner(self) -> str:
        """The dimension of an input; the place of a declared dimension says it."""
        return "" if self.origin.is_declared or self.origin.axis is None else f"dimension {self.origin.axis}"

    @property
    def shared_variables(self) -> set[str]:
        """The names that occur on both sides."""
        return variables_in(self.left) & variables_in(self.right)

    @property
    def text(self) -> str:
        """The statement in words."""
        left, right = map(dimension_in_words, self.sides)
        return self.origin.statement(left, right)

    @property
    def is_required_by_weights(self) -> bool:
        """True if the weights of a product, convolution or recurrence need the size: channels or features."""
        return self.origin.is_required_by_weights and not self.shared_variables

    @property
    def is_required_by_declared_input(self) -> bool:
        """True if the node needs the size because a graph input is declared with it, and the node compares the two."""
        if self.shared_variables or self.origin.axis is None:
            return False
        size = self.left if isinstance(self.left, int) else self.right
        values = map(self._passed_value, self.origin.compared_inputs)
        return any(size in value.declared_shape for value in values if value is not None)

    @property
    def constant(self) -> PassedValue | None:
        """The constant that the size comes from: the shape of a Reshape, or the other operand; None if there is none.

        It may be one that a call passes to the function with the node.
        """
        values = map(self._passed_value, self.origin.inputs_with_size(self.left))
        return next((value for value in values if value is not None and value.is_constant), None)

    def _passed_value(self, name: str) -> PassedValue | None:
        return passed_value(name, self.node.graph, self.origin.call)


def united(*groups: Sequence[DimensionEquation]) -> tuple[DimensionEquation, ...]:
    """Return the equations of all groups, each once."""
    return tuple({id(each): each for group in groups for each in group}.values())


def texts(equations: Sequence[DimensionEquation]) -> list[str]:
    """Return the statements of equations, with the calls if several calls make statements about one node."""
    calls: dict[Place, set[int]] = {}
    for each in equations:
        calls.setdefault(each.node.place, set()).add(id(each.origin.call))
    found = []
    for each in equations:
        call = each.origin.call if len(calls[each.node.place]) > 1 else None
        found.append(each.text if call is None else f"{each.text} in the call by {call.node.describe()}")
    return found


def notes_on_calls(equations: Sequence[DimensionEquation]) -> list[Note]:
    """Return notes about the calls in which nodes of functions make statements, each call once."""
    calls = {id(each.origin.call): each.origin.call for each in equations}
    return [note for call in calls.values() for note in call_notes(call, shape_in_words)]
