# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's operators with real inputs, and the shapes of their outputs.

The shapes are those that ONNX Runtime's documentation gives; where its build for CPUs has a kernel, a test runs the
nodes and compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RuntimeNode:
    """A node with its inputs, None for an omitted one, and the shapes of its outputs, None for an unknown one."""

    operator: str
    inputs: tuple[np.ndarray | None, ...]
    outputs: tuple[tuple[int | None, ...] | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    runs: bool = True
    """True if ONNX Runtime has a kernel for CPUs that takes the node."""

    def __str__(self) -> str:
        shapes = " ".join("-" if each is None else "x".join(map(str, each.shape)) or "()" for each in self.inputs)
        return f"{self.operator}({shapes}){self.attributes or ''}"


def f(*shape: int) -> np.ndarray:
    return np.full(shape, 0.5, np.float32)


def u8(*shape: int) -> np.ndarray:
    return np.ones(shape, np.uint8)


def i8(*shape: int) -> np.ndarray:
    return np.ones(shape, np.int8)


def i32(*shape: int) -> np.ndarray:
    return np.ones(shape, np.int32)


def of(kind: type, *values: float) -> np.ndarray:
    return np.array(values, kind)


def one(kind: type, value: float) -> np.ndarray:
    return np.array(value, kind)


def texts(*shape: int) -> np.ndarray:
    return np.full(shape, "a b", object)


def node(operator: str, *inputs: np.ndarray | None, to: Any, runs: bool = True, **attributes: Any) -> RuntimeNode:
    """A node; `to` is the shape of the output, or a list of several."""
    outputs = tuple(to) if isinstance(to, list) else (to,)
    return RuntimeNode(operator, inputs, outputs, attributes, runs)


S, Z = one(np.float32, 0.5), one(np.uint8, 1)
"""A scale and a zero point."""

POOL: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}

ELEMENTS = (
    node("BiasGelu", f(2, 3, 4), f(4), to=(2, 3, 4)),
    node("FastGelu", f(2, 3, 4), f(4), to=(2, 3, 4)),
    node("Gelu", f(2, 3), to=(2, 3)),
    node("QuickGelu", f(2, 3), to=(2, 3)),
    node("Inverse", f(2, 3, 3) * np.eye(3, dtype=np.float32), to=(2, 3, 3)),
    node("Trilu", f(2, 3, 4), to=(2, 3, 4)),
    node("MurmurHash3", i32(3, 4), to=(3, 4)),
    node("NGramRepeatBlock", np.ones((2, 5), np.int64), f(2, 7), to=(2, 7), ngram_size=2),
    node("ExpandDims", f(2, 3), one(np.int32, 1), to=(2, 1, 3)),
    node("ExpandDims", f(2, 3), one(np.int32, -1), to=(2, 3, 1)),
    node("Range", one(np.float32, 0), one(np.float32, 7), one(np.float32, 2), to=(4,)),
    node("Range", one(np.int64, 2), one(np.int64, 7), to=(5,)),
    node("GatherND", f(3, 4, 5), np.zeros((2, 6, 2), np.int64), to=(2, 6, 5)),
    node("GridSample", f(2, 3, 4, 5), f(2, 6, 7, 2), to=(2, 3, 6, 7)),
    node("CDist", f(3, 5), f(4, 5), to=(3, 4), metric="euclidean"),
    node("WordConvEmbedding", np.ones((2, 6, 3), np.int32), f(8, 1, 3, 5), f(8), f(20, 5), to=(2, 8)),
    node("CropAndResize", f(2, 3, 8, 8), f(5, 4), np.zeros(5, np.int32), of(np.int32, 6, 7), to=(5, 3, 6, 7)),
    node("Pad", f(2, 3), of(np.int64, 0, 1, 2, 3), to=(4, 7)),
    node("Tokenizer", texts(2, 3), to=(2, 3, None), mark=0, mincharnum=1, pad_value="#", separators=[" "]),
    node("Tokenizer", texts(3), to=(3, None), mark=0, mincharnum=1, pad_value="#", separators=[" "]),
    node("Unique", of(np.float32, 2, 1, 1, 3), to=[(None,), (4,), (None,)]),
    node("DynamicTimeWarping", f(3, 4), to=(2, None)),
    node("UnfoldTensor", f(2, 9), to=(2, 4, 3), dim=-1, size=3, step=2),
    node("MulInteger", u8(2, 1, 3), Z, u8(4, 1), Z, to=(2, 4, 3), runs=False),
    node("BiasAdd", f(2, 4, 3), f(3), f(2, 4, 3), to=(2, 4, 3), runs=False),
    node("BiasSplitGelu", f(2, 4, 6), f(6), to=(2, 4, 3), runs=False),
    node("SwiGLU", f(2, 4, 6), f(2, 4, 6), to=(2, 4, 6), runs=False),
    node("SwiGLU", f(2, 4, 6), to=(2, 4, 3), runs=False),
    node("BiasSoftmax", f(2, 3, 4), f(1, 3, 4), to=(2, 3, 4), runs=False, axis=1, is_inner_broadcast=0),
    node("BiasDropout", f(2, 3), f(3), to=[(2, 3), (2, 3)], runs=False),
    node("BitmaskDropout", f(2, 3), to=[(2, 3), None], runs=False),
    node("BitmaskBiasDropout", f(2, 3), f(3), to=[(2, 3), None], runs=False),
    node("GatedAdd", f(2, 3), f(2, 3), f(2, 1), to=(2, 3)),
    node("GatedRMSNorm", f(2, 6), f(3), f(2, 6), to=(2, 6)),
    node("ScaledSiLU", f(2, 3), to=(2, 3)),
    node("GroupNorm", f(2, 4, 4, 6), f(6), f(6), to=(2, 4, 4, 6), runs=False, groups=2, activation=0),
    node(
        "SkipGroupNorm", f(2, 4, 4, 6), f(6), f(6), f(2, 6), to=[(2, 4, 4, 6)] * 2, runs=False, groups=2, activation=0
    ),
    node("GemmaRotaryEmbedding", f(1, 2, 4), *[f(1, 3, 2, 4)] * 4, to=[(1, 3, 2, 4)] * 2, runs=False),
    node("TorchEmbedding", f(9, 5), np.ones((2, 3), np.int64), to=(2, 3, 5), runs=False),
    node("IsAllFinite", f(2), f(3, 4), to=(), runs=False),
    node("Rfft", f(2, 8), to=(2, 5, 2), runs=False, signal_ndim=1, onesided=1, normalized=0),
    node("Irfft", f(2, 5, 2), to=(2, 8), runs=False, signal_ndim=1, onesided=1, normalized=0),
)

