# SPDX-License-Identifier: Apache-2.0
"""The branches of an If."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.inference.flow.joining import differ_in_shape
from onnx_lint.inference.flow.subgraphs.pieces import common_shape
from onnx_lint.inference.flow.subgraphs.subgraph_node import SubgraphNode, SubgraphOutputs
from onnx_lint.inference.shapes.fact import Content, Facts
from onnx_lint.inference.shapes.operands import OutputShape, shape_in

if TYPE_CHECKING:
    from onnx_lint.inference.flow.subgraph_shape_conflict import BranchShapeConflict

_SHAPES_MAY_DIFFER_SINCE: Final = 11
"""The first version of If whose branches may produce different shapes."""


class Branches(SubgraphNode):
    """An If: it supplies nothing to its branches, and one of them runs."""

    condition: bool | None
    """The condition; None if it is unknown."""

    part = "branch"

    @property
    def _may_differ(self) -> bool:
        """True if the version of the operator allows branches of different shapes."""
        operator = self.walked.memo.operator
        return operator is not None and operator.schema.since_version >= _SHAPES_MAY_DIFFER_SINCE

    @property
    def idle(self) -> str | None:
        """The branch that never runs; None if the condition is unknown."""
        if self.condition is None:
            return None
        return "else_branch" if self.condition else "then_branch"

    @property
    def surely_runs(self) -> bool:
        """True if the condition is known, so that the other branch runs."""
        return self.condition is not None

    def output_shapes(self, found: SubgraphOutputs) -> Sequence[OutputShape]:
        """Return the shapes of the outputs of the branch that runs, or what those of both have in common."""
        one, other = self.outputs_in(found, "then_branch"), self.outputs_in(found, "else_branch")
        if self.condition is not None:
            one = other = one if self.condition else other
        if not one or not other:
            # The other branch is missing, or is a parameter of a function.
            return list(map(shape_in, one or other))
        return [common_shape(shape_in(first), shape_in(second)) for first, second in zip(one, other, strict=True)]

    def output_contents(self, found: SubgraphOutputs) -> Sequence[Content]:
        """Return the elements of the outputs of the branch that runs, or those that both have in common."""
        one, other = found.get("then_branch", ()), found.get("else_branch", ())
        if self.condition is not None:
            return [each.content for each in (one if self.condition else other)]
        pairs = zip(one, other, strict=False)
        return [first.content if first.content == second.content else None for first, second in pairs]

    def possible_outputs(self, found: SubgraphOutputs) -> tuple[Facts, Facts] | tuple[()]:
        """Return the outputs of both branches, if either may run and their shapes may differ."""
        # With a known condition only one branch runs; a node without inputs is another finding.
        if not self._may_differ or any(each.content is not None for each in self.facts[:1]):
            return ()
        one, other = self.outputs_in(found, "then_branch"), self.outputs_in(found, "else_branch")
        return (one, other) if one and other else ()

    def shape_conflicts(self, found: SubgraphOutputs) -> Iterator[BranchShapeConflict]:
        """Yield the outputs for which the branches of an old version have different shapes."""
        if self._may_differ:
            return
        one, other = found.get("then_branch", ()), found.get("else_branch", ())
        for index, pair in enumerate(zip(one, other, strict=False)):
            if differ_in_shape(*pair):
                from onnx_lint.inference.flow.subgraph_shape_conflict import BranchShapeConflict

                yield BranchShapeConflict(
                    node=self.node,
                    graph=self.walked.subgraph("else_branch"),
                    index=index,
                    shapes=pair,
                    call=self.walked.frame.call,
                    first=self.walked.subgraph("then_branch"),
                )
