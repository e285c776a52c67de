# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) whose description states the shapes of the outputs explicitly.

Inputs that have another form than the description says are a warning, and the outputs are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from onnx_lint.inference.shapes.dims import multiply
from onnx_lint.inference.shapes.equations import solve
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.registration import runtime_shapes_of
from onnx_lint.inference.shapes.rules.contrib_attention import number_of
from onnx_lint.inference.shapes.rules.contrib_requirements import advise
from onnx_lint.inference.shapes.rules.pooling import pool

_EQUATIONS: Final[Mapping[str, str]] = {
    "AttnLSTM": "X[t b i] W[d g j] ... -> Y[t d b @hidden_size] Y_h[d b @hidden_size] Y_c[d b @hidden_size]",
    "BranchwiseRMSNorm": "X[*all] -> Y[*all]",
    "DecoderAttention": "query[s b h] ... -> output[s b h] key_cache[b @num_heads ? ?] value_cache[b @num_heads ? ?]",
    "EngramGate": "key[b s m h] ... -> output[b s m h] gated_value_normed[b s m h]",
    "HyperConnectionPostMix": "streams[*all] ... -> output[*all]",
    "LinearAttentionGate": "a[b t h] ... -> decay[b t h] beta[b t h]",
    "MatMulBlockQuantizedFp4Weight": "A[*rows k] B[n half] ... -> Y[*rows n]",
    "MatMulBlockQuantizedFp8Weight": "A[*rows k] B[n k] ... -> Y[*rows n]",
    "MatMulNBitsMlp": "A[*rows k] ... -> Y[*rows @N] sum[*rows k]",
    "MatMulNBitsQkv": "A[*rows k] ... -> Q[*rows @Nq] K[*rows @Nkv] V[*rows @Nkv] sum[*rows k]",
    "NGramHashMapping": "ids[b s] multipliers vocab_sizes[n] ... -> hash_ids[b s n] present_ids[b ?]",
    "PagedAttention": "query[t ?] key value key_cache[*k] value_cache[*v] ... -> output[t ?] key[*k] value[*v]",
    "QOrderedAttention": "input[b s ?] ... -> output[b s ?]",
    "QOrderedLongformerAttention": "input[b s h] ... -> output[b s h]",
    "QOrderedMatMul": "A[b m ?] ... -> Y[b m ?]",
    "VarlenCausalConvWithState": (
        "input[t c] weight[c 1 k] offsets bias state[b c n] ..."
        " -> output[t c] final_state[b c n] state_update[b @state_update_capacity c]"
    ),
}
"""The operators, with an equation each; see `onnx_lint.inference.shapes.equations`."""


def _described(text: str, node: Operands) -> Outputs:
    return _unless_wrong(node, solve(text, node))


def _unless_wrong(node: Operands, found: Outputs) -> Outputs:
    """Return the shapes, or none if something does not fit."""
    if node.problems:
        advise(node)
        return UNKNOWN
    return found


for _operator, _text in _EQUATIONS.items():
    runtime_shapes_of(_operator)(partial(_described, _text))


_ROWS_AND_COLUMNS: Final = 2
"""The entries of the shape of a matrix."""

_BATCH_AND_CHANNELS: Final = 2
"""The dimensions of an image before its spatial ones."""


@runtime_shapes_of("MatMulFpQ4", reads=(2,))
def packed_product(node: Operands) -> Outputs:
    """A product with a matrix that is packed into one row, whose shape is an input."""
    shape, packed = node.shape(0), node.content(2)
    if not shape or packed is None or len(packed) != _ROWS_AND_COLUMNS or isinstance(packed[1], float):
        return UNKNOWN
    return [(*shape[:-1], packed[1] if not isinstance(packed[1], int) or packed[1] >= 0 else None)]


@runtime_shapes_of("DequantizeBFP", reads=(1,))
def unpacked(node: Operands) -> Outputs:
    """The shape that the second input gives."""
    stated = node.integers_in(1)
    return _unless_wrong(node, [stated] if stated is not None and node.at_least(0, stated, 1) else UNKNOWN)


runtime_shapes_of("MaxpoolWithMask")(pool)  # as MaxPool of ONNX; the mask is only compared with the input


@runtime_shapes_of("ConvTransposeWithDynamicPads")
def padded_transposed_convolution(node: Operands) -> Outputs:
    """As ConvTranspose of ONNX, but the padding, an input, is not read."""
    shape, kernel = node.shape(0), node.shape(1)
    if shape is None or len(shape) < _BATCH_AND_CHANNELS:
        return UNKNOWN
    outputs = multiply(kernel[1], number_of(node, "group")) if kernel is not None and len(kernel) > 1 else None
    return [(shape[0], outputs, *(None,) * (len(shape) - _BATCH_AND_CHANNELS))]