MATRICES = (
    node("FusedMatMul", f(2, 3, 4), f(4, 5), to=(2, 3, 5)),
    node("FusedMatMul", f(2, 4, 3), f(2, 5, 4), to=(2, 3, 5), transA=1, transB=1),
    node("FusedMatMul", f(4), f(4, 5), to=(5,), transA=1),
    node("FusedMatMul", f(3, 2, 4), f(2, 4, 5), to=(2, 3, 5), transBatchA=1),
    node("FusedMatMul", f(4, 2, 3), f(2, 4, 5), to=(2, 3, 5), transBatchA=1, transA=1),
    node("FusedMatMul", f(2, 3, 4), f(4, 2, 5), to=(2, 3, 5), transBatchB=1),
    node("FusedMatMul", f(2, 3, 4), f(5, 2, 4), to=(2, 3, 5), transBatchB=1, transB=1),
    node("FusedMatMul", f(3, 6, 2, 4), f(4, 1, 2, 5), to=(6, 2, 3, 5), transBatchA=1, transBatchB=1),
    node("FusedMatMul", f(3, 6, 2, 4), f(6, 2, 5, 4), to=(6, 2, 3, 5), transBatchA=1, transB=1),
    node("TransposeMatMul", f(4, 3), f(4, 5), to=(3, 5), transA=1),
    node("FusedMatMulActivation", f(2, 3), f(3, 4), to=(2, 4), runs=False, activation="Relu"),
    node("DynamicQuantizeMatMul", f(2, 3, 4), u8(4, 5), S, Z, to=(2, 3, 5)),
    node("MatMulIntegerToFloat", u8(2, 4), u8(4, 5), S, S, to=(2, 5)),
    node("MatMulInteger16", np.ones((2, 4), np.int16), np.ones((4, 5), np.int16), to=(2, 5)),
    node("FusedGemm", f(4, 2), f(4, 5), f(5), to=(2, 5), transA=1, activation="Relu"),
    node("QGemm", u8(2, 4), S, Z, u8(4, 5), S, Z, to=(2, 5)),
    node("QGemm", u8(2, 4), S, Z, u8(5, 4), S, Z, i32(5), to=(2, 5), transB=1),
    node("MatMulNBits", f(2, 3, 32), u8(5, 1, 16), f(5, 1), to=(2, 3, 5), K=32, N=5, bits=4, block_size=32),
    node("MatMulBnb4", f(2, 32), u8(80), f(5), to=(2, 5), K=32, N=5, block_size=32, quant_type=1),
    node("GemmFastGelu", f(2, 3), f(3, 4), to=(2, 4), runs=False),
    node("GemmFloat8", f(2, 3), f(4, 3), to=(2, 4), runs=False, transB=1),
    node("SparseToDenseMatMul", f(3, 2), f(3, 4), to=(2, 4), runs=False, transA=1),
)

