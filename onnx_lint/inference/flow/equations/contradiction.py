# SPDX-License-Identifier: Apache-2.0
"""The contradiction of equations, with the words of its finding."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import Note
from onnx_lint.inference.flow.equations.equation import MAX_SHOWN, DimensionEquation, notes_on_calls, texts
from onnx_lint.inference.flow.equations.sums import terms_of
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.places.place import Place


class Contradiction(Record):
    """An equation that no sizes of its variables satisfy, with the earlier equations that determine some of them."""

    equation: DimensionEquation
    because: tuple[DimensionEquation, ...]
    is_of_empty: bool = False
    """True if it is satisfied by the size 0, which only empty tensors have."""
    conditional_graph: Graph | None = None
    """The nested graph with the nodes, if it may not run."""

    @property
    def equations(self) -> tuple[DimensionEquation, ...]:
        """All equations that contradict each other."""
        return (self.equation, *self.because)

    @property
    def is_declared(self) -> bool:
        """True if declarations alone cause it: PyTorch declares all dimensions of a branch that cannot run alike."""
        return all(each.origin.is_declared for each in self.equations)

    @property
    def is_nested(self) -> bool:
        """True if a node of a nested graph takes part."""
        return any(each.node.graph.kind is GraphKind.NESTED for each in self.equations)

    @property
    def place(self) -> Place:
        """The declared dimension, or the input of the node."""
        return self.equation.origin.place

    @property
    def subject(self) -> str | None:
        """The variable or expression that cannot be satisfied."""
        # Fingerprints have it: an ambiguous name stays in quotes here.
        left = self.equation.left
        return left if isinstance(left, str) else str(self.equation.right)

    @property
    def inner(self) -> str:
        """The dimension of the input that is wrong."""
        return self.equation.inner

    @property
    def allowed(self) -> str:
        """The requirement on the variables."""
        return "variables that have one size each in the whole model"

    def describe(self) -> str:
        """Return the statement about the variable, and the contradicting statements."""
        left, right = (terms_of(side).get((), 0) for side in self.equation.sides)
        # 0 makes an equation true between multiples, and where dimensions cancel out, but only empty tensors have it.
        is_of_empty = self.is_of_empty or (left == right and not self.because)
        above_0 = " above 0" if is_of_empty or any(each.origin.copied for each in self.equations) else ""
        what = "all of this" if self.because else "this"
        where = f" where {self.conditional_graph.describe()} runs" if self.conditional_graph is not None else ""
        statements = "; ".join(texts((self.equation, *self.because[:MAX_SHOWN])))
        return f"{statements}; no size{above_0} makes {what} true{where}"

    def notes(self) -> list[Note]:
        """Return the other equations."""
        return [*((each.origin.place, each.text) for each in self.because), *notes_on_calls(self.equations)]
