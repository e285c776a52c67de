# SPDX-License-Identifier: Apache-2.0
"""Contradictions between the shapes of the inputs and outputs of subgraphs, with the texts of their findings."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import Note, call_notes
from onnx_lint.inference.flow.shape_conflict import shape_places
from onnx_lint.inference.flow.shape_words import shape_in_words
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.wording import quote


class _SubgraphShapeConflict(Record):
    """A conflict about an input or output of a subgraph."""

    node: Node
    graph: Graph
    index: int
    shapes: tuple[Fact, Fact]
    """The required shape, and the shape that the value has."""
    call: Call | None

    @classmethod
    def key_at(cls, graph: Graph, index: int) -> tuple[object, ...]:
        """Return the key of a conflict of this kind about an input or output."""
        return id(graph), cls, index

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the conflict, in any call."""
        return self.key_at(self.graph, self.index)

    @property
    def cause_key(self) -> tuple[object, ...] | None:
        """The key of the conflict that this one follows from, if it was found as well."""
        return None

    @property
    def inner(self) -> str:
        """Empty: `place` is the dimension that is wrong, or the whole shape."""
        return ""

    @property
    def allowed(self) -> str:
        """The shape that is required."""
        return shape_in_words(self.shapes[0])

    def notes(self) -> list[Note]:
        """Return the node, and the call that supplies the shapes."""
        return [(self.node.place, self.node.describe()), *call_notes(self.call, shape_in_words)]


class SuppliedShapeConflict(_SubgraphShapeConflict):
    """An input of a subgraph that is declared with another shape than its control-flow operator supplies."""

    @property
    def place(self) -> Place:
        """The dimension that differs, or the shape if the ranks differ."""
        supplied, declared = self.shapes
        return shape_places(self.graph.place.at("input", self.index), declared, supplied)[0]

    @property
    def subject(self) -> str:
        """The name of the input."""
        return self.graph.input_names[self.index]

    def describe(self) -> str:
        """Return the declared shape and the supplied one."""
        supplied, declared = map(shape_in_words, self.shapes)
        what = f"input {self.index} {quote(self.subject)} of {self.graph.describe()}"
        return f"{what} is declared as {declared}, but {self.node.describe()} supplies {supplied}"


class _OutputShapeConflict(_SubgraphShapeConflict):
    """A conflict about an output of a subgraph."""

    @property
    def place(self) -> Place:
        """The output of the subgraph."""
        return self.graph.place.at("output", self.index)

    @property
    def subject(self) -> str:
        """The name of that output."""
        return self.graph.output_names[self.index]

    def describe_output(self, graph: Graph, shape: Fact) -> str:
        """Return the output of a subgraph with its shape."""
        name = quote(graph.output_names[self.index])
        return f"output {self.index} {name} of {graph.describe()} is {shape_in_words(shape)}"


class StateShapeConflict(_OutputShapeConflict):
    """A state of a Scan that its body returns with another shape than it began with."""

    @property
    def cause_key(self) -> tuple[object, ...]:
        """The key of the conflict about the state as an input of the body, which is declared with another shape."""
        return SuppliedShapeConflict.key_at(self.graph, self.index)

    def describe(self) -> str:
        """Return both shapes."""
        begins = f"the state of {self.node.describe()} begins as {shape_in_words(self.shapes[0])}"
        return f"{self.describe_output(self.graph, self.shapes[1])}, but {begins}; a state must keep its shape"


class PieceShapeConflict(_OutputShapeConflict):
    """A scan output of a Loop or Scan for which runs of the body return different shapes."""

    run: int
    """The first run with another shape than the first one, from 0 on."""

    def describe(self) -> str:
        """Return the shapes of both runs."""
        one, other = map(shape_in_words, self.shapes)
        what = f"output {self.index} {quote(self.subject)} of {self.graph.describe()}"
        runs = f"is {other} in iteration {self.run} of {self.node.describe()}, but {one} in iteration 0"
        return f"{what} {runs}; all iterations must return one shape for a scan output"


class BranchShapeConflict(_OutputShapeConflict):
    """An If output whose branches produce different shapes: the output of the second one, `graph`."""

    first: Graph
    """The first branch."""

    def describe(self) -> str:
        """Return both outputs and their shapes."""
        one, other = self.describe_output(self.first, self.shapes[0]), self.describe_output(self.graph, self.shapes[1])
        return f"{other}, but {one}; branches of {self.node.describe()} must return one shape"

    def notes(self) -> list[Note]:
        """Return the output of the first branch, and the call that supplies the shapes."""
        other = f"{quote(self.first.output_names[self.index])} of the other branch"
        return [(self.first.place.at("output", self.index), other), *call_notes(self.call, shape_in_words)]


SubgraphShapeProblem = BranchShapeConflict | PieceShapeConflict | StateShapeConflict | SuppliedShapeConflict