IMAGES = (
    node("FusedConv", f(1, 4, 9, 9), f(6, 2, 3, 3), f(6), to=(1, 6, 4, 4), group=2, strides=[2, 2], activation="Relu"),
    node("QLinearConv", u8(1, 4, 9, 9), S, Z, u8(6, 4, 3, 3), S, Z, S, Z, to=(1, 6, 7, 7)),
    node("QLinearConv", u8(1, 9, 9, 4), S, Z, u8(6, 4, 3, 3), S, Z, S, Z, to=(1, 7, 7, 6), channels_last=1),
    node("QLinearAveragePool", u8(1, 4, 9, 9), S, Z, S, Z, to=(1, 4, 5, 5), **POOL),
    node("QLinearAveragePool", u8(1, 9, 9, 4), S, Z, S, Z, to=(1, 5, 5, 4), channels_last=1, **POOL),
    node("QLinearGlobalAveragePool", u8(2, 4, 9, 9), S, Z, S, Z, to=(2, 4, 1, 1)),
    node("QLinearGlobalAveragePool", u8(2, 9, 9, 4), S, Z, S, Z, to=(2, 1, 1, 4), channels_last=1),
    node("NhwcMaxPool", u8(1, 9, 9, 4), to=(1, 5, 5, 4), **POOL),
    node("NhwcConv", f(1, 9, 9, 4), f(6, 4, 3, 2), to=(1, 7, 8, 6), runs=False),
    node("NhwcFusedConv", f(1, 9, 9, 4), f(6, 4, 3, 2), to=(1, 7, 8, 6), runs=False),
)

QUANTIZATION = (
    node("QuantizeLinear", f(2, 3), S, Z, to=(2, 3)),
    node("DequantizeLinear", u8(2, 3), f(3), u8(3), to=(2, 3), axis=1),
    node("QLinearAdd", u8(2, 1, 3), S, Z, u8(4, 1), S, Z, S, Z, to=(2, 4, 3)),
    node("QLinearMul", u8(2, 3), S, Z, u8(3), S, Z, S, Z, to=(2, 3)),
    node("QLinearWhere", np.ones((2, 1), bool), u8(3), S, Z, u8(4, 1, 1), S, Z, S, Z, to=(4, 2, 3)),
    node("QLinearLeakyRelu", u8(2, 3), S, Z, S, Z, to=(2, 3)),
    node("QLinearSigmoid", u8(2, 3), S, Z, S, Z, to=(2, 3)),
    node("QLinearSoftmax", u8(2, 3), S, Z, S, Z, to=(2, 3), opset=13, axis=-1),
    node("QLinearConcat", S, Z, u8(2, 3), S, Z, u8(2, 4), S, Z, to=(2, 7), axis=1),
    node("QLinearReduceMean", u8(2, 3, 4), S, Z, S, Z, to=(2, 1, 4), axes=[1], keepdims=1, runs=False),
    node("ReduceSumInteger", u8(2, 3, 4), to=(2, 4), axes=[1], keepdims=0, runs=False),
    node("GatherPacked", u8(9, 34), np.zeros((2, 3), np.int64), to=(2, 3, 64), packed_type=1, K=64, runs=False),
    node(
        "GatherBlockQuantized",
        u8(9, 16),
        np.zeros((2, 3), np.int64),
        f(9, 1),
        to=(2, 3, None),
        bits=4,
        block_size=32,
        gather_axis=0,
        quantize_axis=1,
    ),
    node(
        "DynamicQuantizeLSTM",
        f(7, 2, 3),
        u8(1, 3, 20),
        u8(1, 5, 20),
        *[None] * 5,
        f(1),
        u8(1),
        f(1),
        u8(1),
        to=[(7, 1, 2, 5), (1, 2, 5), (1, 2, 5)],
        hidden_size=5,
    ),
    node("QuantizeWithOrder", f(2, 4, 3), S, to=(2, 4, 3), runs=False, order_input=1, order_output=1),
    node("DequantizeWithOrder", i8(2, 4, 3), S, to=(2, 4, 3), runs=False, order_input=1, order_output=1),
    node("QOrderedGelu", i8(2, 3), S, S, to=(2, 3), runs=False),
    node("QOrderedLayerNormalization", i8(2, 4, 3), S, f(3), None, S, to=(2, 4, 3), runs=False),
    node("QuantizeBFP", f(2, 3), to=[(None,), (None,), (None,)], runs=False, bfp_type=1),
)

