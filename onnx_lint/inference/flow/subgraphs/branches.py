# SPDX-License-Identifier: Apache-2.0
"""The branches of an If."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.inference.flow.joining import differ_in_shape
from onnx_lint.inference.flow.subgraphs.pieces import common_shape
from onnx_lint.inference.flow.subgraphs.subgraph_node import SubgraphNode, WalkedSubgraphs, known_condition
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.fact import Content, Facts
from onnx_lint.inference.shapes.operands import OutputShape, shape_in

if TYPE_CHECKING:
    from onnx_lint.inference.flow.subgraph_shape_conflict import BranchShapeConflict

_SHAPES_MAY_DIFFER_SINCE: Final = 11
"""The first version of If whose branches may produce different shapes."""


class Branches(SubgraphNode):
    """An If: it supplies nothing to its branches, and one of them runs."""

    version: int
    """The version of the operator."""

    part = "branch"
    runs_one_of_several = True

    @property
    def _condition(self) -> bool | None:
        return known_condition(self.facts[0]) if self.facts else None

    @property
    def idle(self) -> str | None:
        """The branch that never runs; None if the condition is unknown."""
        if self._condition is None:
            return None
        return "else_branch" if self._condition else "then_branch"

    @property
    def surely_runs(self) -> bool:
        """True if the condition is known, so that the other branch runs."""
        return self._condition is not None

    def output_shapes(self, found: WalkedSubgraphs) -> Sequence[OutputShape]:
        """Return the shapes of the outputs of the branch that runs, or what those of both have in common."""
        one, other = self.outputs_in(found, "then_branch"), self.outputs_in(found, "else_branch")
        if self._condition is not None:
            one = other = one if self._condition else other
        if not one or not other:
            # The other branch is missing, or is a parameter of a function.
            return list(map(shape_in, one or other))
        return [common_shape(shape_in(first), shape_in(second)) for first, second in zip(one, other, strict=True)]

    def output_contents(self, found: WalkedSubgraphs) -> Sequence[Content]:
        """Return the elements of the outputs of the branch that runs, or those that both have in common."""
        one, other = _outputs_of(found, "then_branch"), _outputs_of(found, "else_branch")
        if self._condition is not None:
            return [each.content for each in (one if self._condition else other)]
        pairs = zip(one, other, strict=False)
        return [first.content if first.content == second.content else None for first, second in pairs]

    def possible_outputs(self, found: WalkedSubgraphs) -> tuple[Facts, Facts] | tuple[()]:
        """Return the outputs of both branches, if either may run and their shapes may differ."""
        # With a known condition only one branch runs; a node without inputs is another finding.
        if self.version < _SHAPES_MAY_DIFFER_SINCE or any(each.content is not None for each in self.facts[:1]):
            return ()
        one, other = self.outputs_in(found, "then_branch"), self.outputs_in(found, "else_branch")
        return (one, other) if one and other else ()

    def shape_conflicts(self, found: WalkedSubgraphs, call: Call | None) -> Iterator[BranchShapeConflict]:
        """Yield the outputs for which the branches of an old version have different shapes."""
        if self.version >= _SHAPES_MAY_DIFFER_SINCE:
            return
        one, other = _outputs_of(found, "then_branch"), _outputs_of(found, "else_branch")
        for index, pair in enumerate(zip(one, other, strict=False)):
            if differ_in_shape(*pair):
                from onnx_lint.inference.flow.subgraph_shape_conflict import BranchShapeConflict

                yield BranchShapeConflict(
                    node=self.node,
                    graph=found["else_branch"].graph,
                    index=index,
                    shapes=pair,
                    call=call,
                    first=found["then_branch"].graph,
                )


def _outputs_of(found: WalkedSubgraphs, attribute: str) -> Facts:
    """Return the outputs of a branch, also if their number is wrong."""
    return found[attribute].outputs if attribute in found else ()
