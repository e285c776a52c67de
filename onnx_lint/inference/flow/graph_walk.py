# SPDX-License-Identifier: Apache-2.0
"""The state of the walk over one graph."""

from __future__ import annotations

from collections.abc import Mapping, Set

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.frames import Frame, Known
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts
from onnx_lint.ir.graph import Graph


class GraphWalk:
    """The state of the walk over one graph."""

    def __init__(self, graph: Graph, frame: Frame, known: Known, declared: Mapping[str, Fact]) -> None:
        self.graph = graph
        self.frame = frame
        self.known = known
        self.declared = declared
        self.nested = dict(graph.nested_by_node) if graph.nested else {}
        if frame.graphs:
            for index, form in enumerate(graph.forms):
                if any(proto.ref_attr_name in frame.graphs for proto in form.attributes):
                    self.nested.setdefault(index, [])
        self.contradicted: dict[str, Fact] = {}
        """The facts of values whose declarations contradict them."""
        self.impossible: dict[str, OutcomeMemo] = {}
        """The values that are declared as what their operator never produces."""
        self.affected: set[str] = set()
        """The values whose shapes are lost to a fault."""
        self.unequal: list[int] = []
        """The nodes with equations between dimensions, see `WalkResult`."""
        self.has_unknown = False

    def results(self, differing: Set[str]) -> Facts:
        """Return the facts of the outputs of the graph; `differing` are the values that are declared with another type.

        These are reported, and unknown as outputs of a subgraph. With another shape a value is what the operator
        produces.
        """
        contradicted, known = self.contradicted, self.known
        return tuple(
            [
                UNKNOWN if name in differing else contradicted.get(name) or known.get(name, UNKNOWN)
                for name in self.graph.output_names
            ]
        )


class NodeStep(Record):
    """A node, the facts of its inputs, and what its operator makes of them."""

    index: int
    memo: OutcomeMemo
    inputs: tuple[Fact | None, ...]
    outcome: NodeOutcome
