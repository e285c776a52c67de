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

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators.schema import OperatorSchema

if TYPE_CHECKING:
    from onnx_lint.spec.operators.records import OperatorRecord

LATEST: Final = 2**31
"""In place of the last version of a set that still applies."""

RUNTIME_DOMAIN: Final = "com.microsoft"
"""The domain whose operators have records."""

ValueRow = tuple[str, str, str, int, int, str]
"""Domain, operators, attributes, first and last version of the operator (since-versions), and the values."""


def _expanded(rows: Iterable[ValueRow]) -> Iterator[ValueRow]:
    """Yield rows of one operator and one attribute each."""
    for domain, operators, attributes, first, last, text in rows:
        for operator in operators.split():
            for attribute in attributes.split():
                yield domain, operator, attribute, first, last, text


_RECURRENT: Final = (
    "Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid Softplus Softsign Tanh ThresholdedRelu"  # see LSTM
)
_POST_TRANSFORM: Final = "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"

_STRINGS: Final[tuple[ValueRow, ...]] = (
    ("", "AveragePool Conv ConvInteger ConvTranspose LpPool MaxPool QLinearConv", "auto_pad", 1, LATEST,
     "NOTSET SAME_UPPER SAME_LOWER VALID"),
    # The default of GRU-1 is misspelt, and the default must be allowed.
    ("", "GRU", "direction", 1, 2, "forward foward reverse bidirectional"),
    ("", "GRU", "direction", 3, LATEST, "forward reverse bidirectional"),
    ("", "LSTM RNN", "direction", 1, LATEST, "forward reverse bidirectional"),
    ("", "GRU LSTM RNN", "activations", 1, LATEST, _RECURRENT),
    ("", "BitShift", "direction", 11, LATEST, "LEFT RIGHT"),
    ("", "Cast CastLike", "round_mode", 24, LATEST, "up down nearest"),
    ("", "CausalConvWithState", "activation", 27, LATEST, "silu swish none"),
    ("", "DepthToSpace", "mode", 11, LATEST, "DCR CRD"),
    ("", "SpaceToDepth", "mode", 28, LATEST, "DCR CRD"),
    ("", "Gelu", "approximate", 20, LATEST, "none tanh"),
    ("", "GridSample", "mode", 16, 19, "bilinear nearest bicubic"),
    ("", "GridSample", "mode", 20, LATEST, "linear nearest cubic"),
    ("", "GridSample", "padding_mode", 16, LATEST, "zeros border reflection"),
    ("", "ImageDecoder", "pixel_format", 20, LATEST, "RGB BGR Grayscale"),
    ("", "LinearAttention", "update_rule", 27, LATEST, "linear gated delta gated_delta"),
    ("", "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction", 12, LATEST, "none sum mean"),
    ("", "Pad", "mode", 1, 18, "constant reflect edge"),
    ("", "Pad", "mode", 19, LATEST, "constant reflect edge wrap"),
    ("", "Resize", "mode", 10, 10, "nearest linear bilinear trilinear"),
    ("", "Resize", "mode", 11, LATEST, "nearest linear cubic"),
    ("", "Resize", "coordinate_transformation_mode", 11, 12,
     "half_pixel pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn tf_crop_and_resize"),
    ("", "Resize", "coordinate_transformation_mode", 13, 18,
     "half_pixel pytorch_half_pixel align_corners asymmetric tf_crop_and_resize"),
    ("", "Resize", "coordinate_transformation_mode", 19, LATEST,
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_crop_and_resize"),
    ("", "Resize", "nearest_mode", 11, LATEST, "round_prefer_floor round_prefer_ceil floor ceil"),
    ("", "Resize", "keep_aspect_ratio_policy", 18, LATEST, "stretch not_larger not_smaller"),
    ("", "RoiAlign", "mode", 10, LATEST, "avg max"),
    ("", "RoiAlign", "coordinate_transformation_mode", 16, LATEST, "half_pixel output_half_pixel"),
    ("", "ScatterElements ScatterND", "reduction", 16, 17, "none add mul"),
    ("", "ScatterElements ScatterND", "reduction", 18, LATEST, "none add mul max min"),
    ("", "StringNormalizer", "case_change_action", 10, LATEST, "LOWER UPPER NONE"),
    ("", "TensorScatter", "mode", 24, LATEST, "linear circular"),
    ("", "TfIdfVectorizer", "mode", 9, LATEST, "TF IDF TFIDF"),
    ("", "Upsample", "mode", 1, 6, "nearest bilinear"),
    ("", "Upsample", "mode", 7, LATEST, "nearest linear bilinear trilinear"),
    ("ai.onnx.ml", "CastMap", "cast_to", 1, LATEST, "TO_FLOAT TO_STRING TO_INT64"),
    ("ai.onnx.ml", "CastMap", "map_form", 1, LATEST, "DENSE SPARSE"),
    ("ai.onnx.ml", "Normalizer", "norm", 1, LATEST, "MAX L1 L2"),
    ("ai.onnx.ml", "SVMClassifier SVMRegressor", "kernel_type", 1, LATEST, "LINEAR POLY RBF SIGMOID"),
    ("ai.onnx.ml",
     "LinearClassifier LinearRegressor SVMClassifier SVMRegressor TreeEnsembleClassifier TreeEnsembleRegressor",
     "post_transform", 1, LATEST, _POST_TRANSFORM),
    ("ai.onnx.ml", "TreeEnsembleRegressor", "aggregate_function", 1, LATEST, "AVERAGE SUM MIN MAX"),
    ("ai.onnx.ml", "TreeEnsembleClassifier TreeEnsembleRegressor", "nodes_modes", 1, LATEST,
     "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ LEAF"),
    ("ai.onnx.preview.training", "Momentum", "mode", 1, LATEST, "nesterov standard"),
)  # fmt: skip

_NUMBERS: Final[tuple[ValueRow, ...]] = (
    ("", "Attention", "qk_matmul_output_mode", 23, LATEST, "0 1 2 3"),
    ("", "GRU LSTM RNN", "layout", 14, LATEST, "0 1"),
    ("", "LpNormalization", "p", 1, LATEST, "1 2"),
    ("", "MaxPool", "storage_order", 8, LATEST, "0 1"),
    ("", "Mod", "fmod", 13, LATEST, "0 1"),
    ("", "NonMaxSuppression", "center_point_box", 10, LATEST, "0 1"),
    ("", "ReverseSequence", "batch_axis", 10, LATEST, "0 1"),
    ("", "ReverseSequence", "time_axis", 10, LATEST, "0 1"),
    ("", "STFT", "onesided", 17, LATEST, "0 1"),
    ("", "Scan", "directions", 8, 8, "0 1"),
    ("", "Scan", "scan_input_directions", 9, LATEST, "0 1"),
    ("", "Scan", "scan_output_directions", 9, LATEST, "0 1"),
    ("", "Unique", "sorted", 11, LATEST, "0 1"),
    ("ai.onnx.ml", "TreeEnsemble", "aggregate_function", 5, LATEST, "0 1 2 3"),
    ("ai.onnx.ml", "TreeEnsemble", "post_transform", 5, LATEST, "0 1 2 3 4"),
)  # fmt: skip

_PRECISIONS: Final[tuple[ValueRow, ...]] = (
    ("", "Attention", "softmax_precision", 23, LATEST, "1 10 11 16"),
    ("", "GroupNormalization", "stash_type", 21, LATEST, "1 10 11 16"),
    ("", "QuantizeLinear", "precision", 23, LATEST, "0 1 10 11 16"),
    ("", "RMSNormalization", "stash_type", 23, LATEST, "1 10 11 16"),
    ("ai.onnx.preview", "FlexAttention", "softmax_precision", 1, LATEST, "1 10 11 16"),
)
"""Precisions of intermediate results: the numbers of the floating-point element types, which ONNX does not list.
For QuantizeLinear 0 is the default; ONNX Runtime refuses integers.
"""

_REDUCTIONS: Final = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
)

