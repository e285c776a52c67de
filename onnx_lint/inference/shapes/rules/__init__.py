# SPDX-License-Identifier: Apache-2.0
"""The shape rules of operators, in a module for each family.

A module is imported when a model has one of its operators (docs/performance.md: shape-families).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from onnx_lint.inference.shapes.registration import ShapeRule, declared
from onnx_lint.spec.operators import OperatorSchema

FAMILIES: Final[Mapping[str, Mapping[str, str]]] = {
    "": {
        "along_axes": "CumProd CumSum EyeLike ReverseSequence Trilu",
        "attention": "Attention",
        "broadcasting": """
            Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean
            Min Mod Mul Or PRelu Pow StringConcat Sub Sum Where Xor
        """,
        "constants": "Constant ConstantOfShape Multinomial RandomNormal RandomUniform Range",
        "control_flow": "If Loop Scan SequenceMap",
        "convolution": "Conv ConvInteger ConvTranspose DeformConv QLinearConv",
        "einsum": "Einsum",
        "gathering": "Gather GatherElements GatherND Slice",
        "images": "AffineGrid Col2Im GridSample ImageDecoder MaxRoiPool RoiAlign",
        "joining": "Concat Split",
        "losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
        "matrices": "Det Gemm MatMul MatMulInteger QLinearMatMul",
        "normalization": """
            BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization MeanVarianceNormalization
            RMSNormalization
        """,
        "padding": "DepthToSpace Pad SpaceToDepth",
        "pooling": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool",
        "quantization": "DequantizeLinear DynamicQuantizeLinear QuantizeLinear",
        "recurrence": "GRU LSTM RNN",
        "reduction": """
            ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
            ReduceSum ReduceSumSquare
        """,
        "reshaping": "Expand Flatten Reshape Shape Size Squeeze Tile Transpose Unsqueeze",
        "resizing": "CenterCropPad Resize Upsample",
        "scattering": "Scatter ScatterElements ScatterND TensorScatter",
        "selection": "Compress NonMaxSuppression NonZero OneHot TopK Unique",
        "sequences": """
            ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty
            SequenceErase SequenceInsert SequenceLength SplitToSequence
        """,
        "signals": "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
        "text": "StringNormalizer StringSplit TfIdfVectorizer",
        "transformers": "CausalConvWithState LinearAttention RotaryEmbedding SwiGLU",
        "unary": """
            Abs Acos Acosh Asin Asinh Atan Atanh Bernoulli BitCast BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh
            Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax Identity IsInf IsNaN LeakyRelu Log LogSoftmax
            LpNormalization Mish Neg Not RandomNormalLike RandomUniformLike Reciprocal RegexFullMatch Relu Round Selu
            Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
        """,
    },
    "ai.onnx.ml": {
        "machine_learning": """
            ArrayFeatureExtractor Binarizer CategoryMapper FeatureVectorizer Imputer LabelEncoder LinearClassifier
            LinearRegressor Normalizer OneHotEncoder SVMClassifier SVMRegressor Scaler TreeEnsemble
            TreeEnsembleClassifier TreeEnsembleRegressor ZipMap
        """,
    },
    "ai.onnx.preview": {
        "transformers": "FlexAttention",
    },
    "ai.onnx.preview.training": {
        "training": "Adagrad Adam Gradient Momentum",
    },
    "com.microsoft": {
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
            DequantizeWithOrder DynamicTimeWarping ExpandDims FastGelu GatedAdd GatedRMSNorm GatherND Gelu
            GemmaRotaryEmbedding GridSample GroupNorm Inverse Irfft IsAllFinite LongformerAttention MRotaryEmbedding
            MurmurHash3 NGramRepeatBlock Pad QLinearLeakyRelu QLinearSigmoid QOrderedGelu
            QOrderedLayerNormalization QuantizeWithOrder QuickGelu Range Rfft ScaledSiLU SkipGroupNorm SwiGLU Tokenizer
            TorchEmbedding Trilu UnfoldTensor Unique
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
            DequantizeLinear DynamicQuantizeLSTM GatherBlockQuantized GatherPacked MulInteger QLinearAdd QLinearConcat
            QLinearMul QLinearReduceMean QLinearSoftmax QLinearWhere QuantizeBFP QuantizeLinear ReduceSumInteger
        """,
        "contrib_transformers": """
            CausalConvWithState EmbedLayerNormalization GatedRelativePositionBias MoE QEmbedLayerNormalization QMoE
            RelativePositionBias RemovePadding RestorePadding RotaryEmbedding SkipLayerNormalization
            SkipSimplifiedLayerNormalization
        """,
    },
}
"""The operators of each domain, by the module that has their rules."""

_RUNTIME_DOMAIN: Final = "com.microsoft"

_NO_WORD: Final = "its description has no word on shapes"
_PACKED: Final = "the description has several forms of packed inputs, which nothing in the node distinguishes"
_COMPILED: Final = "it represents a graph that was compiled for a device"
_RECENT: Final = "it is new in ONNX Runtime 1.32, which fuses it for generation of text on some devices only"

RUNTIME_WITHOUT_SHAPES: Final[Mapping[str, str]] = {
    "BifurcationDetector": "how many words come out depends on what they are",
    "ComplexMul": _NO_WORD,
    "ComplexMulConj": _NO_WORD,
    "ConvStateReplay": _RECENT,
    "DynamicSparseAttention": _PACKED,
    "EPContext": _COMPILED,
    "GatedDeltaNet": _PACKED,
    "GatedDeltaNetStateReplay": _RECENT,
    "HyperConnectionLowRankMix": _RECENT,
    "HyperConnectionPreMix": _PACKED,
    "LinearAttention": _PACKED,
    "Mamba2Verify": _RECENT,
    "MatMulNBitsQLoRA": _RECENT,
    "MatMulPacked": _RECENT,
    "MoEGroupRouter": _RECENT,
    "MoEPacked": _RECENT,
    "PackedSparseAttentionIndexer": _PACKED,
    "PackedSparseAttentionIndexerMerge": _RECENT,
    "RMSNormRotary": _RECENT,
    "RouterGateUpProj": _RECENT,
    "SampleOp": "an example for authors of operators",
    "Snpe": _COMPILED,
    "SparseAttentionIndexer": _PACKED,
    "SparsePagedAttention": _PACKED,
    "SpeculativePrefixCommit": _RECENT,
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
def _modules(domain: str) -> Mapping[str, str]:
    return {operator: module for module, operators in FAMILIES[domain].items() for operator in operators.split()}


@cache
def _import_family(module: str) -> None:
    import_module(f"{__name__}.{module}")


def has_shape_rule(schema: OperatorSchema) -> bool:
    """Return whether the shapes of an operator's outputs are inferred."""
    return schema.name in _modules(schema.domain) if schema.domain in FAMILIES else False


def shape_rule(schema: OperatorSchema) -> ShapeRule | None:
    """Return the rule for an operator as of a version; None if there is none.

    Raises KeyError if the module that FAMILIES lists for the operator has no rule for it.
    """
    module = _modules(schema.domain).get(schema.name) if schema.domain in FAMILIES else None
    if module is None and schema.domain != _RUNTIME_DOMAIN:
        return None
    found = None
    if module is not None:
        _import_family(module)
        for since, rule in declared[f"{schema.domain}::{schema.name}" if schema.domain else schema.name]:
            if since <= schema.since_version:
                found = rule
    if schema.domain == _RUNTIME_DOMAIN:
        from onnx_lint.inference.shapes.rules.contrib_requirements import required

        return required(schema.name, found)
    return found
