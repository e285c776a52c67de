# SPDX-License-Identifier: Apache-2.0
"""Biases by position of ONNX Runtime (com.microsoft)."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, unified
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.rules.contrib_attention import of_rank


def number_of(node: Operands, name: str) -> Dim:
    """Return the number in an attribute; None for one below 1."""
    found = node.integer(name)
    return found if found is not None and found > 0 else None


def position_bias(node: Operands) -> Outputs:
    """A number for each head and each pair of a query and a key."""
    table = of_rank(node, 0, 2)
    lengths = [each if not isinstance(each, float) else None for each in (node.scalar(1), node.scalar(2))]
    lengths = [None if isinstance(each, int) and each < 0 else each for each in lengths]
    return [(1, table[1] if table is not None else None, *lengths)]


def gated_position_bias(node: Operands) -> Outputs:
    """A number for each text, head and pair of a query and a key."""
    query, offsets, bias = of_rank(node, 0, 3), of_rank(node, 6, 2), of_rank(node, 2, 4)
    length = bias[2] if bias is not None else None
    batch: Dim = None
    if node.given(6):
        batch = offsets[0] if offsets is not None else None
    elif query is not None:
        batch, length = query[0], unified(query[1], length)
    return [(batch, number_of(node, "num_heads"), length, length)]
