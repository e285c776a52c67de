# SPDX-License-Identifier: Apache-2.0
"""The body of a Scan."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.frames import Walk
from onnx_lint.inference.flow.joining import differ_in_shape, joined_shapes
from onnx_lint.inference.flow.outcome_memo import as_fact
from onnx_lint.inference.flow.subgraphs.body_runs import BodyRuns
from onnx_lint.inference.flow.subgraphs.pieces import changes_of_pieces
from onnx_lint.inference.flow.subgraphs.scan_axes import ScanAxes
from onnx_lint.inference.flow.subgraphs.subgraph_node import RepeatedBody, SubgraphOutputs
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.fact import Content, Facts
from onnx_lint.inference.shapes.operands import OutputShape
from onnx_lint.inference.shapes.problem import AxisOutOfRange, Element, ShapeProblem

if TYPE_CHECKING:
    from onnx_lint.inference.flow.subgraph_shape_conflict import SubgraphShapeProblem


class ScanBody(RepeatedBody):
    """A Scan: its states are carried from one run to the next, and each run gets a slice of each scan input."""

    axes: ScanAxes | None = None
    """The axes of the scan inputs and outputs; None if the attributes are wrong."""
    unrolled: Facts = ()
    """The outputs of a Scan with a known number of runs; empty if they are not followed run by run."""

    @property
    def length(self) -> Dim:
        """The number of runs of the body; None if it is unknown."""
        # In version 8, each sequence of the batch has its own length.
        return self.axes.length if self.axes is not None and not self.axes.batch else None

    @property
    def _states(self) -> Facts:
        return self.values[: self.types.state_count]

    @property
    def scanned(self) -> Facts:
        """The scan inputs."""
        return self.values[self.types.state_count :]

    def supplied_shapes(self) -> Sequence[OutputShape]:
        """Return the shapes of the states and of the slices."""
        if self.axes is None:
            return ()
        states = [self.axes.state(each.shape) for each in self._states]
        return [*states, *[self.axes.slice(index, each.shape) for index, each in enumerate(self.scanned)]]

    def followed(self, body: BodyRuns) -> Generator[Walk, Facts, ScanBody]:
        """Return the Scan with the elements of its outputs, if it has few runs, by trying each."""
        axes, count = self.axes, self.types.state_count
        has_elements = any(each.content is not None for each in self.values)
        if axes is None or not has_elements or not body.can_follow_each:
            return self
        if not isinstance(self.length, int) or not 0 < self.length <= body.most:
            return self
        carried = self._states
        stacked: list[Facts] = []
        for number in range(self.length):
            slices = [axes.piece(index, each, number) for index, each in enumerate(self.scanned)]
            run = yield from body.run((*carried, *slices))
            if run.has_failed:
                return replace(self, failing=(*carried, *slices))
            carried = run.outputs[:count]
            stacked.append(run.outputs[count:])
        columns = list(zip(*stacked, strict=True))
        made = [axes.stacked_fact(index, column) for index, column in enumerate(columns)]
        return replace(self, unrolled=(*carried, *made), changes=changes_of_pieces(columns, count))

    def output_shapes(self, found: SubgraphOutputs) -> Sequence[OutputShape]:
        """Return the shapes of the last states, and of the scan outputs."""
        if self.axes is None:
            return ()
        outputs, count = self.outputs_in(found, "body"), self.types.state_count
        carried: list[OutputShape] = []
        for first, last in zip(self._states, outputs, strict=False):
            shape, _ = joined_shapes(self.axes.whole_state(last.shape), first.shape)
            carried.append(shape)
        return [*carried, *[self.axes.stacked(index, each.shape) for index, each in enumerate(outputs[count:])]]

    def output_contents(self, found: SubgraphOutputs) -> Sequence[Content]:
        """Return the known elements of the outputs of runs that are followed."""
        return [each.content for each in self.unrolled]

    def problems(self, found: SubgraphOutputs) -> tuple[ShapeProblem, ...]:
        """Return the axes of scan outputs that the outputs of the body do not have."""
        outputs = found.get("body", ())[self.types.state_count :]
        if self.axes is None or self.axes.outputs is None:
            return ()
        wrong: list[ShapeProblem] = []
        for index, (axis, each) in enumerate(zip(self.axes.outputs, outputs, strict=False)):
            rank = None if each.shape is None else len(each.shape) + 1
            if rank is not None and not -rank <= axis < rank:
                wrong.append(AxisOutOfRange(Element("scan_output_axes", axis, index), rank, -rank))
        return tuple(wrong)

    def shape_conflicts(self, found: SubgraphOutputs) -> Iterator[SubgraphShapeProblem]:
        """Yield the states that the body returns with another shape, then the scan outputs that change theirs."""
        if self.axes is None:
            return
        for index, (before, after) in enumerate(zip(self._states, found.get("body", ()), strict=False)):
            first = as_fact(before.kind, self.axes.state(before.shape))
            if first.shape is not None and differ_in_shape(first, after):
                from onnx_lint.inference.flow.subgraph_shape_conflict import StateShapeConflict

                body, call = self.walked.subgraph("body"), self.walked.frame.call
                yield StateShapeConflict(node=self.node, graph=body, index=index, shapes=(first, after), call=call)
        yield from super().shape_conflicts(found)
