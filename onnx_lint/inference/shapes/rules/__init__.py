# SPDX-License-Identifier: Apache-2.0
"""The file of the shape rule of each operator.

A file is imported when a model has one of its operators (docs/performance.md: shape-families).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from onnx_lint.inference.shapes.registration import ShapeRule, declared
from onnx_lint.spec.operators import OperatorSchema

FAMILIES: Final[Mapping[str, str]] = {
    # --- element by element, matrices, reshaping
    "broadcasting": """
        Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min
        Mod Mul Or PRelu Pow StringConcat Sub Sum Where Xor
    """,
    "control_flow": "If Loop Scan SequenceMap",
    "matrices": "Det Gemm MatMul MatMulInteger QLinearMatMul",
    "reshaping": "Expand Flatten Reshape Shape Size Squeeze Tile Transpose Unsqueeze",
    "unary": """
        Abs Acos Acosh Asin Asinh Atan Atanh Bernoulli BitCast BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh
        Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax Identity IsInf IsNaN LRN LeakyRelu Log LogSoftmax
        LpNormalization Mish Neg Not RandomNormalLike RandomUniformLike Reciprocal RegexFullMatch Relu Round Selu Shrink
        Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
    """,
    # --- images: convolution, pooling, normalization, resizing
    "convolution": "Conv ConvInteger ConvTranspose DeformConv QLinearConv",
    "images": "AffineGrid Col2Im GridSample ImageDecoder MaxRoiPool RoiAlign",
    "pooling": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool",
    "normalization": """
        BatchNormalization GroupNormalization InstanceNormalization LayerNormalization MeanVarianceNormalization
        RMSNormalization
    """,
    "resizing": "CenterCropPad Resize Upsample",
    # --- reduction and selection: what takes axes, indices, parts of a tensor or puts parts together
    "along_axes": "CumProd CumSum EyeLike ReverseSequence Trilu",
    "gathering": "Gather GatherElements GatherND Slice",
    "joining": "Concat Split",
    "padding": "DepthToSpace Pad SpaceToDepth",
    "reduction": """
        ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
        ReduceSumSquare
    """,
    "scattering": "Scatter ScatterElements ScatterND TensorScatter",
    "selection": "Compress NonMaxSuppression NonZero OneHot TopK Unique",
    # --- constants, recurrence, attention, quantization, losses, signals
    "attention": "Attention",
    "constants": "Constant ConstantOfShape Multinomial RandomNormal RandomUniform Range",
    "einsum": "Einsum",
    "losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "quantization": "DequantizeLinear DynamicQuantizeLinear QuantizeLinear",
    "recurrence": "GRU LSTM RNN",
    "signals": "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
    "transformers": "CausalConvWithState LinearAttention RotaryEmbedding SwiGLU ai.onnx.preview::FlexAttention",
    # --- sequences and optionals, text, machine learning, training, ONNX Runtime
    "machine_learning": """
        ai.onnx.ml::ArrayFeatureExtractor ai.onnx.ml::Binarizer ai.onnx.ml::CategoryMapper ai.onnx.ml::FeatureVectorizer
        ai.onnx.ml::Imputer ai.onnx.ml::LabelEncoder ai.onnx.ml::LinearClassifier ai.onnx.ml::LinearRegressor
        ai.onnx.ml::Normalizer ai.onnx.ml::OneHotEncoder ai.onnx.ml::SVMClassifier ai.onnx.ml::SVMRegressor
        ai.onnx.ml::Scaler ai.onnx.ml::TreeEnsemble ai.onnx.ml::TreeEnsembleClassifier ai.onnx.ml::TreeEnsembleRegressor
        ai.onnx.ml::ZipMap
    """,
    "sequences": """
        ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty
        SequenceErase SequenceInsert SequenceLength SplitToSequence
    """,
    "text": "StringNormalizer StringSplit TfIdfVectorizer",
    "training": """
        ai.onnx.preview.training::Adagrad ai.onnx.preview.training::Adam ai.onnx.preview.training::Gradient
        ai.onnx.preview.training::Momentum
    """,
}
"""The operators of each file, those of domains other than ai.onnx as "domain::name"."""

RUNTIME_FAMILIES: Final[Mapping[str, str]] = {
    "contrib_attention": """
        Attention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention GroupQueryAttention MultiHeadAttention
        PackedAttention PackedMultiHeadAttention QAttention SparseAttention
    """,
    "contrib_descriptions": """
        AttnLSTM BranchwiseRMSNorm ConvTransposeWithDynamicPads DecoderAttention DequantizeBFP EngramGate
        HyperConnectionPostMix LinearAttentionGate MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight
        MatMulFpQ4 MatMulNBitsMlp MatMulNBitsQkv MaxpoolWithMask NGramHashMapping PagedAttention QOrderedAttention
        QOrderedLongformerAttention QOrderedMatMul VarlenCausalConvWithState
    """,
    "contrib_elements": """
        BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu BitmaskBiasDropout BitmaskDropout CDist CropAndResize
        DynamicTimeWarping ExpandDims FastGelu GatedAdd GatedRMSNorm GatherND Gelu GemmaRotaryEmbedding GridSample
        GroupNorm Inverse Irfft IsAllFinite MulInteger MurmurHash3 NGramRepeatBlock Pad QuickGelu Range Rfft ScaledSiLU
        SkipGroupNorm Tokenizer TorchEmbedding Trilu UnfoldTensor Unique
    """,
    "contrib_generation": "BeamSearch GreedySearch Sampling WhisperBeamSearch",
    "contrib_images": """
        FusedConv NhwcConv NhwcFusedConv NhwcMaxPool QLinearAveragePool QLinearConv QLinearGlobalAveragePool
    """,
    "contrib_matrices": """
        DynamicQuantizeMatMul FusedGemm FusedMatMul FusedMatMulActivation GemmFastGelu GemmFloat8 MatMulBnb4
        MatMulInteger16 MatMulIntegerToFloat MatMulNBits QGemm SparseToDenseMatMul TransposeMatMul
    """,
    "contrib_quantization": """
        DequantizeLinear DequantizeWithOrder DynamicQuantizeLSTM GatherBlockQuantized QLinearAdd QLinearConcat
        QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid QLinearSoftmax QLinearWhere QOrderedGelu
        QOrderedLayerNormalization QuantizeBFP QuantizeLinear QuantizeWithOrder ReduceSumInteger
    """,
    "contrib_transformers": """
        CausalConvWithState EmbedLayerNormalization GatedRelativePositionBias LongformerAttention MRotaryEmbedding MoE
        QEmbedLayerNormalization QMoE RelativePositionBias RemovePadding RestorePadding RotaryEmbedding
        SkipLayerNormalization SkipSimplifiedLayerNormalization
    """,
}
"""The operators of ONNX Runtime, domain com.microsoft, in each file."""

_NO_WORD: Final = "its description has no word on shapes"
_PACKED: Final = "the description has several forms of packed inputs, which nothing in the node tells apart"
_COMPILED: Final = "it stands for a graph that was compiled for a device"

RUNTIME_WITHOUT_SHAPES: Final[Mapping[str, str]] = {
    "BifurcationDetector": "how many words come out depends on what they are",
    "ComplexMul": _NO_WORD,
    "ComplexMulConj": _NO_WORD,
    "DynamicSparseAttention": _PACKED,
    "EPContext": _COMPILED,
    "GatedDeltaNet": _PACKED,
    "HyperConnectionPreMix": _PACKED,
    "LinearAttention": _PACKED,
    "PackedSparseAttentionIndexer": _PACKED,
    "SampleOp": "an example for authors of operators",
    "Snpe": _COMPILED,
    "SparseAttentionIndexer": _PACKED,
    "SparsePagedAttention": _PACKED,
    "VarlenNGramHashMapping": _PACKED,
    "WordConvEmbedding": _NO_WORD,
}
"""The operators of com.microsoft whose output shapes are not inferred, and why.

Those of com.microsoft.nchwc are not inferred either: ONNX Runtime writes them into its own optimized models, does not
document their shapes, and keeps channels in blocks between them.
"""

WITHOUT_SHAPES: Final[Mapping[str, str]] = {
    "ai.onnx.ml::CastMap": "of one dimension by its description, and ONNX Runtime puts another one in front",
    "ai.onnx.ml::DictVectorizer": "of one dimension by its description, and ONNX Runtime puts another one in front",
}
"""The operators whose output shapes are not documented, and why."""


@cache
def _modules() -> dict[str, str]:
    found = {operator: module for module, operators in FAMILIES.items() for operator in operators.split()}
    for module, operators in RUNTIME_FAMILIES.items():
        found.update({f"com.microsoft::{operator}": module for operator in operators.split()})
    return found


def shape_rule(schema: OperatorSchema) -> ShapeRule | None:
    """Return the rule for an operator as of a version; None if there is none."""
    name = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
    module = _modules().get(name)
    if module is None:
        return None
    if name not in declared:
        import_module(f"{__name__}.{module}")
    found = None
    for since, rule in declared.get(name, ()):
        if since <= schema.since_version:
            found = rule
    return found
