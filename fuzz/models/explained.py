# SPDX-License-Identifier: Apache-2.0
"""Known contradictions, each with the pattern that recognises it and the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSED = "onnx refuses what onnx-lint takes"
FALSE_ALARM = "a runtime runs what onnx-lint refuses"
OTHER_TYPE, OTHER_SHAPE, OTHER_ELEMENTS = "other type", "other shape", "other elements"


@dataclass(frozen=True)
class Explained:
    """An explanation of contradictions."""

    kind: str
    pattern: str
    """A pattern that the line of the contradiction contains."""
    reason: str

    def covers(self, kind: str, line: str) -> bool:
        """Return whether this explains a contradiction."""
        return kind == self.kind and re.search(self.pattern, line, re.DOTALL) is not None


_REFERENCE = r".*\[reference evaluator\]$"
_ONNXRUNTIME = r".*\[onnxruntime\]$"

FAULTS_OF_ONNX = {
    "MeanVarianceNormalization: float only, and not without axes": "^MeanVarianceNormalization:|has inconsistent type",
    "Pad: axes of type int32 are refused": r"^Pad: \S+ ParseData type mismatch",
    "Pools: `ceil_mode` with `auto_pad` VALID": r"[Dd]imension.* \|\| .*Pool\([^)]*(auto_pad|ceil_mode)",
    "STFT: inference takes another default for `onesided`": (
        r"(Inferred shape and existing|Incompatible dimensions).* \|\| .*STFT\("
    ),
    "Split: a negative part makes a negative dimension": r"^Split: .*\(-1\)",
}
"""The patterns of faults that docs/faults_of_onnx.md shows, by the heading there."""

_OF_ONNX = (
    *(Explained(MISSED, pattern, f"a fault of onnx: {heading}") for heading, pattern in FAULTS_OF_ONNX.items()),
    Explained(
        MISSED,
        r"^TreeEnsemble: \S+ Attribute '\w+' must have (same type as input|type INT64)",
        "the specification does not require the type of the input of tensors in attributes",
    ),
    Explained(
        MISSED,
        r"^OneHot: .*must be non-negative",
        "until version 10 indices are not negative, but the specification defines negative ones",
    ),
    Explained(
        MISSED,
        r"Inferred shape and existing.* \|\| .*ConvTranspose\([^)]*auto_pad",
        "SAME is input * stride; onnx adds `output_padding`",
    ),
    Explained(
        MISSED,
        r"(Inferred shape and existing|Incompatible dimensions).* \|\| .*LinearClassifier\(",
        "onnx counts no class labels",
    ),
    Explained(
        MISSED,
        r"(Inferred shape and existing|Incompatible dimensions).* \|\| .*Attention\(",
        "qk_matmul_output covers past and present; onnx counts one of them",
    ),
    Explained(
        MISSED,
        r"(Inferred shape and existing|Incompatible dimensions|not a tensor).* \|\| .* made up$",
        "the declared shape is random, and onnx-lint knows less of the value than onnx",
    ),
    Explained(
        MISSED,
        "is null|should all be tensors.* \\|\\| .*Gradient",
        "onnx has no inference for Gradient, and none of values that a body passes on without a type",
    ),
    Explained(
        MISSED,
        r" \|\| .*Resize\([^)]*coordinate_transformation_mode",
        "with tf_crop_and_resize the region decides the sizes; onnx ignores it",
    ),
    Explained(
        MISSED,
        r"^SplitToSequence: \S+ Inferred shape",
        "an omitted `split` leaves `keepdims` in force; onnx counts names",
    ),
    Explained(
        MISSED,
        r"(Incompatible dimensions|Dimension mismatch|Mismatch between|less than the requested k).* \|\| "
        r".*Split\(num_outputs\)",
        "the specification does not say how a size below `num_outputs` is split; onnx gives each part one element",
    ),
    Explained(
        MISSED,
        r"^STFT: \S+ window input must have rank",
        "onnx takes an unknown rank, and that which it gives CastMap, for another one",
    ),
    Explained(
        MISSED,
        r"^\w+: \S+ (Input rank must be|Ellipsis for input) .* \|\| .*\b(Loop|Scan|SequenceMap)\(",
        "a fault in a body that never runs is a warning, and what it stacks has no known rank; onnx infers that body",
    ),
    Explained(
        MISSED, r"^Scan: \S+ Scan input \d+ was not a tensor", "onnx infers nothing for a body without declared types"
    ),
    Explained(
        MISSED,
        r"^Range: .* F\d+\(",
        "the bounds are constants of the calls only, and runtimes take lists of one element",
    ),
    Explained(
        MISSED,
        r"^Resize: .*\(0\) (must be same as rank|does not match)|^StringNormalizer: \S+ Input shape"
        r"|^MatMul: .*ArrayFeatureExtractor\(|^TensorScatter: .* between 0 and \d+ \|\| .*Attention\(",
        "onnx takes an unknown dimension for 0",
    ),
    Explained(MISSED, "^FlexAttention: .*requires rank-4 inputs", "onnx refuses an input of unknown rank"),
    Explained(
        MISSED,
        r"differ in rank.* \|\| .*ConvTranspose\([^)]*output_shape",
        "onnx infers two dimensions where `output_shape` is smaller than the input",
    ),
    Explained(
        MISSED,
        r"^SplitToSequence: \S+ Input 'split' can not be empty",
        "an empty list of lengths splits an axis without elements; onnx refuses it even for an axis of unknown length",
    ),
    Explained(
        MISSED,
        r"^Resize: \S+ Providing `scales`",
        "`scales` of unknown length may have no elements, and then it is not given",
    ),
    Explained(
        MISSED,
        r"^Squeeze: .*must be 1 instead of 0 \|\| .*Pool\(",
        "the specification does not say how many windows an axis of 0 elements has; onnx computes 0",
    ),
)

_NOT_YET = (
    Explained(
        MISSED, r"^Resize: \S+ Either `sizes` or `scales`", "onnx-lint accepts an empty list of sizes without scales"
    ),
    Explained(
        MISSED,
        r"^Col2Im: \S+ 'block_shape' input must",
        "onnx-lint does not look at the sizes of the block while the rank of the image is unknown",
    ),
    Explained(MISSED, "^Pad: .*must be a 1D", "onnx-lint does not look at the rank of `pads` in all cases yet"),
    Explained(MISSED, "^LinearAttention: .*update_rule", "onnx-lint does not compare operands with the rule yet"),
    Explained(
        MISSED,
        r"Inferred shape and existing.* \|\| .*(Adam|Adagrad|Momentum)\(",
        "the pseudo code broadcasts a state to its tensor, and onnx infers the shape of the state",
    ),
    Explained(MISSED, "^ZipMap: ", "onnx-lint does not look at the rank of what ZipMap takes yet"),
)
"""Known errors of onnx-lint. Remove an entry when its error is fixed: a stale entry hides faults."""

_OPERANDS = (
    "(incompatible-operand-shapes|impossible-operator-extent|unsupported-operand-value|impossible-attribute-value"
    "|unsupported-combination|mismatched-subgraph-shape|mismatched-operand-type|unsupported-attribute-value"
    "|missing-operator-attribute|operator-arity)"
)


def _lenient(rule: str, operators: str, reason: str) -> Explained:
    """Explain faults that ONNX Runtime accepts; one of an initializer names the operator in its message."""
    names = operators.replace(" ", "|")
    return Explained(FALSE_ALARM, rf"^{rule} (({names}): |: .* \(({names})\) ){_ONNXRUNTIME}", reason)


_OF_RUNTIMES = (
    Explained(FALSE_ALARM, r"\[onnx refuses the model as well\]", "onnx refuses the model as well"),
    Explained(
        FALSE_ALARM,
        f"^{_OPERANDS} {_REFERENCE}",
        "the reference evaluator computes with numpy and rarely checks operands",
    ),
    _lenient(
        "impossible-attribute-value",
        "ai.onnx.ml::LinearClassifier TfIdfVectorizer ai.onnx.ml::TreeEnsembleRegressor",
        "ONNX Runtime gives further labels no score, and takes any number of indexes and ids below that of all nodes",
    ),
    _lenient(
        "impossible-operator-extent",
        "ai.onnx.ml::Imputer ai.onnx.ml::LinearRegressor SequenceMap",
        "ONNX Runtime ignores the elements behind those that it needs",
    ),
    _lenient(
        "incompatible-operand-shapes",
        "com.microsoft::MatMulBnb4 SequenceMap ai.onnx.ml::FeatureVectorizer",
        "the specification requires the size or the number; ONNX Runtime does not compare it",
    ),
    _lenient(
        "unsupported-operand-value",
        "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss Col2Im",
        "ONNX Runtime counts a label from the end, and makes images of one axis",
    ),
    Explained(
        FALSE_ALARM,
        rf"^impossible-attribute-value MaxUnpool: .* holds -\d+{_ONNXRUNTIME}",
        "pads are at least 0 by the text",
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value Pad: .* the same as{_ONNXRUNTIME}",
        "repeated axes are undefined by the text",
    ),
    Explained(FALSE_ALARM, "^contradictory-declared-shape ", "the runtimes ignore declared shapes, or only warn"),
    Explained(FALSE_ALARM, "^mismatched-subgraph-shape ", "the runtimes ignore the shapes that a subgraph declares"),
    Explained(FALSE_ALARM, "^untyped-graph-value ", "the runtimes infer the type of a graph output"),
    Explained(FALSE_ALARM, "^premature-feature ", "the runtimes ignore the IR version of an element type"),
    Explained(FALSE_ALARM, f"of subgraph {_ONNXRUNTIME}", "the subgraph may not have run"),
    _lenient(
        "impossible-operator-extent",
        "Softmax LogSoftmax Hardmax Flatten",
        "an axis is less than the rank; ONNX Runtime accepts the rank and flattens",
    ),
    _lenient(
        "impossible-operator-extent",
        "MeanVarianceNormalization ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean "
        "ReduceMin ReduceProd ReduceSum ReduceSumSquare",
        "an axis is one of the input; ONNX Runtime does not check it for some shapes",
    ),
    _lenient("impossible-attribute-value", "Unsqueeze Squeeze", "axes are not negative until version 10"),
    _lenient("unsupported-operand-value", "CenterCropPad", "a size is not negative; ONNX Runtime does not check it"),
    _lenient(
        "incompatible-operand-shapes",
        "Einsum",
        "every ellipsis has the same rank, and NonZero of a scalar has the shape (0, N); ONNX Runtime broadcasts both",
    ),
    _lenient("incompatible-operand-shapes", "PRelu", "the slope is broadcast to X; ONNX Runtime broadcasts X too"),
    _lenient(
        "incompatible-operand-shapes",
        "STFT",
        "the specification requires the shape of the signal; ONNX Runtime does not check it",
    ),
    _lenient(
        "incompatible-operand-shapes",
        "BlackmanWindow CenterCropPad Compress ConstantOfShape DFT GatherND GroupNormalization HammingWindow "
        "HannWindow LayerNormalization Multinomial NegativeLogLikelihoodLoss NonMaxSuppression OneHot Pad "
        "QLinearMatMul QuantizeLinear SequenceAt SequenceErase SequenceInsert SoftmaxCrossEntropyLoss "
        "ai.onnx.ml::TreeEnsembleRegressor",
        "the specification requires the rank or the size; ONNX Runtime checks the number of elements, or nothing",
    ),
    Explained(
        FALSE_ALARM,
        rf"^incompatible-operand-shapes Attention: dimension 3 of input 1 .* like dimension 3 of input 0{_ONNXRUNTIME}",
        "keys have the head size of queries; ONNX Runtime does not compare them for 4-D inputs",
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value OneHot: element .* must be at least 0{_ONNXRUNTIME}",
        "until version 10 indices are not negative; ONNX Runtime counts them from the end",
    ),
    _lenient(
        "incompatible-operand-shapes",
        "Resize",
        "`scales` has one dimension; ONNX Runtime ignores it if there are `sizes`",
    ),
    _lenient(
        "unsupported-operand-value",
        "BlackmanWindow HammingWindow HannWindow CumProd CumSum MelWeightMatrix Reduce\\w+ Reshape",
        "ONNX Runtime does not check the values for an empty tensor",
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value : .* elements?, .* has {_ONNXRUNTIME}",
        "the numbers of elements are equal only for an empty tensor",
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value : element .* the axes are {_ONNXRUNTIME}",
        "ONNX Runtime does not check the axis for an empty tensor",
    ),
    _lenient(
        "impossible-attribute-value", "RoiAlign", "a size is positive; ONNX Runtime returns an empty tensor for zero"
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value : .* \(AffineGrid\) .* at least 1{_ONNXRUNTIME}",
        "a size is positive; ONNX Runtime returns an empty tensor for zero",
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value Resize: element .* of input 3 .* must be at least 0{_ONNXRUNTIME}",
        "a size is not negative; ONNX Runtime computes another one from the policy on aspect ratios",
    ),
    Explained(
        FALSE_ALARM,
        rf"^unsupported-operand-value GatherND: element .* elements along the axis{_ONNXRUNTIME}",
        "an index is one of its axis; ONNX Runtime does not check it if the slices have no elements",
    ),
    Explained(
        FALSE_ALARM,
        rf"^impossible-attribute-value ai.onnx.ml::TreeEnsemble: {_ONNXRUNTIME}",
        "a flag is 0 or 1; ONNX Runtime accepts other numbers",
    ),
    _lenient(
        "impossible-attribute-value",
        "Attention",
        "a number of heads is positive; ONNX Runtime ignores it for 4-D inputs",
    ),
    _lenient(
        "mismatched-operand-type",
        "TfIdfVectorizer",
        "the pool decides the type of X; ONNX Runtime finds no match",
    ),
    _lenient(
        "unsupported-attribute-value",
        "Attention Cast CastLike Gelu RMSNormalization ReverseSequence RoiAlign STFT ScatterElements ScatterND "
        "SoftmaxCrossEntropyLoss",
        "the specification lists the values; ONNX Runtime checks them only if it needs the attribute",
    ),
    _lenient("unsupported-combination", "ai.onnx.ml::CategoryMapper", "the text asks for exactly one default"),
    _lenient(
        "incompatible-operand-shapes",
        "QLinearConv",
        "a zero point has the shape of its scale; ONNX Runtime takes a scalar",
    ),
    _lenient("unsupported-combination", "Attention", "both caches are outputs or none; ONNX Runtime returns one"),
    _lenient("mismatched-operand-type", "Attention", "older texts require one element type; ONNX Runtime none"),
    _lenient("unsupported-operand-value", "TopK", "the text requires a positive number; ONNX Runtime takes 0"),
    Explained(
        FALSE_ALARM,
        rf"has no zero point other than.*{_ONNXRUNTIME}",
        "int32 has no zero point; ONNX Runtime subtracts it",
    ),
    _lenient("unsupported-combination", "AveragePool LpPool MaxPool", "ONNX Runtime ignores pads beside auto_pad"),
)

_OF_VALUES = (
    Explained(
        OTHER_ELEMENTS,
        r"^SplitToSequence .*a sequence of 0, ran: \d+ \[onnxruntime\]$",
        "a list without lengths makes no chunks; ONNX Runtime takes it for none given",
    ),
    Explained(
        OTHER_SHAPE,
        rf"NonZero.*{_ONNXRUNTIME}",
        "for a scalar the specification requires (0, N), and ONNX Runtime returns (1, N)",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^CausalConvWithState .*{_REFERENCE}",
        "a past state has one position less than the kernel; the reference evaluator takes any number",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^CausalConvWithState .*ran: \([\d, ]+, 0\){_ONNXRUNTIME}",
        "a past state has one position less than the kernel; ONNX Runtime takes any number, and returns a new one",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^Concat .*\(0,.*{_ONNXRUNTIME}",
        "the other sizes of all inputs are equal; ONNX Runtime leaves out inputs without elements",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^Sub as of opset [1-6] .*{_REFERENCE}",
        "until version 6 only the second operand is broadcast; the reference evaluator broadcasts both",
    ),
    Explained(
        OTHER_SHAPE,
        rf"(MaxPool|AveragePool|LpPool) .*{_ONNXRUNTIME}",
        "SAME is ceil(input / stride); ONNX Runtime ignores the dilations",
    ),
    Explained(OTHER_SHAPE, r"^Loop of .*\(0,.*ran: \(0,", "a Loop that never runs has no element that shows the shape"),
    Explained(OTHER_SHAPE, rf"Squeeze.*{_ONNXRUNTIME}", "an empty list names no axis; ONNX Runtime squeezes all"),
    Explained(
        OTHER_SHAPE,
        rf"Reduce\w+.*{_ONNXRUNTIME}",
        "the specification does not define `noop_with_empty_axes` other than 0 and 1",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^(NegativeLogLikelihoodLoss|SoftmaxCrossEntropyLoss) {_ONNXRUNTIME}",
        "the weights say how many classes there are; ONNX Runtime does not compare them with the input",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^Resize .*keep_aspect_ratio_policy{_ONNXRUNTIME}|^Loop of .*Resize: {_ONNXRUNTIME}",
        "ONNX Runtime does not resize along negative axes where a policy is given",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^(If of .*)?SplitToSequence.*{_ONNXRUNTIME}",
        "a given `split` switches `keepdims` off; ONNX Runtime squeezes chunks of size 1",
    ),
    Explained(OTHER_SHAPE, rf"PRelu.*{_ONNXRUNTIME}", "the slope is broadcast to X; ONNX Runtime broadcasts X too"),
    Explained(
        OTHER_ELEMENTS,
        rf"^Optional .*a sequence of .*{_REFERENCE}",
        "the reference evaluator puts an optional sequence into a list of one element",
    ),
    Explained(
        OTHER_ELEMENTS,
        rf"^Cast.*{_ONNXRUNTIME}",
        "with `saturate` other than 0 and 1 ONNX Runtime returns uninitialised memory",
    ),
    Explained(
        OTHER_ELEMENTS,
        rf"^If of Optional .*a sequence of .*{_REFERENCE}",
        "the reference evaluator puts an optional sequence into a list of one element",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^(Attention|Gemm|Greater as of opset [1-6]) .*{_REFERENCE}",
        "the reference evaluator accepts operands of other ranks, and broadcasts where the version does not",
    ),
    Explained(
        OTHER_SHAPE,
        rf"^Loop of {_REFERENCE}",
        "the reference evaluator concatenates scan outputs instead of stacking them",
    ),
    Explained(
        OTHER_SHAPE,
        r"(LpNormalization|GlobalMaxPool|MaxPool|AveragePool|LpPool|StringNormalizer|Reduce\w+|Squeeze|Arg\w+|BatchNormalization"
        rf"|Adam|AffineGrid|CenterCropPad|Linear\w+|MaxUnpool|NegativeLogLikelihoodLoss|PRelu|QLinearMatMul|Unique|Add|Div|Mul|SplitToSequence|Split|OneHot|LayerNormalization|QuantizeLinear|RMSNormalization|LSTM|RNN|GRU|GridSample|Sum|RoiAlign|Resize|Tile){_REFERENCE}",
        "the reference evaluator deviates from the specification, or accepts operands that do not fit",
    ),
    Explained(OTHER_TYPE, _REFERENCE, "numpy decides the output types of the reference evaluator"),
)

EXPLAINED: tuple[Explained, ...] = (*_OF_ONNX, *_NOT_YET, *_OF_RUNTIMES, *_OF_VALUES)


def explanation(kind: str, line: str) -> Explained | None:
    """Return the explanation of a contradiction, or None."""
    return next((each for each in EXPLAINED if each.covers(kind, line)), None)
