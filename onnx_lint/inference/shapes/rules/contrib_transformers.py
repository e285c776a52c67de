# SPDX-License-Identifier: Apache-2.0
"""Positions in operators of ONNX Runtime (com.microsoft)."""

from __future__ import annotations

import math

from onnx_lint.inference.shapes.dims import Dim, unified
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.rules.contrib_attention import of_rank
from onnx_lint.wording import listed


def number_of(node: Operands, name: str) -> Dim:
    """Return the number in an attribute; None for one below 1."""
    found = node.integer(name)
    return found if found is not None and found > 0 else None


def has_positions(node: Operands) -> Outputs:
    """Note constant positions of RotaryEmbedding, or a first one, beyond those in the caches."""
    given = node.fact(1).shape
    rows = next((node.dim(at, 0) for at in (2, 3) if isinstance(node.dim(at, 0), int)), None)
    if given is not None and len(given) > 1:
        node.counts_within(1, 0, rows, "positions in the caches")
        return UNKNOWN
    content, data = node.content(1), node.fact(0).shape
    steps = data[-2] if data is not None and len(data) > 2 else None
    first = content[0] if content is not None and len(content) == 1 else None
    if isinstance(first, int) and isinstance(rows, int) and isinstance(steps, int) and not 0 <= first <= rows - steps:
        reason = f"{steps} positions from there on are not in the {rows} of the caches"
        node.wrong_value(1, first, reason, 0, allowed=f"0 to {rows - steps}")
    return UNKNOWN


def fits_widths(node: Operands) -> Outputs:
    """Note what QMoE cannot have beside the widths of the numbers in the matrices of its experts.

    With 3 bits, ONNX Runtime has one form for all attributes. Matrices 1 and 3 of SwiGLU may be one.
    """
    default = node.integer("expert_weight_bits")
    first, second, third = (node.integer(f"fc{at}_expert_weight_bits", default or 0) for at in (1, 2, 3))
    if node.text("activation_type") == "swiglu" and node.integer("swiglu_fusion", 0) and first != third:
        name = f"fc{3 if node.has('fc3_expert_weight_bits') else 1}_expert_weight_bits"
        reason = "it must be the same for fc1 and fc3, which are one matrix"
        node.wrong_value(name, node.integer(name, 0), reason, allowed=str(first if name.startswith("fc3") else default))
    elif _NARROW in (first, second, third):
        for name, required in _BESIDE_NARROW.items():
            if str(node.argument(name)) not in required:
                reason = f"with weights of 3 bits it must be {listed([*required], 'or')}"
                node.wrong_value(name, node.argument(name), reason)
                break
    return UNKNOWN


_NARROW = 3
"""The bits of numbers that are not packed by bytes."""

_BESIDE_NARROW = {
    "quant_type": ("int",),
    "activation_type": ("swiglu",),
    "swiglu_fusion": ("1",),
    "weights_prepacked": ("0",),
    "block_size": ("32", "64", "128"),
}
"""What attributes must be beside weights of 3 bits."""


def has_heads(node: Operands) -> Outputs:
    """Note an input of MRotaryEmbedding with its heads side by side, and no word on how many there are."""
    shape = node.fact(0).shape
    heads = node.integer("num_heads", 0)
    if shape is not None and len(shape) == _BY_CHANNEL and not heads:
        node.wrong_value("num_heads", heads, "input 0 has 3 dimensions", allowed="at least 1")
    return UNKNOWN


def tokens(node: Operands) -> Outputs:
    """Without texts there are no tokens, and no dimension for them."""
    shape = node.fact(0).shape
    return [(*shape[:-1], 0)] if shape and 0 in shape else UNKNOWN


_BY_CHANNEL = 3
"""The rank of an input with one axis of channels."""


def has_channels_and_state(node: Operands) -> Outputs:
    """Note channels of CausalConvWithState that the input lacks, or has too many of, and a state that is shorter than
    the kernel reaches.
    """
    channels, first = node.integer("input_channels", 0), node.integer("input_channel_offset", 0)
    width, size, length = node.dim(0, -1), node.dim(1, -1), node.integer("state_length", 0)
    if channels and isinstance(width, int) and first + channels > width:
        reason = f"with 'input_channel_offset' {first} the last of them is not among the {width} channels of input 0"
        node.wrong_value("input_channels", channels, reason, allowed=f"at most {max(width - first, 0)}")
    shape = node.fact(0).shape or ()
    axes = [each for each in shape[2:] if isinstance(each, int)]
    if node.integer("channels_last", 0) and not channels and 2 + len(axes) == len(shape) > _BY_CHANNEL:
        node.same((1, 0), math.prod(axes), node.place(0, 2))
    reach = (size - 1) * node.integer("dilation", 1) if isinstance(size, int) else 0
    if length and length < reach:
        node.wrong_value("state_length", length, f"the kernel reaches back by {reach}", allowed=f"at least {reach}")
    return UNKNOWN


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
