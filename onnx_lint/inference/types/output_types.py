# SPDX-License-Identifier: Apache-2.0
"""The table of the operators whose output types do not follow only from type variables.

Source: the operator specifications Operators.md, Operators-ml.md and, for `com.microsoft`, ContribOperators.md. It has
every output whose type no input decides, in any version of any operator; a test checks that.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from onnx_lint.inference.types.decision import (
    Application,
    Decision,
    OutputTypes,
    element_code,
    element_of_sequence,
    first_known_input,
    fixed,
    gradient,
    if_present,
    like,
    mapped,
    named,
    optimizer_state,
    optional,
    optional_content,
    sequence,
    the_given,
    unknown,
    value_of,
)
from onnx_lint.inference.types.type_string import (
    BFLOAT16,
    FLOAT,
    FLOAT16,
    INT32,
    INT64,
    STRING,
    UINT8,
    UINT32,
    ValueType,
    map_value,
)

_ML: Final = "ai.onnx.ml"
_TRAINING: Final = "ai.onnx.preview.training"
_MICROSOFT: Final = "com.microsoft"


def _by(decision: Decision, *attributes: str) -> OutputTypes:
    return OutputTypes((decision,), frozenset(attributes))


def _label(strings: str, integers: str) -> OutputTypes:
    """The labels of a classifier: text if its class labels are text; the types of its other output are fixed."""
    decision = the_given((strings, STRING), (integers, INT64), otherwise=INT64)
    return OutputTypes((decision, None), frozenset({strings, integers}))


def _map_values(application: Application, _index: int) -> ValueType | None:
    return map_value(application.input(0))


def _labels_encoded(application: Application, index: int) -> ValueType | None:
    if application.schema.since_version == 1:
        return _EXCHANGED(application, index)
    return _ENCODED(application, index)


_EXCHANGED: Final = mapped(0, {STRING: INT64, INT64: STRING})
_ENCODED: Final = the_given(
    ("values_tensor", None), ("values_strings", STRING), ("values_int64s", INT64), ("values_floats", FLOAT)
)
_CONSTANT_VALUES: Final = (
    ("value", None),
    ("sparse_value", None),
    ("value_float", FLOAT),
    ("value_int", INT64),
    ("value_string", STRING),
    ("value_floats", FLOAT),
    ("value_ints", INT64),
    ("value_strings", STRING),
)
_ZIPPED: Final = the_given(
    ("classlabels_strings", "seq(map(string, float))"), ("classlabels_int64s", "seq(map(int64, float))")
)

_WINDOW: Final = _by(element_code("output_datatype", fixed(FLOAT)), "output_datatype")
_RANDOM: Final = _by(element_code("dtype", fixed(FLOAT)), "dtype")
_RANDOM_LIKE: Final = _by(element_code("dtype", like(0)), "dtype")
_CAST: Final = _by(element_code("to", unknown("the attribute is missing")), "to")
_QUANTIZED: Final = _by(if_present(2, element_code("output_dtype", fixed(UINT8), may_be_zero=True)), "output_dtype")
_SUBGRAPH: Final = OutputTypes((unknown("the subgraphs decide"),), by_subgraphs=True)
_SCAN: Final = OutputTypes(_SUBGRAPH.decisions, frozenset({"num_scan_inputs"}), by_subgraphs=True)

OUTPUT_TYPES: Final[Mapping[tuple[str, str], OutputTypes]] = MappingProxyType(
    {
        ("", "Bernoulli"): _RANDOM_LIKE,
        ("", "BitCast"): _CAST,
        ("", "BlackmanWindow"): _WINDOW,
        ("", "Cast"): _CAST,
        ("", "ConcatFromSequence"): _by(element_of_sequence(0)),
        ("", "Constant"): _by(the_given(*_CONSTANT_VALUES), *(name for name, _ in _CONSTANT_VALUES)),
        ("", "ConstantOfShape"): _by(value_of("value", FLOAT), "value"),
        # The scale decides unless output_dtype does. Older versions do not have that attribute.
        ("", "DequantizeLinear"): _by(element_code("output_dtype", like(1), may_be_zero=True), "output_dtype"),
        ("", "EyeLike"): _RANDOM_LIKE,
        ("", "HammingWindow"): _WINDOW,
        ("", "HannWindow"): _WINDOW,
        ("", "If"): _SUBGRAPH,
        ("", "LayerNormalization"): OutputTypes(
            (None, element_code("stash_type", fixed(FLOAT)), element_code("stash_type", fixed(FLOAT))),
            frozenset({"stash_type"}),
        ),
        ("", "LinearAttention"): OutputTypes((None, if_present(3, like(0)))),
        ("", "Loop"): _SUBGRAPH,
        ("", "MelWeightMatrix"): _WINDOW,
        ("", "Multinomial"): _by(element_code("dtype", fixed(INT32)), "dtype"),
        ("", "Optional"): _by(optional, "type"),
        ("", "OptionalGetElement"): _by(optional_content),
        ("", "QuantizeLinear"): _QUANTIZED,
        ("", "RandomNormal"): _RANDOM,
        ("", "RandomNormalLike"): _RANDOM_LIKE,
        ("", "RandomUniform"): _RANDOM,
        ("", "RandomUniformLike"): _RANDOM_LIKE,
        ("", "Scan"): _SCAN,
        ("", "SequenceAt"): _by(element_of_sequence(0)),
        ("", "SequenceConstruct"): _by(sequence(first_known_input)),
        ("", "SequenceEmpty"): _by(sequence(element_code("dtype", fixed(FLOAT))), "dtype"),
        ("", "SequenceMap"): _SUBGRAPH,
        ("", "SplitToSequence"): _by(sequence(like(0))),
        (_ML, "CastMap"): _by(
            named("cast_to", {"TO_FLOAT": FLOAT, "TO_STRING": STRING, "TO_INT64": INT64}, FLOAT), "cast_to"
        ),
        (_ML, "CategoryMapper"): _by(_EXCHANGED),
        (_ML, "DictVectorizer"): _by(_map_values),
        (_ML, "LabelEncoder"): _by(
            _labels_encoded, "values_tensor", "values_strings", "values_int64s", "values_floats"
        ),
        (_ML, "LinearClassifier"): _label("classlabels_strings", "classlabels_ints"),
        (_ML, "SVMClassifier"): _label("classlabels_strings", "classlabels_ints"),
        (_ML, "TreeEnsembleClassifier"): _label("classlabels_strings", "classlabels_int64s"),
        (_ML, "ZipMap"): _by(_ZIPPED, "classlabels_strings", "classlabels_int64s"),
        (_TRAINING, "Adagrad"): _by(optimizer_state(3, (0, 2))),
        (_TRAINING, "Adam"): _by(optimizer_state(4, (0, 2, 3))),
        (_TRAINING, "Gradient"): _by(gradient),
        (_TRAINING, "Momentum"): _by(optimizer_state(3, (0, 2))),
        (_MICROSOFT, "DecoderMaskedMultiHeadAttention"): OutputTypes(
            (None, None, None, unknown("float or that of the query, by an environment of the runtime"))
        ),
        (_MICROSOFT, "DequantizeBFP"): _by(element_code("dtype", fixed(FLOAT)), "dtype"),
        (_MICROSOFT, "DequantizeWithOrder"): _by(element_code("to", unknown("the attribute is missing")), "to"),
        (_MICROSOFT, "EPContext"): _by(unknown("the compiled graph decides")),
        (_MICROSOFT, "GatherPacked"): _by(element_code("output_dtype", fixed(BFLOAT16)), "output_dtype"),
        (_MICROSOFT, "GemmFloat8"): _by(element_code("dtype", fixed(FLOAT)), "dtype"),
        (_MICROSOFT, "GridSample"): _by(like(0)),
        (_MICROSOFT, "LinearAttention"): OutputTypes((None, if_present(3, like(0)))),
        (_MICROSOFT, "MatMulInteger16"): _by(fixed(INT32)),
        (_MICROSOFT, "MultiHeadAttention"): OutputTypes(
            (None, None, None, unknown("float or that of the query, by an environment of the runtime"))
        ),
        (_MICROSOFT, "MurmurHash3"): _by(named("positive", {0: INT32, 1: UINT32}, UINT32), "positive"),
        (_MICROSOFT, "QGemm"): _by(if_present(8, fixed(FLOAT))),
        (_MICROSOFT, "QuantizeLinear"): _by(if_present(2, fixed(UINT8))),
        (_MICROSOFT, "RMSNormRotary"): OutputTypes(
            (named("output_fp16", {0: BFLOAT16, 1: FLOAT16}, BFLOAT16), None), frozenset({"output_fp16"})
        ),
        (_MICROSOFT, "ReduceSumInteger"): _by(unknown("the runtime chooses the width")),
    }
)
"""The entries by domain and operator; the default domain is empty."""