PAST = f(2, 1, 2, 6, 4)

TRANSFORMERS = (
    node("SkipLayerNormalization", f(2, 3, 4), f(2, 3, 4), f(4), to=[(2, 3, 4), (2, 3, 1), (2, 3, 1), (2, 3, 4)]),
    node("SkipSimplifiedLayerNormalization", f(3, 4), f(3, 4), f(4), to=(3, 4)),
    node(
        "EmbedLayerNormalization",
        i32(2, 3),
        None,
        f(9, 8),
        f(5, 8),
        None,
        f(8),
        f(8),
        i32(2, 3),
        to=[(2, 3, 8), (2,), (2, 3, 8)],
        mask_index_type=1,
    ),
    node("RotaryEmbedding", f(1, 3, 8), of(np.int64, 0), f(9, 4), f(9, 4), to=(1, 3, 8)),
    node("Attention", f(1, 3, 8), f(8, 24), f(24), to=[(1, 3, 8), (2, 1, 2, 3, 4)], num_heads=2),
    node("Attention", f(1, 3, 8), f(8, 24), f(24), None, PAST, to=[(1, 3, 8), (2, 1, 2, 9, 4)], num_heads=2),
    node("Attention", f(1, 3, 8), f(8, 28), f(28), to=(1, 3, 12), num_heads=2, qkv_hidden_sizes=[8, 8, 12]),
    node("Attention", f(2, 3, 8), f(8, 24), f(24), i32(2), to=(2, 3, 8), num_heads=2),
    node("Attention", f(2, 3, 8), f(8, 24), f(24), i32(4), to=(2, 3, 8), num_heads=2),
    node("Attention", f(2, 3, 8), f(8, 24), f(24), i32(8), to=(2, 3, 8), num_heads=2),
    node("Attention", f(2, 3, 8), f(8, 24), f(24), i32(2, 3), to=(2, 3, 8), num_heads=2),
    node("QAttention", u8(1, 3, 8), u8(8, 24), f(24), S, S, None, Z, Z, to=(1, 3, 8), num_heads=2),
    node("QAttention", u8(2, 3, 8), u8(8, 24), f(24), S, S, i32(4), Z, Z, to=(2, 3, 8), num_heads=2),
    node("QAttention", u8(2, 3, 8), u8(8, 24), f(24), S, S, i32(2, 3), Z, Z, to=(2, 3, 8), num_heads=2),
    node("MultiHeadAttention", f(1, 3, 8), f(1, 5, 8), f(1, 5, 8), to=(1, 3, 8), num_heads=2),
    node("MultiHeadAttention", f(1, 3, 8), f(1, 5, 8), f(1, 5, 12), to=(1, 3, 12), num_heads=2),
    node("MultiHeadAttention", f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), None, i32(2), to=(2, 3, 8), num_heads=2),
    node("MultiHeadAttention", f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), None, i32(8), to=(2, 3, 8), num_heads=2),
    node("MultiHeadAttention", f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), None, i32(2, 5), to=(2, 3, 8), num_heads=2),
    node("MultiHeadAttention", f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), None, i32(2, 3, 5), to=(2, 3, 8), num_heads=2),
    node("MultiHeadAttention", f(1, 3, 2, 3, 4), to=(1, 3, 8), num_heads=2, runs=False),
    node("MultiHeadAttention", f(1, 3, 8), f(1, 5, 2, 2, 4), to=(1, 3, 8), num_heads=2, runs=False),
    node("MultiHeadAttention", f(1, 3, 8), f(1, 5, 2, 2, 4), None, f(24), to=(1, 3, 8), num_heads=2, runs=False),
    node("MultiHeadAttention", f(1, 3, 8), f(1, 2, 5, 4), f(1, 2, 5, 4), to=(1, 3, 8), num_heads=2),
    node(
        "MultiHeadAttention",
        f(1, 3, 8),
        f(1, 3, 8),
        f(1, 3, 8),
        None,
        None,
        None,
        f(1, 2, 6, 4),
        f(1, 2, 6, 4),
        to=[(1, 3, 8), (1, 2, 9, 4), (1, 2, 9, 4)],
        num_heads=2,
    ),
    node(
        "GroupQueryAttention",
        f(1, 3, 32),
        f(1, 3, 16),
        f(1, 3, 16),
        None,
        None,
        of(np.int32, 2),
        one(np.int32, 3),
        to=[(1, 3, 32), (1, 2, None, 8), (1, 2, None, 8)],
        num_heads=4,
        kv_num_heads=2,
    ),
    node(
        "GroupQueryAttention",
        f(1, 1, 64),
        None,
        None,
        f(1, 2, 6, 8),
        f(1, 2, 6, 8),
        of(np.int32, 6),
        one(np.int32, 7),
        to=[(1, 1, 32), (1, 2, None, 8), (1, 2, None, 8)],
        num_heads=4,
        kv_num_heads=2,
    ),
    node("MoE", f(6, 8), f(6, 2), f(2, 4, 8), None, f(2, 8, 4), to=(6, 8), k=1),
    node("QMoE", f(1, 6, 8), f(6, 2), u8(2, 4, 4), f(2, 4), None, u8(2, 8, 2), to=(1, 6, 8), k=1, runs=False),
    node(
        "MRotaryEmbedding",
        *(f(1, 3, 8), np.ones((3, 1, 3), np.int64), f(9, 4), f(9, 4)),
        to=(1, 3, 8),
        num_heads=1,
        mrope_section=[2, 1, 1],
    ),
    node(
        "LongformerAttention",
        f(1, 8, 8),
        f(8, 24),
        f(24),
        f(1, 8),
        f(8, 24),
        f(24),
        i32(1, 8),
        to=(1, 8, 8),
        runs=False,
    ),
    node("CausalConvWithState", f(1, 4, 7), f(4, 1, 3), to=[(1, 4, 7), (1, 4, 2)]),
    node("QEmbedLayerNormalization", i32(2, 3), None, u8(9, 8), u8(5, 8), to=[(2, 3, 8), (2,)], runs=False),
    node("DecoderMaskedMultiHeadAttention", f(1, 1, 8), f(1, 1, 8), f(1, 1, 8), to=(1, 1, 8), runs=False, num_heads=2),
    node("DecoderMaskedSelfAttention", f(1, 1, 8), f(8, 24), f(24), None, PAST, to=(1, 1, 8), runs=False, num_heads=2),
    node("PackedAttention", f(7, 8), f(8, 24), f(24), to=(7, 8), runs=False, num_heads=2),
    node("PackedMultiHeadAttention", f(7, 8), f(7, 8), f(7, 12), to=(7, 12), runs=False, num_heads=2),
    node("PackedMultiHeadAttention", f(7, 2, 3, 4), to=(7, 8), runs=False, num_heads=2),
    node(
        "SparseAttention",
        f(1, 3, 64),
        None,
        None,
        f(1, 2, 6, 8),
        f(1, 2, 6, 8),
        to=[(1, 3, 32), (1, 2, 6, 8), (1, 2, 6, 8)],
        num_heads=4,
        kv_num_heads=2,
        runs=False,
    ),
    node("RelativePositionBias", f(32, 2), one(np.int64, 5), one(np.int64, 5), to=(1, 2, 5, 5), runs=False),
    node("GatedRelativePositionBias", f(1, 5, 8), f(8), f(1, 2, 5, 5), to=(1, 2, 5, 5), runs=False, num_heads=2),
    node("RemovePadding", f(2, 5, 8), i32(2), to=[(None, 8), (2, 5), (3,), (1,)], runs=False),
    node("RestorePadding", f(7, 8), i32(2, 5), to=(2, 5, 8), runs=False),
)

