# SPDX-License-Identifier: Apache-2.0
"""Operators with subgraphs: only their own inputs and attributes are checked here, since subgraphs are walked.

The subgraphs decide the outputs, see `onnx_lint.inference.flow.subgraphs`.
"""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import ProblemPlace, WrongCount
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.wording import counted


@register_rule("If", "Loop")
def choice_or_loop(node: Operands) -> Outputs:
    """Record a condition, or a number of iterations of a Loop, that does not have one element."""
    node.scalar(0)
    node.scalar(1)
    return UNKNOWN


@register_rule("SequenceMap")
def sequence_map(node: Operands) -> Outputs:
    """Record further sequences that are not as long as the first. ONNX Runtime ignores more elements."""
    count = node.element_count(0)
    for index in range(1, node.count):
        other = node.element_count(index)
        if isinstance(count, int) and isinstance(other, int) and other != count:
            node.problems.append(WrongCount(index, other, count, 0))
    return UNKNOWN


@register_rule("Scan", "Scan:9")
def scan(node: Operands) -> Outputs:
    """Record scan inputs of different lengths along their axes. In version 8 they have a batch axis in front."""
    count = node.integer("num_scan_inputs", 0)
    first = node.count - count
    has_batch = node.version < _WITHOUT_BATCH
    inputs = node.count - has_batch  # version 8 has the lengths of sequences in front
    if count > inputs:
        reason = f"the node has {counted(inputs, 'input')} for states and scans"
        node.wrong_value("num_scan_inputs", count, reason, allowed=f"at least 1 and at most {inputs}")
    if count < 1 or first < 0:
        return UNKNOWN
    axes = node.integers("scan_input_axes")
    if axes is not None and not node.has_count("scan_input_axes", len(axes), count):
        return UNKNOWN
    for name in ("scan_output_axes", "scan_output_directions"):
        if node.has(name) and (listed := node.integers(name)):
            node.has_count(name, len(listed), node.output_count - first)
    name = "directions" if has_batch else "scan_input_directions"
    directions = node.integers(name)
    if directions:
        node.has_count(name, len(directions), count)
    _check_lengths_agree(node, first, axes, has_batch=has_batch)
    return UNKNOWN


def _check_lengths_agree(node: Operands, first: int, axes: tuple[int, ...] | None, *, has_batch: bool) -> None:
    """Record scan inputs, from input `first` on, of different lengths along their axes."""
    length: Dim = None
    by: ProblemPlace | None = None
    for number, index in enumerate(range(first, node.count)):
        shape = node.shape(index, at_least=1 + has_batch)
        if shape is None:
            continue
        axis = int(has_batch) if axes is None else node.axis(axes[number], len(shape), "scan_input_axes", number)
        if axis is not None:
            length = node.same((index, axis), length, by)
            by = by or node.place(index, axis)


_WITHOUT_BATCH = 9
