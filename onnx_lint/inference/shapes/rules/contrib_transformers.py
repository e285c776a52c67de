# SPDX-License-Identifier: Apache-2.0
"""Checks of ONNX Runtime's operators for transformers (com.microsoft): positions, experts, states and tokens."""

from __future__ import annotations

import math

from onnx_lint.inference.shapes.dims import Dim, are_sizes, as_size, unified
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.wording import listed

# --- positions


def check_positions(node: Operands) -> None:
    """Record constant positions of RotaryEmbedding, or a first one, beyond those in the caches."""
    index = node.input("position_ids")
    positions = node.fact(index).shape
    caches = [node.dim(node.input(name), 0) for name in ("cos_cache", "sin_cache")]
    rows = next((size for size in caches if isinstance(size, int)), None)
    if positions is not None and len(positions) > 1:
        node.counts_within(index, 0, rows, "positions in the caches")
        return
    content, data = node.content(index), node.fact(0).shape
    steps = data[-2] if data is not None and len(data) > 2 else None
    first = content[0] if content is not None and len(content) == 1 else None
    if isinstance(first, int) and isinstance(rows, int) and isinstance(steps, int) and not 0 <= first <= rows - steps:
        reason = f"{steps} positions from there on are not in the {rows} of the caches"
        node.wrong_value(index, first, reason, index=0, allowed=f"0 to {rows - steps}")


def check_head_count(node: Operands) -> None:
    """Record a 3-dimensional input of MRotaryEmbedding without `num_heads`."""
    if node.shape_of_rank(0, 3) is not None and not node.integer("num_heads", 0):
        node.wrong_value("num_heads", 0, "input 0 has 3 dimensions", allowed="at least 1")


def position_bias(node: Operands) -> Outputs:
    """Infer a number for each head and each pair of a query and a key."""
    table = node.shape_of_rank(0, 2)
    heads = table[1] if table is not None else None
    return [(1, heads, *[_length(node, name) for name in ("query_length", "key_length")])]


def _length(node: Operands, name: str) -> Dim:
    """Return the number in an input; None if it is unknown or negative."""
    return as_size(node.scalar(node.input(name)))


def gated_position_bias(node: Operands) -> Outputs:
    """Infer a number for each sequence, head and pair of a query and a key."""
    bias = node.shape_of_rank(node.input("rel_pos"), 4)
    length = bias[2] if bias is not None else None
    batch: Dim = None
    if node.given(node.input("token_offset")):
        offsets = node.shape_of_rank(node.input("token_offset"), 2)
        batch = offsets[0] if offsets is not None else None
    else:
        query = node.shape_of_rank(0, 3)
        if query is not None:
            batch, length = query[0], unified(query[1], length)
    return [(batch, node.positive("num_heads"), length, length)]


# --- experts


def check_weight_bits(node: Operands) -> None:
    """Record an attribute of QMoE that its bits of weights forbid: other bits, or anything else beside 3 bits.

    With 3 bits, ONNX Runtime has one form for all attributes. Matrices 1 and 3 of SwiGLU may be one.
    """
    default = node.integer("expert_weight_bits", 0)
    bits = [node.integer(f"fc{at}_expert_weight_bits", default) for at in (1, 2, 3)]
    is_fused = node.text("activation_type") == "swiglu" and node.integer("swiglu_fusion", 0)
    if is_fused and bits[0] != bits[2]:
        has_third = node.has("fc3_expert_weight_bits")
        name = f"fc{3 if has_third else 1}_expert_weight_bits"
        reason = "it must be the same for fc1 and fc3, which are one matrix"
        node.wrong_value(name, node.integer(name, 0), reason, allowed=str(bits[0] if has_third else default))
    elif _NARROW in bits:
        _check_beside_narrow(node)


def _check_beside_narrow(node: Operands) -> None:
    """Record the first attribute whose value weights of 3 bits forbid."""
    for name, required in _BESIDE_NARROW.items():
        if str(node.argument(name)) not in required:
            reason = f"with weights of 3 bits it must be {listed([*required], 'or')}"
            node.wrong_value(name, node.argument(name), reason)
            return


_NARROW = 3
"""The bits of numbers that are not packed by bytes."""

_BESIDE_NARROW = {
    "quant_type": ("int",),
    "activation_type": ("swiglu",),
    "swiglu_fusion": ("1",),
    "weights_prepacked": ("0",),
    "block_size": ("32", "64", "128"),
}
"""The values of attributes that weights of 3 bits require."""


# --- states and tokens


def check_channels_and_state(node: Operands) -> None:
    """Record an input, weights or a state of CausalConvWithState that are too small for its attributes."""
    _check_channels(node)
    _check_weights_of_image(node)
    _check_state_length(node)


def _check_channels(node: Operands) -> None:
    """Record channels that end beyond the last axis of the input."""
    channels, first, width = node.integer("input_channels", 0), node.integer("input_channel_offset", 0), node.dim(0, -1)
    if channels and isinstance(width, int) and first + channels > width:
        reason = f"with 'input_channel_offset' {first} the last of them is not among the {width} channels of input 0"
        node.wrong_value("input_channels", channels, reason, allowed=f"at most {max(width - first, 0)}")


def _check_weights_of_image(node: Operands) -> None:
    """Record weights for another number of channels. With `channels_last`, all axes from the third on are channels."""
    shape = node.fact(0).shape or ()
    axes = shape[2:]
    if (
        node.integer("channels_last", 0)
        and not node.integer("input_channels", 0)
        and len(shape) > 3
        and are_sizes(axes)
    ):
        node.same((node.input("weight"), 0), math.prod(axes), node.place(0, 2))


def _check_state_length(node: Operands) -> None:
    """Record a state of fewer steps than the kernel reaches back."""
    length, size = node.integer("state_length", 0), node.dim(node.input("weight"), -1)
    reach = (size - 1) * node.integer("dilation", 1) if isinstance(size, int) else 0
    if length and length < reach:
        node.wrong_value("state_length", length, f"the kernel reaches back by {reach}", allowed=f"at least {reach}")


def tokens(node: Operands) -> Outputs:
    """Return the shape with a last dimension of 0 if the input has no elements; otherwise it is unknown."""
    shape = node.fact(0).shape
    return [(*shape[:-1], 0)] if shape and 0 in shape else UNKNOWN