PROMPTS = np.ones((2, 4), np.int32)
FOUR, SEVEN, FIVE = (of(np.int32, number) for number in (4, 7, 5))

GENERATION = (
    node("BeamSearch", PROMPTS, SEVEN, None, FIVE, FOUR, to=[(2, 4, 7), (2, 4), (None, 2, 5, None)], runs=False),
    node("GreedySearch", PROMPTS, SEVEN, to=(2, 7), runs=False),
    node("Sampling", PROMPTS, SEVEN, to=[(2, 7), (2, 50)], runs=False, vocab_size=50),
    node("Sampling", PROMPTS, SEVEN, to=[(2, 7), (2, None)], runs=False),
    node(
        "WhisperBeamSearch",
        f(2, 80, 30),
        SEVEN,
        None,
        FIVE,
        FOUR,
        to=[(2, 4, 7), (2, 4), (None, 2, 5, None), None, (2,)],
        runs=False,
    ),
)

DESCRIBED = (
    node(
        "HyperConnectionLowRankMix",
        *(f(2, 5, 32), f(32), f(32, 3), f(3, 32), f(32, 2)),
        to=[(2, 5, 16), (2, 5, 2), (2, 5, 32)],
        runs=False,
        num_branches=2,
    ),
    node("HyperConnectionPreMix", f(2, 3, 4, 16), f(2, 3, 4), to=(2, 3, 16)),
    node("HyperConnectionPreMix", f(2, 3, 64), f(2, 3, 64), to=(2, 3, 16), num_branches=4),
    node("MatMulPacked", f(2, 3, 32), u8(5, 18), to=(2, 3, 5), runs=False, K=32, N=5, packed_type=2),
    node("MoEPacked", f(2, 3, 16), f(6, 4), to=(2, 3, 16), runs=False, gate_type=2, down_type=2),
    node(
        "RMSNormRotary",
        *(f(2, 5, 3, 16), f(16), i32(2, 5), f(9, 4), f(9, 4)),
        to=[(2, 5, 48), (2, 5, 3, 16)],
        runs=False,
        rotary_embedding_dim=8,
    ),
    node(
        "VarlenNGramHashMapping",
        *(i32(5), i32(3), of(np.int32, 7, 7, 7, 7), of(np.int32, 0, 5), i32(1, 2), *[None] * 4, i32(1)),
        to=[(5, 4), (1, 2), (1, 2), (1, 3, 2)],
        runs=False,
        max_ngram_size=3,
        n_head_per_ngram=2,
        state_update_capacity=3,
    ),
    node(
        "SparseAttentionIndexer",
        *(f(1, 3, 32), f(1, 3, 16), f(16), f(16), f(9, 4), f(9, 4), i32(1, 4), f(1, 2, 16)),
        to=(1, 3, 5),
        runs=False,
        policy_mode="qsa",
        compress_ratio=2,
        token_budget=4,
    ),
    node(
        "PackedSparseAttentionIndexer",
        *(f(5, 32), f(5, 32), f(16), f(16), f(9, 4), f(9, 4), i32(3), i32(2), f(5, 32), f(2, 32), f(5, 2), i32(5)),
        *(f(2, 8, 16), f(2, 3, 32), f(2, 3, 32), i32(2, 2)),
        to=[(5, 4), (5,), (2, 8, 16), (2, 3, 32), (2, 3, 32), (2, 2)],
        runs=False,
        policy_mode="csa",
        compress_ratio=2,
        index_topk=4,
        state_capacity=8,
    ),
    node(
        "PackedSparseAttentionIndexerMerge",
        *(i32(2, 3), i32(2), i32(6), None, None, i32(6, 3), i32(6)),
        to=[(6, 4), (6,), (6,)],
        runs=False,
        policy_mode="append_indices",
        max_output_entries=4,
    ),
    node(
        "MultiHeadAttention",
        *(f(1, 3, 8), f(1, 5, 8), f(1, 5, 8), None, None, None, f(1, 2, 6, 4), f(1, 2, 6, 4)),
        to=[(1, 3, 8), (1, 2, 11, 4), (1, 2, 11, 4), (1, 2, 3, 11)],
        runs=False,
        num_heads=2,
    ),
    node(
        "AttnLSTM",
        f(6, 2, 3),
        f(2, 16, 3),
        f(2, 16, 4),
        to=[(6, 2, 2, 4), (2, 2, 4), (2, 2, 4)],
        runs=False,
        hidden_size=4,
        direction="bidirectional",
    ),
    node("BranchwiseRMSNorm", f(2, 3, 4, 8), f(8), to=(2, 3, 4, 8), runs=False),
    node("ConvTransposeWithDynamicPads", f(1, 4, 5, 5), f(4, 3, 3, 3), to=(1, 6, None, None), runs=False, group=2),
    node(
        "DecoderAttention",
        *(f(5, 2, 8), f(6, 2, 8), f(8, 8), f(8, 16), f(24)),
        to=[(5, 2, 8), (2, 4, None, None), (2, 4, None, None)],
        runs=False,
        num_heads=4,
    ),
    node("DequantizeBFP", u8(40), of(np.int64, 2, 3), of(np.int64, 3, 1), to=(2, 3), runs=False, bfp_type=1),
    node(
        "EngramGate",
        *(f(2, 5, 3, 8), f(2, 5, 3, 8), f(2, 5, 8), f(3, 8), f(3, 8), f(3, 8)),
        to=[(2, 5, 3, 8)] * 2,
        runs=False,
    ),
    node("HyperConnectionPostMix", f(2, 5, 3, 8), f(2, 5, 8), f(2, 5, 3), to=(2, 5, 3, 8), runs=False),
    node(
        "LinearAttention",
        *(f(2, 5, 8), f(2, 5, 8), f(2, 5, 12), None, f(2, 5, 2), f(2, 5, 2)),
        to=[(2, 5, 12), (2, 2, 4, 6)],
        q_num_heads=2,
        kv_num_heads=2,
    ),
    node(
        "GatedDeltaNet",
        *(f(6, 2, 4), f(6, 2, 4), f(6, 4, 3), None, None, None, f(2, 4, 3, 4)),
        to=[(6, 4, 3), (2, 4, 3, 4)],
        update_rule="linear",
    ),
    node(
        "MatMulNBitsQLoRA",
        *(f(2, 5, 32), u8(6, 1, 16), f(6, 1), u8(4, 1, 32), f(4, 1), u8(6, 1, 32), f(6, 1)),
        to=(2, 5, 6),
        runs=False,
        K=32,
        N=6,
    ),
    node("LinearAttentionGate", f(2, 5, 4), f(4), f(4), f(2, 5, 4), to=[(2, 5, 4)] * 2, runs=False),
    node("MatMulBlockQuantizedFp4Weight", f(2, 5, 32), u8(6, 16), u8(6, 2), S, to=(2, 5, 6), runs=False),
    node("MatMulBlockQuantizedFp8Weight", f(2, 5, 32), u8(6, 32), f(6, 2), to=(2, 5, 6), runs=False),
    node("MatMulFpQ4", f(2, 5, 32), u8(90), of(np.int64, 32, 6), to=(2, 5, 6), runs=False),
    node(
        "MatMulNBitsMlp",
        *(f(2, 5, 32), None, None, u8(6, 2, 8), f(12), None, u8(6, 2, 8), f(12)),
        to=[(2, 5, 6), (2, 5, 32)],
        runs=False,
        K=32,
        N=6,
        block_size=16,
        activation="silu",
    ),
    node(
        "MatMulNBitsQkv",
        *(f(2, 5, 32), None, f(32), u8(6, 2, 8), f(12), None, u8(4, 2, 8), f(8), None, u8(4, 2, 8), f(8)),
        to=[(2, 5, 6), (2, 5, 4), (2, 5, 4), (2, 5, 32)],
        runs=False,
        K=32,
        Nq=6,
        Nkv=4,
        block_size=16,
    ),
    node(
        "MaxpoolWithMask",
        *(f(1, 3, 9, 9), i32(1, 1, 9, 9)),
        to=(1, 3, 5, 5),
        runs=False,
        **POOL,
    ),
    node(
        "NGramHashMapping",
        *(i32(2, 5), i32(3), i32(8)),
        to=[(2, 5, 8), (2, 2)],
        runs=False,
        max_ngram_size=3,
        n_head_per_ngram=4,
        pad_id=0,
    ),
    node(
        "PagedAttention",
        *(f(7, 48), None, None, f(9, 4, 2, 8), f(9, 4, 2, 8), i32(3), i32(2), i32(2, 4)),
        to=[(7, 16), (9, 4, 2, 8), (9, 4, 2, 8)],
        runs=False,
        num_heads=2,
        kv_num_heads=2,
    ),
    node("QOrderedAttention", i8(2, 5, 8), *[S] * 4, i8(8, 8), to=(2, 5, 8), runs=False, num_heads=2),
    node("QOrderedLongformerAttention", i8(2, 5, 8), S, i8(8, 24), to=(2, 5, 8), runs=False, num_heads=2),
    node("QOrderedMatMul", i8(2, 5, 8), S, i8(8, 6), S, S, to=(2, 5, None), runs=False),
    node(
        "VarlenCausalConvWithState",
        *(f(7, 4), f(4, 1, 3), of(np.int32, 0, 3, 7), None, f(2, 4, 2), i32(2)),
        to=[(7, 4), (2, 4, 2), (2, 6, 4)],
        runs=False,
        state_update_capacity=6,
    ),
)

