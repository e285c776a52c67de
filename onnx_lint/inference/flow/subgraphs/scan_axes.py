# SPDX-License-Identifier: Apache-2.0
"""The axes along which a Scan slices its inputs and stacks its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.subgraphs.pieces import stacked_facts, with_content
from onnx_lint.inference.shapes.dims import Dim, Shape, are_sizes, unified
from onnx_lint.inference.shapes.element_values import taken
from onnx_lint.inference.shapes.fact import Fact, Facts, fact
from onnx_lint.inference.shapes.operands import Operands

_WITHOUT_BATCH: Final = 9
"""The first version of Scan without a batch axis."""


class ScanAxes(Record):
    """The axes along which a Scan slices its inputs and stacks its outputs."""

    inputs: tuple[int, ...]
    """The axis that each scan input loses; without the batch axis of version 8."""
    outputs: tuple[int, ...] | None
    """The axis that each scan output gains; negative ones count from the end. None if all are the first."""
    length: Dim
    """The number of runs of the body."""
    batch: tuple[Dim, ...] = ()
    """The size of the batch axis in front, in version 8."""
    backwards: frozenset[int] = frozenset()
    """The scan inputs that are read from their end."""
    reversed_outputs: frozenset[int] = frozenset()
    """The scan outputs whose last piece comes first."""

    def state(self, shape: Shape) -> Shape:
        """Return the shape of a state in the body."""
        return None if shape is None else shape[len(self.batch) :]

    def whole_state(self, shape: Shape) -> Shape:
        """Return the shape of a state outside of the body."""
        return None if shape is None else (*self.batch, *shape)

    def slice(self, index: int, shape: Shape) -> Shape:
        """Return the shape of the slice of a scan input that the body gets."""
        if shape is None or index >= len(self.inputs) or len(shape) <= self.inputs[index] + len(self.batch):
            return None
        rest = shape[len(self.batch) :]
        axis = self.inputs[index]
        return rest[:axis] + rest[axis + 1 :]

    def piece(self, index: int, whole: Fact, run: int) -> Fact:
        """Return the fact of the slice of a scan input in one run, with its elements if they are known."""
        made = fact(whole.kind, self.slice(index, whole.shape))
        if whole.content is None or not are_sizes(whole.shape):
            return made
        axis = self.inputs[index]
        place = whole.shape[axis] - 1 - run if index in self.backwards else run
        picks = [(at, [place] if at == axis else range(size)) for at, size in enumerate(whole.shape)]
        return with_content(made, taken(whole.content, whole.shape, picks))

    def stacked_fact(self, index: int, pieces: Sequence[Fact]) -> Fact:
        """Return the fact of a scan output, from its piece of each run; the elements are known along the first axis."""
        axis = self._output_axis(index)
        if axis and (pieces[0].shape is None or axis != -1 - len(pieces[0].shape)):
            return fact(pieces[0].kind)
        return stacked_facts(pieces[::-1] if index in self.reversed_outputs else pieces)

    def stacked(self, index: int, shape: Shape) -> Shape:
        """Return the shape of a scan output, from the shape of its pieces."""
        if shape is None:
            return None
        axis = self._output_axis(index)
        axis = axis + len(shape) + 1 if axis < 0 else axis
        if not 0 <= axis <= len(shape):
            return None
        return (*self.batch, *shape[:axis], self.length, *shape[axis:])

    def _output_axis(self, index: int) -> int:
        return self.outputs[index] if self.outputs is not None and index < len(self.outputs) else 0


def scan_axes(node: Operands, scanned: Facts) -> ScanAxes | None:
    """Return the axes of a Scan with these scan inputs; None if one of them does not have its axis."""
    has_batch = node.version < _WITHOUT_BATCH
    axes = node.integers("scan_input_axes") or ()
    batch: Dim = None
    length: Dim = None
    found: list[int] = []
    for index, each in enumerate(scanned):
        axis = axes[index] if index < len(axes) else 0
        if each.shape is not None:
            axis = axis + len(each.shape) if axis < 0 else axis
            place = axis + has_batch
            if not 0 <= place < len(each.shape):
                return None
            length = unified(length, each.shape[place])
            batch = unified(batch, each.shape[0])
        found.append(axis)
    return ScanAxes(
        inputs=tuple(found),
        outputs=node.integers("scan_output_axes"),
        length=length,
        batch=(batch,) if has_batch else (),
        backwards=_indices_of_ones(node, "scan_input_directions"),
        reversed_outputs=_indices_of_ones(node, "scan_output_directions"),
    )


def _indices_of_ones(node: Operands, attribute: str) -> frozenset[int]:
    return frozenset([index for index, each in enumerate(node.integers(attribute) or ()) if each])
