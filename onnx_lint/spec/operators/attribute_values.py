# SPDX-License-Identifier: Apache-2.0
"""The values that ONNX operators allow for an attribute.

A schema has the type of an attribute, not its values. The values here come from the descriptions of the attributes, one
row for each set; those of com.microsoft are in `onnx_lint.spec.operators.records`. `_STRINGS` and `_NUMBERS` are sets
that a description lists. `_FLAGS` are flags, and `_PRECISIONS` hold floating-point element types, which it does not
list. Sets that depend on more than the operator's version are left out.

If a description is ambiguous, the table allows every reading: Upsample-7 and Resize-10 have "linear (including
bilinear, trilinear, etc)", which can be read as further values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators.schema import OperatorSchema

if TYPE_CHECKING:
    from onnx_lint.spec.operators.records import OperatorRecord

LATEST: Final = 2**31
"""In place of the last version of a set that still applies."""

RUNTIME_DOMAIN: Final = "com.microsoft"
"""The domain whose operators have records."""

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


_flag: Final = partial(ValueRow, values=(0, 1), is_flag=True)

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
    ValueRow(("Attention",), "softmax_precision", (1, 10, 11, 16), first=23),
    ValueRow(("GroupNormalization",), "stash_type", (1, 10, 11, 16), first=21),
    ValueRow(("QuantizeLinear",), "precision", (0, 1, 10, 11, 16), first=23),
    ValueRow(("RMSNormalization",), "stash_type", (1, 10, 11, 16), first=23),
    ValueRow(("FlexAttention",), "softmax_precision", (1, 10, 11, 16), domain="ai.onnx.preview"),
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

_ELEMENT_TYPE_OF_OUTPUT: Final[Mapping[tuple[str, str], int]] = {
    ("Bernoulli", "dtype"): 0,
    ("BitCast", "to"): 0,
    ("BlackmanWindow", "output_datatype"): 0,
    ("Cast", "to"): 0,
    ("DequantizeLinear", "output_dtype"): 0,
    ("EyeLike", "dtype"): 0,
    ("HammingWindow", "output_datatype"): 0,
    ("HannWindow", "output_datatype"): 0,
    ("LayerNormalization", "stash_type"): 1,
    ("MelWeightMatrix", "output_datatype"): 0,
    ("Multinomial", "dtype"): 0,
    ("QuantizeLinear", "output_dtype"): 0,
    ("RandomNormal", "dtype"): 0,
    ("RandomNormalLike", "dtype"): 0,
    ("RandomUniform", "dtype"): 0,
    ("RandomUniformLike", "dtype"): 0,
    ("SequenceEmpty", "dtype"): 0,
}
"""Attributes of the default domain that hold the element type of an output, whose types the signature lists."""

_OTHER_ELEMENT_TYPES: Final = frozenset(
    {
        *[(row.domain, operator, row.attribute) for row in _PRECISIONS for operator in row.operators],
        ("", "Range", "stash_type"),
    }
)
"""Other attributes with an element type: of an intermediate result, or without a list of types in the signature."""

AllowedValues = frozenset[str | int]
"""Strings for attributes of type STRING and STRINGS, numbers for INT and INTS."""


def allowed_values(schema: OperatorSchema, attribute: str) -> AllowedValues | None:
    """Return the values that an operator allows for an attribute of type STRING, STRINGS, INT or INTS.

    For a list, each element must have one of the values. Returns None if any value is allowed, or if the documentation
    does not list them. Numbers of element types are those of TensorProto.DataType.
    """
    declared = schema.attributes.get(attribute)
    if declared is None:
        return None
    if not schema.domain and (schema.name, attribute) in _ELEMENT_TYPE_OF_OUTPUT:
        return _element_types(schema, attribute)
    if schema.domain == RUNTIME_DOMAIN:
        return _recorded(schema.name, attribute)
    row = _row(schema, attribute)
    return frozenset(row.values) if row is not None else None


def _record(operator: str) -> OperatorRecord | None:
    """Return the record of an operator of com.microsoft."""
    from onnx_lint.spec.operators.records import record_of

    return record_of(operator)


def _recorded(operator: str, attribute: str) -> AllowedValues | None:
    """Return the values of an attribute of an operator of com.microsoft, if its record lists them."""
    record = _record(operator)
    if record is None:
        return None
    values = record.values.get(attribute) or record.flags.get(attribute)
    return frozenset(values) if values is not None else None


def _row(schema: OperatorSchema, attribute: str) -> ValueRow | None:
    """Return the row of an attribute for the version of its operator."""
    rows = _table().get((schema.domain, schema.name, attribute), ())
    return next((row for row in rows if row.first <= schema.since_version <= row.last), None)


@cache
def _table() -> Mapping[tuple[str, str, str], list[ValueRow]]:
    """Return the rows of each attribute, by domain, operator and name."""
    found: dict[tuple[str, str, str], list[ValueRow]] = {}
    for row in (*_STRINGS, *_NUMBERS, *_PRECISIONS, *_FLAGS):
        for operator in row.operators:
            found.setdefault((row.domain, operator, row.attribute), []).append(row)
    return found


def _element_types(schema: OperatorSchema, attribute: str) -> AllowedValues:
    """Return the element types of an output, or of the tensors in a sequence, as the attribute has them."""
    output = schema.outputs[_ELEMENT_TYPE_OF_OUTPUT[schema.name, attribute]]
    codes = {
        code
        for code, name in enumerate(ELEMENT_TYPE_NAMES, 1)
        if f"tensor({name})" in output.types or f"seq(tensor({name}))" in output.types
    }
    if schema.attributes[attribute].type == "STRING":
        # Cast of version 1 names the element type, later versions number it.
        return frozenset(element_type_name(code) for code in codes)
    if schema.attributes[attribute].default == 0:
        # Zero, the undefined element type, means that the attribute is not given.
        codes.add(0)
    return frozenset(codes)


def is_flag(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether an attribute is a flag, see `_FLAGS`."""
    if schema.domain == RUNTIME_DOMAIN:
        record = _record(schema.name)
        return record is not None and attribute in record.flags
    row = _row(schema, attribute)
    return row is not None and row.is_flag


def holds_output_element_type(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether the attribute holds the element type of an output."""
    return not schema.domain and (schema.name, attribute) in _ELEMENT_TYPE_OF_OUTPUT


def holds_element_type(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether the attribute holds the element type of an output or of an intermediate result."""
    if schema.domain == RUNTIME_DOMAIN:
        record = _record(schema.name)
        return record is not None and attribute in record.element_types
    is_other = (schema.domain, schema.name, attribute) in _OTHER_ELEMENT_TYPES
    return is_other or holds_output_element_type(schema, attribute)


def element_type_name(code: int) -> str:
    """Return the name of an element type in TensorProto.DataType; the number itself if it has none."""
    return ELEMENT_TYPE_NAMES[code - 1].upper() if 0 < code <= len(ELEMENT_TYPE_NAMES) else str(code)