# Behind the others: what tests draw from them stays the same.
RECENT = (
    node("SampleOp", f(2, 3), to=(2, 3)),
    node(
        "BifurcationDetector",
        *(of(np.int64, *each) for each in ((1, 2, 3, 4), (1,))),
        one(np.int64, 0),
        to=[(None,), ()],
    ),
    node("MoEGroupRouter", f(3, 4), f(4), to=(3, 4), top_k=1),
    node("MoEGroupRouter", f(2, 3, 4), f(4), to=(6, 4), top_k=1),
    node(
        "ConvStateReplay",
        *(f(40), f(30), f(50), of(np.int64, 0, 0, 0, 1, 4, 3, 2, 1)),
        to=(50,),
        runs=False,
    ),
    node("GatedDeltaNetStateReplay", f(40), f(30), f(50), np.ones(11, np.int64), to=(50,), runs=False),
    node(
        "DynamicSparseAttention",
        *(f(2, 3, 32), f(2, 3, 16), f(2, 3, 16), f(2, 2, 9, 8), f(2, 2, 9, 8), None, None, i32(6, 4), i32(6), i32(2)),
        one(np.int32, 9),
        to=[(2, 3, 32), (2, 2, None, 8), (2, 2, None, 8)],
        runs=False,
        num_heads=4,
        kv_num_heads=2,
    ),
    node(
        "DynamicSparseAttention",
        *(f(2, 3, 64), None, None, f(2, 2, 9, 8), f(2, 2, 9, 8), None, None, i32(6, 4), i32(6), i32(2)),
        one(np.int32, 9),
        to=[(2, 3, 32), (2, 2, None, 8), (2, 2, None, 8)],
        runs=False,
        num_heads=4,
        kv_num_heads=2,
    ),
    node(
        "Mamba2Verify",
        *(f(4, 2 * 128 + 2 * 128 + 2), f(3, 128 + 256, 3), f(3, 2, 128, 64), f(384, 1, 4), f(384), f(2), f(2), f(2)),
        *(f(128), i32(1)),
        to=[(4, 128), (3, 384, 3), (3, 2, 128, 64), (4, 384), (4, 128)],
        runs=False,
        heads=2,
        head_dim=64,
        d_state=128,
        n_groups=1,
    ),
    node("RouterGateUpProj", f(2, 3, 8), f(8, 4 + 2 * 5), to=[(2, 3, 4), (2, 3, 5)], runs=False, router_size=4),
    node(
        "SparsePagedAttention",
        *(f(7, 48), None, None, f(9, 4, 2, 8), f(9, 4, 2, 8), i32(3), i32(2), i32(2, 4), None, i32(7, 4), i32(7)),
        to=[(7, 16), (9, 4, 2, 8), (9, 4, 2, 8)],
        runs=False,
        num_heads=2,
        kv_num_heads=2,
    ),
    *[
        node(
            "SpeculativePrefixCommit",
            *(np.ones((*batch, 5), np.int64), np.ones((2, 5), np.int64), i32(4), np.ones((2, 16), np.int64)),
            *(np.ones((2, 2), np.int64), np.ones((2, 16), np.int64), np.ones(2, np.int64)),
            to=[batch or (1,), (2, 16), (2, 2)],
            runs=False,
        )
        for batch in ((2,), ())
    ],
)

NODES = (*ELEMENTS, *MATRICES, *IMAGES, *QUANTIZATION, *TRANSFORMERS, *GENERATION, *DESCRIBED, *RECENT)