_FLAGS: Final[tuple[ValueRow, ...]] = (
    ("", "AffineGrid GridSample", "align_corners", 16, LATEST, "0 1"),
    ("", "Attention", "is_causal", 23, LATEST, "0 1"),
    ("", "AveragePool LpPool MaxPool", "ceil_mode", 10, LATEST, "0 1"),
    ("", "AveragePool", "count_include_pad", 7, LATEST, "0 1"),
    ("", f"ArgMax ArgMin {_REDUCTIONS}", "keepdims", 1, LATEST, "0 1"),
    ("", "ArgMax ArgMin", "select_last_index", 12, LATEST, "0 1"),
    ("", _REDUCTIONS, "noop_with_empty_axes", 13, LATEST, "0 1"),
    ("", "Cast CastLike QuantizeLinear", "saturate", 19, LATEST, "0 1"),
    ("", "CumProd CumSum", "exclusive reverse", 11, LATEST, "0 1"),
    ("", "DFT", "inverse onesided", 17, LATEST, "0 1"),
    ("", "BlackmanWindow HammingWindow HannWindow", "periodic", 17, LATEST, "0 1"),
    ("", "Gemm", "transA transB", 1, LATEST, "0 1"),
    ("", "Mod", "fmod", 10, 10, "0 1"),  # from 13 on, the description lists both values
    ("", "IsInf", "detect_negative detect_positive", 10, LATEST, "0 1"),
    ("", "LSTM", "input_forget", 1, LATEST, "0 1"),
    ("", "GRU", "linear_before_reset", 3, LATEST, "0 1"),
    ("", "Reshape", "allowzero", 14, LATEST, "0 1"),
    ("", "Resize", "exclude_outside", 11, LATEST, "0 1"),
    ("", "Resize", "antialias", 18, LATEST, "0 1"),
    ("", "RotaryEmbedding", "interleaved", 23, LATEST, "0 1"),
    ("", "SplitToSequence", "keepdims", 11, LATEST, "0 1"),
    ("", "StringNormalizer", "is_case_sensitive", 10, LATEST, "0 1"),
    ("", "TopK", "largest sorted", 11, LATEST, "0 1"),
    ("", "Trilu", "upper", 14, LATEST, "0 1"),
    ("ai.onnx.ml", "OneHotEncoder", "zeros", 1, LATEST, "0 1"),
    ("ai.onnx.ml", "SVMRegressor", "one_class", 1, LATEST, "0 1"),
)
"""INT attributes whose description defines 1 as yes, or calls them a flag or Boolean.
Consumers reject other numbers, or treat them as 0 or 1."""

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
        *[(domain, operator, attribute) for domain, operator, attribute, *_ in _expanded(_PRECISIONS)],
        ("", "Range", "stash_type"),
    }
)
"""Other attributes with an element type: of an intermediate result, or without a list of types in the signature."""

