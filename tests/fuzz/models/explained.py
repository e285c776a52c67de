# SPDX-License-Identifier: Apache-2.0
"""Contradictions that are no fault of onnx-lint, each with what recognises it and the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSED = "onnx refuses what onnx-lint takes"
FALSE_ALARM = "a runtime runs what onnx-lint refuses"
OTHER_TYPE, OTHER_SHAPE, OTHER_ELEMENTS = "other type", "other shape", "other elements"


@dataclass(frozen=True)
class Explained:
    """Contradictions that have an explanation."""

    kind: str
    pattern: str
    """What is found in the line of the contradiction."""
    reason: str

    def covers(self, kind: str, line: str) -> bool:
        """Whether this explains a contradiction."""
        return kind == self.kind and re.search(self.pattern, line, re.DOTALL) is not None


_REFERENCE = r".*\[reference evaluator\]$"
_ONNXRUNTIME = r".*\[onnxruntime\]$"

_OF_ONNX = (
    Explained(MISSED, "^MeanVarianceNormalization:", "the body that onnx has for it mixes float with other types"),
    Explained(
        MISSED, "^RMSNormalization: Y has inconsistent type", "Y has the type of scale; onnx gives it that of X first"
    ),
    Explained(MISSED, "^MeanVarianceNormalization:|has inconsistent type", "a function body of onnx mixes types"),
    Explained(
        MISSED,
        r"^TreeEnsemble: \S+ Attribute '\w+' must have (same type as input|type INT64)",
        "the text does not say that tensors in attributes have the type of the input",
    ),
    Explained(MISSED, r"^Pad: \S+ ParseData type mismatch", "`axes` may be int32; onnx reads int64"),
    Explained(
        MISSED,
        r"^OneHot: .*must be non-negative",
        "until version 10 indices are not negative, and what negative ones do is said in the next sentence",
    ),
    Explained(
        MISSED,
        r"(Inferred shape and existing|Incompatible dimensions).* \|\| .*Pool\([^)]*(auto_pad|ceil_mode)",
        "SAME is ceil(input / stride), VALID takes no `pads`, no window starts in the padding; onnx knows none of that",
    ),
    Explained(
        MISSED,
        r"Inferred shape and existing.* \|\| .*ConvTranspose\([^)]*auto_pad",
        "SAME is input * stride; onnx adds `output_padding`",
    ),
    Explained(MISSED, r"Inferred shape and existing.* \|\| .*STFT\(", "`onesided` is 1 by default; onnx takes 0"),
    Explained(
        MISSED,
        r"(Inferred shape and existing|Incompatible dimensions).* \|\| .*LinearClassifier\(",
        "onnx counts no labels",
    ),
    Explained(
        MISSED,
        r"Inferred shape and existing.* \|\| .*Attention\(",
        "the last dimension of qk_matmul_output is that of past and present; onnx forgets one of them",
    ),
    Explained(
        MISSED,
        r"Inferred shape and existing.* \|\| .* made up$",
        "a shape is declared at random where onnx knows a dimension that onnx-lint does not know",
    ),
    Explained(
        MISSED,
        "is null|should all be tensors.* \\|\\| .*Gradient",
        "onnx has no inference for Gradient, and none of values that a body passes on without a type",
    ),
    Explained(
        MISSED,
        r"^Resize: .*\(0\) (must be same as rank|does not match)|^StringNormalizer: \S+ Input shape",
        "onnx takes an unknown dimension for 0",
    ),
)

_NOT_YET = (
    Explained(MISSED, "^BitCast: .*same bit-width", "onnx-lint does not compare the widths of types yet"),
    Explained(MISSED, "^Pad: .*must be a 1D", "onnx-lint does not look at the rank of `pads` in all cases yet"),
    Explained(
        MISSED, "^BatchNormalization: .*number of op outputs", "onnx-lint does not count outputs in training yet"
    ),
    Explained(MISSED, "^Attention: .*must not be specified", "onnx-lint does not compare heads with ranks yet"),
    Explained(MISSED, "^LinearAttention: .*update_rule", "onnx-lint does not compare operands with the rule yet"),
    Explained(MISSED, "^FlexAttention: .*softmax_precision", "onnx-lint does not look at softmax_precision yet"),
    Explained(
        MISSED,
        r"^(Adam|Adagrad|Momentum): |Inferred shape and existing.* \|\| .*(Adam|Adagrad|Momentum)\(",
        "onnx-lint does not compare the operands of optimizers yet",
    ),
    Explained(
        MISSED,
        r"^(Dropout|\w+Window|MelWeightMatrix|DFT|STFT|Range): .*(must be|must have) (a )?(scalar|rank)",
        "onnx-lint takes one element for a scalar there yet",
    ),
    Explained(MISSED, "^ZipMap: ", "onnx-lint does not look at the rank of what ZipMap takes yet"),
)
"""What onnx-lint misses: an entry goes when the rule is there."""

_OPERANDS = (
    "(incompatible-operand-shapes|impossible-operator-extent|unsupported-operand-value|impossible-attribute-value"
    "|unsupported-combination|mismatched-subgraph-shape|mismatched-operand-type|unsupported-attribute-value"
    "|missing-operator-attribute|operator-arity)"
)


def _lenient(rule: str, operators: str, reason: str) -> Explained:
    """What ONNX Runtime takes although the text does not."""
    return Explained(FALSE_ALARM, rf"^{rule} ({operators.replace(' ', '|')}): {_ONNXRUNTIME}", reason)


_OF_RUNTIMES = (
    Explained(FALSE_ALARM, r"\[onnx refuses the model as well\]", "onnx refuses the model as well"),
    Explained(
        FALSE_ALARM,
        f"^{_OPERANDS} {_REFERENCE}",
        "the reference evaluator computes with numpy, and compares operands with the text in few operators only",
    ),
    Explained(
        FALSE_ALARM, "^contradictory-declared-shape ", "the runtimes do not look at what is declared, or only warn"
    ),
    Explained(FALSE_ALARM, "^mismatched-subgraph-shape ", "ONNX Runtime looks at no shape that a subgraph declares"),
    Explained(FALSE_ALARM, "^untyped-graph-value ", "the runtimes infer the type of a graph output"),
    Explained(FALSE_ALARM, "^premature-feature ", "the runtimes do not look at the IR version of an element type"),
    Explained(FALSE_ALARM, f"of subgraph {_ONNXRUNTIME}", "a subgraph that never runs is only looked at by inference"),
    _lenient(
        "impossible-operator-extent",
        "Softmax LogSoftmax Hardmax Flatten",
        "the axis of a dimension is less than the rank; ONNX Runtime flattens there",
    ),
    _lenient(
        "impossible-operator-extent",
        "MeanVarianceNormalization ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean "
        "ReduceMin ReduceProd ReduceSum ReduceSumSquare",
        "an axis is one of the input; of few shapes ONNX Runtime looks at none",
    ),
    _lenient("impossible-attribute-value", "Unsqueeze Squeeze", "axes are not negative until version 10"),
    _lenient("incompatible-operand-shapes", "PRelu", "the slope is broadcast to X, not X to the slope"),
    _lenient("incompatible-operand-shapes", "STFT", "a signal has the shape of the text; ONNX Runtime looks at sizes"),
    _lenient(
        "incompatible-operand-shapes",
        "BlackmanWindow CenterCropPad Compress ConstantOfShape DFT GroupNormalization HammingWindow HannWindow "
        "LayerNormalization NegativeLogLikelihoodLoss OneHot Pad QuantizeLinear SequenceAt SequenceErase "
        "SequenceInsert",
        "the text has the rank or the size; ONNX Runtime looks at the number of elements, or not at all",
    ),
    _lenient(
        "incompatible-operand-shapes",
        "Resize",
        "`scales` has one dimension; where `sizes` is given ONNX Runtime does not look at it",
    ),
    _lenient(
        "unsupported-operand-value",
        "BlackmanWindow HammingWindow HannWindow CumSum Reshape",
        "of an empty tensor ONNX Runtime does not look at what is left",
    ),
    _lenient(
        "impossible-attribute-value", "Attention", "a number of heads is positive; with 4-D inputs it is not read"
    ),
    _lenient(
        "mismatched-operand-type",
        "TfIdfVectorizer",
        "the pool says whether X is text; ONNX Runtime finds nothing in it",
    ),
    _lenient(
        "unsupported-attribute-value",
        "Cast CastLike Gelu ReverseSequence ScatterElements ScatterND",
        "the values are listed; ONNX Runtime looks where it needs the attribute",
    ),
    _lenient("unsupported-combination", "Attention", "both caches are made or none; ONNX Runtime makes one"),
)

_OF_VALUES = (
    Explained(OTHER_SHAPE, rf"NonZero.*{_ONNXRUNTIME}", "of a scalar the text has (0, N), ONNX Runtime has (1, N)"),
    Explained(
        OTHER_SHAPE,
        rf"(MaxPool|AveragePool|LpPool) .*{_ONNXRUNTIME}",
        "with dilations and SAME the text has ceil(input / stride); ONNX Runtime forgets the dilations",
    ),
    Explained(
        OTHER_SHAPE, r"^Loop of .*\(0,.*ran: \(0,", "of a Loop that never runs no runtime knows what it would have made"
    ),
    Explained(OTHER_SHAPE, rf"^Squeeze .*{_ONNXRUNTIME}", "an empty list of axes names none; ONNX Runtime takes all"),
    Explained(OTHER_SHAPE, r"^Reduce\w+ as", "of `noop_with_empty_axes` other than 0 and 1 the text says nothing"),
    Explained(
        OTHER_ELEMENTS,
        rf"^Cast.*{_ONNXRUNTIME}",
        "with `saturate` other than 0 and 1 ONNX Runtime leaves memory as it was",
    ),
    Explained(
        OTHER_SHAPE, rf"^Loop of {_REFERENCE}", "the reference evaluator joins scan outputs in place of stacking them"
    ),
    Explained(
        OTHER_SHAPE,
        r"(LpNormalization|GlobalMaxPool|MaxPool|AveragePool|LpPool|StringNormalizer|ReduceL\w+|Arg\w+|BatchNormalization"
        rf"|PRelu|QLinearMatMul|SplitToSequence|Split|OneHot|LayerNormalization|RMSNormalization|LSTM|RNN|GRU|GridSample|Sum|RoiAlign|Resize|Tile){_REFERENCE}",
        "the reference evaluator does another thing than the text, or takes operands that do not fit",
    ),
    Explained(OTHER_TYPE, _REFERENCE, "numpy decides the types of the reference evaluator"),
)

EXPLAINED: tuple[Explained, ...] = (*_OF_ONNX, *_NOT_YET, *_OF_RUNTIMES, *_OF_VALUES)


def explanation(kind: str, line: str) -> Explained | None:
    """What explains a contradiction; None where nothing does."""
    return next((each for each in EXPLAINED if each.covers(kind, line)), None)
