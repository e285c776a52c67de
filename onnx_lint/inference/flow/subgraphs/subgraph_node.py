# SPDX-License-Identifier: Apache-2.0
"""What all nodes with subgraphs have in common."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.frames import Walk, WalkedNode
from onnx_lint.inference.flow.outcome_memo import as_fact
from onnx_lint.inference.flow.subgraphs.pieces import PieceChange
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.fact import Content, Fact, Facts
from onnx_lint.inference.shapes.operands import OutputShape
from onnx_lint.inference.shapes.problem import ShapeProblem
from onnx_lint.inference.types.subgraph_types import Subgraphs, Types
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.control_flow import subgraph_output_count

if TYPE_CHECKING:
    from onnx_lint.inference.flow.subgraph_shape_conflict import SubgraphShapeProblem
    from onnx_lint.inference.flow.subgraphs.body_runs import BodyRuns


SubgraphOutputs = Mapping[str, Facts]
"""The facts of the outputs of the subgraphs of a node, by attribute."""


class SubgraphNode(Record):
    """A node with subgraphs: the facts of their inputs, and of the outputs of the node.

    Each operator is a class, which overrides what differs.
    """

    walked: WalkedNode

    part = "body"
    """What a message calls a subgraph that does not run."""
    kept_shapes = sys.maxsize
    """How many inputs of a subgraph must have the shape that they declare, from the first on."""

    @property
    def node(self) -> Node:
        """The node."""
        return self.walked.node

    @property
    def facts(self) -> Facts:
        """The facts of the inputs of the node."""
        return self.walked.inputs

    @property
    def idle(self) -> str | None:
        """The attribute of the subgraph that never runs, because constants decide so; None if each may run."""
        return None

    @property
    def surely_runs(self) -> bool:
        """True if each subgraph runs, apart from `idle`."""
        return False

    def supplied_facts(self, types: Types) -> Facts:
        """Return the facts of the inputs of a subgraph with these types; facts that may differ by run are unknown."""
        shapes = [*self.supplied_shapes(), *[None] * len(types)]
        return tuple([as_fact(kind, shape) for kind, shape in zip(types, shapes, strict=False)])

    def supplied_shapes(self) -> Sequence[OutputShape]:
        """Return the shapes of the inputs of a subgraph; none if they are unknown."""
        return ()

    def output_shapes(self, found: SubgraphOutputs) -> Sequence[OutputShape]:
        """Return the shapes of the node's outputs, from the outputs of its subgraphs; none if they are unknown."""
        return ()

    def output_contents(self, found: SubgraphOutputs) -> Sequence[Content]:
        """Return the known elements of the node's outputs."""
        return ()

    def possible_outputs(self, found: SubgraphOutputs) -> tuple[Facts, Facts] | tuple[()]:
        """Return the outputs of each branch of an If, if either may run; see `NodeOutcome.branches`."""
        return ()

    def problems(self, found: SubgraphOutputs) -> tuple[ShapeProblem, ...]:
        """Return the problems of attributes that depend on the outputs of the subgraphs."""
        return ()

    def shape_conflicts(self, found: SubgraphOutputs) -> Iterator[SubgraphShapeProblem]:
        """Yield the outputs of subgraphs that must have one shape, and have several."""
        return iter(())

    def outputs_in(self, found: SubgraphOutputs, attribute: str) -> Facts:
        """Return the outputs of a subgraph; none if there is no such subgraph, or if their number is wrong."""
        outputs = found.get(attribute, ())
        return outputs if len(outputs) == subgraph_output_count(self.node) else ()


class RepeatedBody(SubgraphNode):
    """A node that runs its subgraph `body` several times."""

    types: Subgraphs
    failing: Facts = ()
    """The inputs of the body in the first run that meets a fault, if the runs are followed one by one."""
    changes: tuple[PieceChange, ...] = ()
    """The scan outputs whose pieces differ in shape, if the runs are followed one by one."""

    @property
    def values(self) -> Facts:
        """The inputs that correspond to inputs of the body of a Scan or SequenceMap."""
        count = len(self.types.values)
        return self.facts[len(self.facts) - count :] if count else ()

    @property
    def length(self) -> Dim:
        """The number of runs of the body; None if it is unknown."""
        return None

    @property
    def never_runs(self) -> bool:
        """True if the body has no run."""
        return self.length == 0

    @property
    def idle(self) -> str | None:
        """The body if it has no run."""
        return "body" if self.never_runs else None

    @property
    def surely_runs(self) -> bool:
        """True if the body runs at least once, as far as the inputs are known."""
        return isinstance(self.length, int) and self.length > 0

    def followed(self, body: BodyRuns) -> Generator[Walk, Facts, RepeatedBody]:
        """Return the node with what trials of the body show about its inputs and outputs."""
        raise NotImplementedError

    def shape_conflicts(self, found: SubgraphOutputs) -> Iterator[SubgraphShapeProblem]:
        """Yield the scan outputs for which a run of the body returns another shape than the first."""
        for each in self.changes:
            from onnx_lint.inference.flow.subgraph_shape_conflict import PieceShapeConflict

            yield PieceShapeConflict(
                node=self.node,
                graph=self.walked.subgraph("body"),
                index=each.index,
                shapes=(each.first, each.later),
                call=self.walked.frame.call,
                run=each.run,
            )


def known_condition(condition: Fact) -> bool | None:
    """Return the value of a condition; None if it is unknown."""
    if condition.content == (1,):
        return True
    return False if condition.content == (0,) else None
