# SPDX-License-Identifier: Apache-2.0
"""Recurrent operators: sequences of vectors through a state."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, multiply
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, ProblemPlace
from onnx_lint.inference.shapes.registration import shapes_of

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""The number of weight matrices that are stacked for each direction."""

_DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}
"""The number of directions. GRU 1 has a misspelt default."""

_Size = tuple[Dim, ProblemPlace | None]
"""A size and its source."""


@shapes_of("GRU", "LSTM", "RNN", reads=(4,))
def recurrence(node: Operands) -> Outputs:
    """All states, the last one, and for LSTM the last cell; from version 14 on `layout` 1 puts the batch in front."""
    node.shape(0, 3)
    is_batch_first = bool(node.integer("layout", 0))
    steps, batch = (1, 0) if is_batch_first else (0, 1)
    of_batch = _size(node, 0, batch)
    direction = node.text("direction", "forward")
    directions = _DIRECTIONS.get(direction), Element("direction", direction) if node.has("direction") else None
    hidden = _hidden(node)
    # For each direction and gate a row for each number of the state, and two biases.
    gates = _GATES[node.operator]
    _fits(node, 1, directions, _times(gates, hidden), _size(node, 0, 2))
    _fits(node, 2, directions, _times(gates, hidden), hidden)
    _fits(node, 3, directions, _times(2 * gates, hidden))
    _fits(node, 4, of_batch)
    node.counts_within(4, 1, node.dim(0, steps), "steps")
    state = (of_batch, directions, hidden) if is_batch_first else (directions, of_batch, hidden)
    _fits(node, 5, *state)
    if node.operator == "LSTM":
        _fits(node, 6, *state)
        _fits(node, 7, directions, _times(3, hidden))
    last = tuple([size for size, _ in state])
    length = node.dim(0, steps)
    all_states = (
        (of_batch[0], length, directions[0], hidden[0])
        if is_batch_first
        else (length, directions[0], of_batch[0], hidden[0])
    )
    return [all_states, last, last]


def _hidden(node: Operands) -> _Size:
    """Return the size of the state: from the attribute, or else from the recurrent weights."""
    stated = node.integer("hidden_size")
    if stated is None:
        return _size(node, 2, 2)
    return (stated, Element("hidden_size", stated)) if node.is_positive("hidden_size") else (None, None)


def _size(node: Operands, index: int, axis: int) -> _Size:
    return node.dim(index, axis), node.place(index, axis)


def _times(factor: int, size: _Size) -> _Size:
    return multiply(size[0], factor), size[1]


def _fits(node: Operands, index: int, *sizes: _Size) -> None:
    """Compare an input, if it is given, with the sizes that it must have."""
    if not node.given(index) or node.shape(index, len(sizes)) is None:
        return
    for axis, (size, by) in enumerate(sizes):
        node.same((index, axis), size, by)