AllowedValues = frozenset[str] | frozenset[int]
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
    for first, last, values in _table().get((schema.domain, schema.name, attribute), ()):
        if first <= schema.since_version <= last:
            return values
    return _recorded(schema.name, attribute) if schema.domain == RUNTIME_DOMAIN else None


def _record(operator: str) -> OperatorRecord | None:
    """Return the record of an operator of com.microsoft."""
    from onnx_lint.spec.operators.records import record_of

    return record_of(operator)


def _recorded(operator: str, attribute: str) -> AllowedValues | None:
    """Return the values of an attribute of an operator of com.microsoft, if its record lists them."""
    record = _record(operator)
    if record is None:
        return None
    text = record.values.get(attribute) or record.flags.get(attribute)
    return _parsed(text) if text else None


_EMPTY: Final = "''"
"""The empty text among the values of a record."""


def _parsed(text: str) -> AllowedValues:
    """Return the values in a row: numbers if the first word is one."""
    words = text.split()
    if words[0].isdecimal():
        return frozenset(map(int, words))
    return frozenset("" if word == _EMPTY else word for word in words)


@cache
def _table() -> Mapping[tuple[str, str, str], list[tuple[int, int, AllowedValues]]]:
    found: dict[tuple[str, str, str], list[tuple[int, int, AllowedValues]]] = {}
    rows = (*_STRINGS, *_NUMBERS, *_PRECISIONS, *_FLAGS)
    for domain, operator, attribute, first, last, text in _expanded(rows):
        found.setdefault((domain, operator, attribute), []).append((first, last, _parsed(text)))
    return found


def _element_types(schema: OperatorSchema, attribute: str) -> AllowedValues:
    output = schema.outputs[_ELEMENT_TYPE_OF_OUTPUT[schema.name, attribute]]
    codes = {code for code, name in enumerate(ELEMENT_TYPE_NAMES, 1) if f"tensor({name})" in output.types}
    codes |= {code for code, name in enumerate(ELEMENT_TYPE_NAMES, 1) if f"seq(tensor({name}))" in output.types}
    if schema.attributes[attribute].type == "STRING":
        # Cast of version 1 names the element type, later versions number it.
        return frozenset(element_type_name(code) for code in codes)
    if schema.attributes[attribute].default == 0:
        # Zero, the undefined element type, means that the attribute is not given.
        codes.add(0)
    return frozenset(codes)


@cache
def _flags() -> Mapping[tuple[str, str, str], int]:
    """Return the last version in which each attribute is a flag."""
    rows = _expanded(_FLAGS)
    return {(domain, operator, attribute): last for domain, operator, attribute, _, last, _ in rows}


def is_flag(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether an attribute is a flag, see `_FLAGS`."""
    if schema.domain == RUNTIME_DOMAIN:
        record = _record(schema.name)
        return record is not None and attribute in record.flags
    return schema.since_version <= _flags().get((schema.domain, schema.name, attribute), 0)


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
