# SPDX-License-Identifier: Apache-2.0
"""The rows of `onnx_lint.spec.operators.attribute_values`: the values that descriptions of attributes allow.

A module of its own, since a small model may have no attribute with such a description.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.spec.operators.schema import LATEST

_ML: Final = "ai.onnx.ml"


class ValueRow(Record):
    """The values of an attribute in versions of operators."""

    operators: tuple[str, ...]
    attribute: str
    values: tuple[str, ...] | tuple[int, ...]
    first: int = 1
    """The first version of the operators (since-version) that the row is about."""
    last: int = LATEST
    domain: str = ""
    is_flag: bool = False
    """True if 1 means yes, and consumers reject other numbers or treat them as 0 or 1."""
    is_precision: bool = False
    """True if the values are the numbers of element types of intermediate results."""


_flag: Final = partial(ValueRow, values=(0, 1), is_flag=True)
_precision: Final = partial(ValueRow, is_precision=True)

_ACTIVATIONS: Final = (
    "Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid", "Softplus", "Softsign", "Tanh",
    "ThresholdedRelu",
)  # fmt: skip
"""The activation functions that the description of LSTM lists."""

_POST_TRANSFORMS: Final = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")

_STRINGS: Final[tuple[ValueRow, ...]] = (
    ValueRow(
        ("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"),
        "auto_pad",
        ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    ),
    # The default of GRU-1 is misspelt, and the default must be allowed.
    ValueRow(("GRU",), "direction", ("forward", "foward", "reverse", "bidirectional"), last=2),
    ValueRow(("GRU",), "direction", ("forward", "reverse", "bidirectional"), first=3),
    ValueRow(("LSTM", "RNN"), "direction", ("forward", "reverse", "bidirectional")),
    ValueRow(("GRU", "LSTM", "RNN"), "activations", _ACTIVATIONS),
    ValueRow(("BitShift",), "direction", ("LEFT", "RIGHT"), first=11),
    ValueRow(("Cast", "CastLike"), "round_mode", ("up", "down", "nearest"), first=24),
    ValueRow(("CausalConvWithState",), "activation", ("silu", "swish", "none"), first=27),
    ValueRow(("DepthToSpace",), "mode", ("DCR", "CRD"), first=11),
    ValueRow(("SpaceToDepth",), "mode", ("DCR", "CRD"), first=28),
    ValueRow(("Gelu",), "approximate", ("none", "tanh"), first=20),
    ValueRow(("GridSample",), "mode", ("bilinear", "nearest", "bicubic"), first=16, last=19),
    ValueRow(("GridSample",), "mode", ("linear", "nearest", "cubic"), first=20),
    ValueRow(("GridSample",), "padding_mode", ("zeros", "border", "reflection"), first=16),
    ValueRow(("ImageDecoder",), "pixel_format", ("RGB", "BGR", "Grayscale"), first=20),
    ValueRow(("LinearAttention",), "update_rule", ("linear", "gated", "delta", "gated_delta"), first=27),
    ValueRow(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), "reduction", ("none", "sum", "mean"), first=12),
    ValueRow(("Pad",), "mode", ("constant", "reflect", "edge"), last=18),
    ValueRow(("Pad",), "mode", ("constant", "reflect", "edge", "wrap"), first=19),
    ValueRow(("Resize",), "mode", ("nearest", "linear", "bilinear", "trilinear"), first=10, last=10),
    ValueRow(("Resize",), "mode", ("nearest", "linear", "cubic"), first=11),
    ValueRow(
        ("Resize",),
        "coordinate_transformation_mode",
        (
            "half_pixel",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_half_pixel_for_nn",
            "tf_crop_and_resize",
        ),
        first=11,
        last=12,
    ),
    ValueRow(
        ("Resize",),
        "coordinate_transformation_mode",
        ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"),
        first=13,
        last=18,
    ),
    ValueRow(
        ("Resize",),
        "coordinate_transformation_mode",
        (
            "half_pixel",
            "half_pixel_symmetric",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_crop_and_resize",
        ),
        first=19,
    ),
    ValueRow(("Resize",), "nearest_mode", ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"), first=11),
    ValueRow(("Resize",), "keep_aspect_ratio_policy", ("stretch", "not_larger", "not_smaller"), first=18),
    ValueRow(("RoiAlign",), "mode", ("avg", "max"), first=10),
    ValueRow(("RoiAlign",), "coordinate_transformation_mode", ("half_pixel", "output_half_pixel"), first=16),
    ValueRow(("ScatterElements", "ScatterND"), "reduction", ("none", "add", "mul"), first=16, last=17),
    ValueRow(("ScatterElements", "ScatterND"), "reduction", ("none", "add", "mul", "max", "min"), first=18),
    ValueRow(("StringNormalizer",), "case_change_action", ("LOWER", "UPPER", "NONE"), first=10),
    ValueRow(("TensorScatter",), "mode", ("linear", "circular"), first=24),
    ValueRow(("TfIdfVectorizer",), "mode", ("TF", "IDF", "TFIDF"), first=9),
    ValueRow(("Upsample",), "mode", ("nearest", "bilinear"), last=6),
    ValueRow(("Upsample",), "mode", ("nearest", "linear", "bilinear", "trilinear"), first=7),
    ValueRow(("CastMap",), "cast_to", ("TO_FLOAT", "TO_STRING", "TO_INT64"), domain=_ML),
    ValueRow(("CastMap",), "map_form", ("DENSE", "SPARSE"), domain=_ML),
    ValueRow(("Normalizer",), "norm", ("MAX", "L1", "L2"), domain=_ML),
    ValueRow(("SVMClassifier", "SVMRegressor"), "kernel_type", ("LINEAR", "POLY", "RBF", "SIGMOID"), domain=_ML),
    ValueRow(
        (
            "LinearClassifier",
            "LinearRegressor",
            "SVMClassifier",
            "SVMRegressor",
            "TreeEnsembleClassifier",
            "TreeEnsembleRegressor",
        ),
        "post_transform",
        _POST_TRANSFORMS,
        domain=_ML,
    ),
    ValueRow(("TreeEnsembleRegressor",), "aggregate_function", ("AVERAGE", "SUM", "MIN", "MAX"), domain=_ML),
    ValueRow(
        ("TreeEnsembleClassifier", "TreeEnsembleRegressor"),
        "nodes_modes",
        ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"),
        domain=_ML,
    ),
    ValueRow(("Momentum",), "mode", ("nesterov", "standard"), domain="ai.onnx.preview.training"),
)

_NUMBERS: Final[tuple[ValueRow, ...]] = (
    ValueRow(("Attention",), "qk_matmul_output_mode", (0, 1, 2, 3), first=23),
    ValueRow(("GRU", "LSTM", "RNN"), "layout", (0, 1), first=14),
    ValueRow(("LpNormalization",), "p", (1, 2)),
    ValueRow(("MaxPool",), "storage_order", (0, 1), first=8),
    ValueRow(("Mod",), "fmod", (0, 1), first=13),
    ValueRow(("NonMaxSuppression",), "center_point_box", (0, 1), first=10),
    ValueRow(("ReverseSequence",), "batch_axis", (0, 1), first=10),
    ValueRow(("ReverseSequence",), "time_axis", (0, 1), first=10),
    ValueRow(("STFT",), "onesided", (0, 1), first=17),
    ValueRow(("Scan",), "directions", (0, 1), first=8, last=8),
    ValueRow(("Scan",), "scan_input_directions", (0, 1), first=9),
    ValueRow(("Scan",), "scan_output_directions", (0, 1), first=9),
    ValueRow(("Unique",), "sorted", (0, 1), first=11),
    ValueRow(("TreeEnsemble",), "aggregate_function", (0, 1, 2, 3), first=5, domain=_ML),
    ValueRow(("TreeEnsemble",), "post_transform", (0, 1, 2, 3, 4), first=5, domain=_ML),
)

_PRECISIONS: Final[tuple[ValueRow, ...]] = (
    _precision(("Attention",), "softmax_precision", (1, 10, 11, 16), first=23),
    _precision(("GroupNormalization",), "stash_type", (1, 10, 11, 16), first=21),
    _precision(("QuantizeLinear",), "precision", (0, 1, 10, 11, 16), first=23),
    _precision(("RMSNormalization",), "stash_type", (1, 10, 11, 16), first=23),
    _precision(("FlexAttention",), "softmax_precision", (1, 10, 11, 16), domain="ai.onnx.preview"),
)
"""Precisions of intermediate results: the numbers of the floating-point element types, which ONNX does not list.
For QuantizeLinear 0 is the default; ONNX Runtime refuses integers.
"""

_REDUCTIONS: Final = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
)  # fmt: skip

_FLAGS: Final[tuple[ValueRow, ...]] = (
    _flag(("AffineGrid", "GridSample"), "align_corners", first=16),
    _flag(("Attention",), "is_causal", first=23),
    _flag(("AveragePool", "LpPool", "MaxPool"), "ceil_mode", first=10),
    _flag(("AveragePool",), "count_include_pad", first=7),
    _flag(("ArgMax", "ArgMin", *_REDUCTIONS), "keepdims"),
    _flag(("ArgMax", "ArgMin"), "select_last_index", first=12),
    _flag(_REDUCTIONS, "noop_with_empty_axes", first=13),
    _flag(("Cast", "CastLike", "QuantizeLinear"), "saturate", first=19),
    _flag(("CumProd", "CumSum"), "exclusive", first=11),
    _flag(("CumProd", "CumSum"), "reverse", first=11),
    _flag(("DFT",), "inverse", first=17),
    _flag(("DFT",), "onesided", first=17),
    _flag(("BlackmanWindow", "HammingWindow", "HannWindow"), "periodic", first=17),
    _flag(("Gemm",), "transA"),
    _flag(("Gemm",), "transB"),
    _flag(("Mod",), "fmod", first=10, last=10),  # from 13 on, the description lists both values
    _flag(("IsInf",), "detect_negative", first=10),
    _flag(("IsInf",), "detect_positive", first=10),
    _flag(("LSTM",), "input_forget"),
    _flag(("GRU",), "linear_before_reset", first=3),
    _flag(("Reshape",), "allowzero", first=14),
    _flag(("Resize",), "exclude_outside", first=11),
    _flag(("Resize",), "antialias", first=18),
    _flag(("RotaryEmbedding",), "interleaved", first=23),
    _flag(("SplitToSequence",), "keepdims", first=11),
    _flag(("StringNormalizer",), "is_case_sensitive", first=10),
    _flag(("TopK",), "largest", first=11),
    _flag(("TopK",), "sorted", first=11),
    _flag(("Trilu",), "upper", first=14),
    _flag(("OneHotEncoder",), "zeros", domain=_ML),
    _flag(("SVMRegressor",), "one_class", domain=_ML),
)
"""INT attributes whose description defines 1 as yes, or calls them a flag or Boolean."""

ROWS: Final = (*_STRINGS, *_NUMBERS, *_PRECISIONS, *_FLAGS)
"""All rows."""
