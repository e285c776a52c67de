# SPDX-License-Identifier: Apache-2.0
"""Recurrent operators: sequences of vectors through a state."""

from __future__ import annotations

from onnx_lint.inference.shapes.equations import Size, solve
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element
from onnx_lint.inference.shapes.registration import register_rule

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""The number of weight matrices that are stacked for each direction."""

_DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}
"""The number of directions. GRU 1 has a misspelt default."""


@register_rule("GRU", "LSTM", "RNN", reads=(4,))
def recurrence(node: Operands) -> Outputs:
    """Infer all states, the last one, and for LSTM the last cell. `layout` 1 puts the batch first."""
    is_batch_first = bool(node.integer("layout", 0))
    data, state, result = ("b s", "b d h", "b s d h") if is_batch_first else ("s b", "d b h", "s d b h")
    gates = _GATES[node.operator]
    # For each direction and gate a row for each number of the state, and two biases.
    text = (
        f"X[{data} i] W[d {gates}*h i] R[d {gates}*h h] B[d {2 * gates}*h] lengths[b] H[{state}] C[{state}] P[d 3*h] "
        f"-> Y[{result}] Y_h[{state}] Y_c[{state}]"
    )
    known: dict[str, Size] = {"h": _hidden(node)}
    if node.text("direction", "forward") in _DIRECTIONS:
        known["d"] = _directions(node)
    outputs = solve(text, node, **known)
    node.counts_within(4, 1, node.dim(0, 1 if is_batch_first else 0), "steps")
    return outputs


def _directions(node: Operands) -> Size:
    """Return the number of directions, and the attribute that says it."""
    direction = node.text("direction", "forward")
    return _DIRECTIONS[direction], Element("direction", direction) if node.has("direction") else None


def _hidden(node: Operands) -> Size:
    """Return the size of the state: from the attribute, or else from the recurrent weights."""
    stated = node.integer("hidden_size")
    if stated is None:
        return node.dim(2, 2), node.place(2, 2)
    return (stated, Element("hidden_size", stated)) if node.is_positive("hidden_size") else (None, None)
