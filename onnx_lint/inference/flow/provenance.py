# SPDX-License-Identifier: Apache-2.0
"""The inferred facts about all values, each with the cause if its shape is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.knowledge import Cause, Origins, has_known_shape
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import WalkResult
from onnx_lint.inference.shapes.fact import Content, Fact
from onnx_lint.ir.graph import Definition, Graph
from onnx_lint.ir.operators.operators import Operators

_RANK_OF_MATRICES: Final = 2


class Value(Record):
    """A value with its fact."""

    name: str
    definition: Definition
    fact: Fact
    cause: Cause | None
    """The cause if the shape is unknown; None if it is known, or the value has none."""

    @property
    def elements(self) -> Content:
        """The elements of a scalar or a list, if they are followed."""
        shape = self.fact.shape
        return self.fact.content if shape is not None and len(shape) < _RANK_OF_MATRICES else None


class Provenance:
    """The values of all graphs and function bodies; of bodies once for each call that was followed."""

    def __init__(self, flow: ValueFlow, operators: Operators, graphs: Sequence[Graph]) -> None:
        self._walks = flow.walks
        self._crashes = flow.crashes
        self._graphs = graphs
        self._origins = Origins(flow.walks, operators, flow.crashes)

    def walks(self) -> list[WalkResult]:
        """Return the walks over all graphs and function bodies, in the order of the model's graphs."""
        order = {id(graph): number for number, graph in enumerate(self._graphs)}
        # For a model without a graph an empty one is walked.
        there = [walked for walked in self._walks if id(walked.graph) in order]
        return sorted(there, key=lambda walked: order[id(walked.graph)])

    def values(self, walked: WalkResult) -> Iterator[Value]:
        """Yield the values that a graph defines: inputs, initializers, and the outputs of nodes in order."""
        seen: set[str] = set()
        for name, definition in walked.graph.definitions():
            if name not in seen:
                seen.add(name)
                yield self._value(walked, name, definition)

    def _value(self, walked: WalkResult, name: str, definition: Definition) -> Value:
        known = walked.fact(name)
        cause = None
        if not has_known_shape(known):
            with self._crashes.at("explaining a value", definition.place):
                cause = self._origins.cause(walked, name)
        return Value(name, definition, known, cause)
