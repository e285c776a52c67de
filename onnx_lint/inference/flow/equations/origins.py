# SPDX-License-Identifier: Apache-2.0
"""The origins of equations: a declaration, or an operand of a node. Each has its own words and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.dims import Dim, Dims, are_sizes
from onnx_lint.inference.shapes.expression import variables_in
from onnx_lint.ir.graph import Node
from onnx_lint.ir.places.place import Place
from onnx_lint.wording import quote

Sides = tuple[int | str, int | str]
"""The two dimensions of an equation."""


class EquationOrigin(Record):
    """What makes the dimensions of an equation equal: one is declared or given, the other produced or required.

    The properties defined here are those of most origins. A class that stores one of them overrides it by a field.
    """

    node: Node
    axis: int | None
    """The axis of the declared or given dimension; None for the number of elements."""
    call: Call | None
    """The call of the function that has the node; None if the node is in no function."""

    @property
    def place(self) -> Place:
        """The declared dimension, or the input of the node."""
        raise NotImplementedError

    def statement(self, left: str, right: str) -> str:
        """Return the statement about the declared or given dimension, and that of the node, in words."""
        raise NotImplementedError

    @property
    def is_declared(self) -> bool:
        """True if a dimension is declared."""
        return False

    @property
    def copied(self) -> tuple[Dim, ...]:
        """The dimensions that a Reshape keeps. If one of them is 0, so are both numbers of elements."""
        return ()

    @property
    def dims_that_may_be_0(self) -> tuple[str, ...]:
        """The other dimensions of an operand, if they may be 0: the node then requires nothing of the operand."""
        return ()

    @property
    def is_empty(self) -> bool:
        """True if the operand has no elements, and ONNX Runtime leaves it out, against the text."""
        return False

    @property
    def is_required_by_weights(self) -> bool:
        """True if weights need the size: channels or features."""
        return False

    @property
    def compared_inputs(self) -> Sequence[str]:
        """The inputs that may be declared with the size: the node then needs it because of them."""
        return ()

    def inputs_with_size(self, given: int | str) -> Sequence[str]:
        """Return the inputs that the size may come from, the likely ones first."""
        return ()

    def is_true_at_0(self, variable: str, sides: Sides) -> bool:
        """Return whether the equation is true where a variable is 0, because an operand is empty then."""
        return variable in self.copied

    def applies_to_all_sizes(self, variable: str, sides: Sides) -> bool:
        """Return whether the equation is required for all sizes of the other variables."""
        return True

    def applies_to_nonempty_operands(self, variable: str, sides: Sides) -> bool:
        """Return whether the equation is required unless the operand with the variable is empty."""
        return True


class DeclaredOutput(EquationOrigin):
    """The declaration of an output of a node, which produces another dimension."""

    name: str
    """The name of the output."""

    @property
    def is_declared(self) -> bool:
        """True: the output is."""
        return True

    @property
    def place(self) -> Place:
        """The declared dimension, or the whole shape."""
        field, index = self._declaration
        shape = self.node.graph.place.at(field, index).at("type").at("tensor_type").at("shape")
        return shape if self.axis is None else shape.at("dim", self.axis)

    @property
    def _declaration(self) -> tuple[str, int]:
        """The list and the index of the declaration; value_info before the outputs."""
        graph = self.node.graph
        if self.name in graph.value_info_names:
            return "value_info", graph.value_info_names.index(self.name)
        return "output", graph.output_names.index(self.name)

    def statement(self, left: str, right: str) -> str:
        """Return the statement about the dimensions in words."""
        field, _ = self._declaration
        value = f"{field.replace('_', ' ')} {quote(self.name)}"
        if self.axis is None:
            data = f"input 0 {quote(self.node.inputs[0])} of {self.node.describe()}"
            return f"{value} is declared with {left} elements, but {data} has {right}"
        what = f"dimension {self.axis} of {value}"
        return f"{what} is declared as {left}, but {self.node.describe()} produces {right}"


class ComparedOperand(EquationOrigin):
    """An operand of a node that needs another dimension of it. Most are multiplied with weights, or normalized."""

    index: int
    """The index of the input."""

    @property
    def name(self) -> str:
        """The name of the input."""
        return self.node.inputs[self.index]

    @property
    def place(self) -> Place:
        """The input of the node."""
        return self.node.place.at("input", self.index)

    def statement(self, left: str, right: str) -> str:
        """Return the statement about the dimensions in words."""
        operand = f"input {self.index} {quote(self.name)}"
        if self.axis is None:
            return f"{self.node.describe()} needs {operand} to have {right} elements, but it has {left}"
        return f"{self.node.describe()} needs dimension {self.axis} of {operand} to be {right}, but it is {left}"

    @property
    def is_required_by_weights(self) -> bool:
        """True if weights need the size: channels or features."""
        return True

    def inputs_with_size(self, given: int | str) -> Sequence[str]:
        """Return the other inputs, after the operand if that has a size."""
        others = [name for index, name in enumerate(self.node.inputs) if index != self.index]
        return [self.name, *others] if isinstance(given, int) else others


class BroadcastOperand(ComparedOperand):
    """An operand that is broadcast with another one, so that the size 1 fits as well."""

    def statement(self, left: str, right: str) -> str:
        """Return the statement about the dimensions in words."""
        return super().statement(left, f"1 or {right}")


class GemmRows(ComparedOperand):
    """The bias of a Gemm and the rows of the product: a batch, unlike its columns."""

    @property
    def is_required_by_weights(self) -> bool:
        """False: only columns are features."""
        return False

    @property
    def compared_inputs(self) -> Sequence[str]:
        """The bias."""
        return self.node.inputs[2:3]


class RecurrenceOperand(ComparedOperand):
    """An operand of a GRU, LSTM or RNN."""

    @property
    def is_required_by_weights(self) -> bool:
        """True for W, R, B and P. The others are the data, its lengths and the initial states."""
        return self.index in (1, 2, 3, 7)

    @property
    def compared_inputs(self) -> Sequence[str]:
        """The operand."""
        return (self.name,)


class DataOperand(ComparedOperand):
    """The data of an operator without weights."""

    @property
    def is_required_by_weights(self) -> bool:
        """False: there are none."""
        return False


class FittedOperand(DataOperand):
    """A mask or an update, which has as many rows as the data."""

    @property
    def compared_inputs(self) -> Sequence[str]:
        """All inputs."""
        return self.node.inputs


class SqueezedOperand(DataOperand):
    """The input of a Squeeze."""

    def inputs_with_size(self, given: int | str) -> Sequence[str]:
        """Return none: a removed axis needs the size 1."""
        return ()


class ReshapedOperand(DataOperand):
    """The input of a Reshape, which keeps the number of elements."""

    copied: tuple[Dim, ...]


class ConcatOperand(FittedOperand):
    """An operand of a Concat, at an axis along which it does not join.

    ONNX Runtime leaves out an empty operand and then requires nothing of it, against the text.
    """

    dims_that_may_be_0: tuple[str, ...]
    is_empty: bool
    joined: tuple[Dims, ...]
    """The shapes that the Concat joins."""

    def is_true_at_0(self, variable: str, sides: Sides) -> bool:
        """Return whether a variable is one of the two dimensions."""
        return variable in sides

    def applies_to_all_sizes(self, variable: str, sides: Sides) -> bool:
        """Return whether both dimensions are those of operands that no other variable can make empty."""
        full = [shape for shape in self.joined if _has_no_other_variable(shape, variable)]
        dims = [shape[self.axis or 0] for shape in full]
        return all(side in dims for side in sides)

    def applies_to_nonempty_operands(self, variable: str, sides: Sides) -> bool:
        """Return whether only the operand with the variable can be empty: the other one has sizes alone."""
        others = [side for side in sides if variable not in variables_in(side)]
        compared = [shape for shape in self.joined if shape[self.axis or 0] in others]
        are_never_empty = any(are_sizes(shape) and 0 not in shape for shape in compared)
        return are_never_empty or self.applies_to_all_sizes(variable, sides)


def _has_no_other_variable(shape: Dims, variable: str) -> bool:
    return all(dim is not None and variables_in(dim) <= {variable} for dim in shape)


KINDS_OF_OPERANDS: Final[Mapping[str, type[ComparedOperand]]] = {
    **dict.fromkeys(("Attention", "ScatterElements", "ScatterND", "TensorScatter"), FittedOperand),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), RecurrenceOperand),
    **dict.fromkeys(("Split", "SplitToSequence"), DataOperand),
    "Squeeze": SqueezedOperand,
}
"""The kind of operand by operator, if all operands of the operator are of this kind."""
