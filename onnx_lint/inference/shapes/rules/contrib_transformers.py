# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) for transformers: embeddings, biases, normalization of sums.

As for attention, a shape is reported only if ONNX Runtime rejects the node.
"""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, divide, unified
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, ProblemPlace
from onnx_lint.inference.shapes.registration import equations, runtime_shapes_of
from onnx_lint.inference.shapes.rules.contrib_attention import number_of, of_rank
from onnx_lint.inference.shapes.rules.contrib_elements import fits_last


@runtime_shapes_of("RotaryEmbedding")
def rotary_embedding(node: Operands) -> Outputs:
    """The shape of the first input; a cosine and a sine for each pair of numbers that is rotated."""
    shape = node.shape(0, at_least=3, at_most=4)
    rotated, heads = node.integer("rotary_embedding_dim", 0), node.integer("num_heads", 0)
    if rotated and not heads:
        node.wrong_value("num_heads", heads, f"'rotary_embedding_dim' {rotated} requires it", allowed="at least 1")
    size: Dim = None
    by: ProblemPlace | None = Element("rotary_embedding_dim", rotated)
    if node.shape(2, 2) is not None and node.shape(3, 2) is not None:
        node.equal((2, 1), (3, 1))
    if rotated:
        size = rotated
    elif shape is not None:
        size, by = shape[-1], node.place(0, len(shape) - 1)
        if len(shape) == _SIDE_BY_SIDE:
            # Without a number of heads the size of a head is twice that of the caches.
            size = divide(size, heads) if heads > 0 else None
            pairs = node.dim(2, 1)
            if not heads:
                pairs = pairs if isinstance(pairs, int) else 1
                node.quotient((0, 2), 2 * pairs, node.place(2, 1))
    for index in (2, 3):
        if node.shape(index, 2) is not None and isinstance(size, int):
            node.same((index, 1), size // 2, by)
    return [shape]


_SIDE_BY_SIDE = 3
"""The rank of vectors whose heads are side by side."""


# --- normalization


@runtime_shapes_of("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_normalization(node: Operands) -> Outputs:
    """Infer the shape of the first input, also for the sum before the normalization; outputs for
    training are unknown.
    """
    shape = node.shape(0, at_least=2, at_most=3)
    skip = node.shape(1, at_least=2, at_most=len(shape) if shape is not None else 3)
    if skip is not None:
        for axis in (-2, -1):
            node.equal((0, axis), (1, axis))
    fits_last(node, *((2, 3) if node.operator == "SkipSimplifiedLayerNormalization" else (2, 3, 4)))
    return [shape, None, None, shape]


# --- biases by position


@runtime_shapes_of("RelativePositionBias", reads=(1, 2))
def position_bias(node: Operands) -> Outputs:
    """A number for each head and each pair of a query and a key."""
    table = of_rank(node, 0, 2)
    lengths = [each if not isinstance(each, float) else None for each in (node.scalar(1), node.scalar(2))]
    lengths = [None if isinstance(each, int) and each < 0 else each for each in lengths]
    return [(1, table[1] if table is not None else None, *lengths)]


@runtime_shapes_of("GatedRelativePositionBias")
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


equations(
    {
        "CausalConvWithState": "X[*all] ... -> Y[*all]",
        "EmbedLayerNormalization": (
            "ids[b s] segments words[? h] positions[? h] segment[? h] gamma[h] beta[h] ... "
            "-> Y[b s h] mask[b] sum[b s h]"
        ),
        "MoE": "X[*all] router[? e] w[e ? ?] b v[e ? ?] ... -> Y[*all]",
        "QEmbedLayerNormalization": "ids[b s] segments words[? h] ... -> Y[b s h] mask[b]",
        "QMoE": "X[*all] router[? e] w[e ? ?] scales b v[e ? ?] ... -> Y[*all]",
        "RemovePadding": "X[b s h] ... -> Y[? h] offsets[b s] sums[b+1] longest[1]",
        "RestorePadding": "X[t h] offsets[b s] -> Y[b s h]",
    },
    domain="com.microsoft",
)
