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
    Explained(MISSED, "^RMSNormalization: Y has inconsistent type", "onnx gives Y the type of X, the text that of scale"),
    Explained(MISSED, r"^TreeEnsemble: \S+ Attribute '\w+' must have (same type as input|type INT64)", "the text says nothing of it"),
    Explained(MISSED, r"^Pad: \S+ ParseData type mismatch", "axes may be int32; onnx reads int64"),
    Explained(MISSED, r"^ConvTranspose: \S+ Inferred shape and existing", "SAME is input * stride; onnx adds output_padding"),
    Explained(MISSED, r"^STFT: \S+ Inferred shape and existing", "`onesided` is 1 by default; onnx takes 0"),
    Explained(MISSED, r"^Scan: .*outputs should all be tensors|^Loop: .*scan outputs should all be tensors", "TODO"),
    Explained(
        MISSED,
        r"Inferred shape and existing shape differ in dimension \d: \(0\)|^\w+: \S+ Incompatible dimensions",
        "onnx takes 0 for what it does not know: labels of LinearClassifier, keys of Attention",
    ),
    Explained(MISSED, "instead is null", "onnx knows no type of what Gradient and its own functions make"),
)

_OPERANDS = (
    "(incompatible-operand-shapes|impossible-operator-extent|unsupported-operand-value|impossible-attribute-value"
    "|unsupported-combination|mismatched-subgraph-shape|mismatched-operand-type|unsupported-attribute-value"
    "|missing-operator-attribute|operator-arity)"
)

_OF_RUNTIMES = (
    Explained(FALSE_ALARM, r"\[onnx refuses the model as well\]", "onnx refuses the model as well"),
    Explained(
        FALSE_ALARM,
        f"^{_OPERANDS} {_REFERENCE}",
        "the reference evaluator computes with numpy, and compares operands with the text in few operators only",
    ),
    Explained(FALSE_ALARM, "^contradictory-declared-shape ", "the runtimes do not look at what is declared, or only warn"),
    Explained(FALSE_ALARM, "^mismatched-subgraph-shape ", "ONNX Runtime looks at no shape that a subgraph declares"),
    Explained(FALSE_ALARM, "^untyped-graph-value ", "the runtimes infer the type of a graph output"),
)

_OF_VALUES = (
    Explained(OTHER_SHAPE, rf"^NonZero .*{_ONNXRUNTIME}", "of a scalar the text has (0, N), ONNX Runtime has (1, N)"),
    Explained(
        OTHER_SHAPE, r"^(MaxPool|AveragePool|LpPool) .*\[onnxruntime\]$",
        "with dilations and SAME the text has ceil(input / stride); ONNX Runtime forgets the dilations",
    ),
    Explained(OTHER_SHAPE, r"^Loop of .*\(0,.*ran: \(0,", "of a Loop that never runs no runtime knows what it would have made"),
    Explained(OTHER_SHAPE, rf"^Loop of {_REFERENCE}", "the reference evaluator joins scan outputs in place of stacking them"),
    Explained(OTHER_SHAPE, rf"^(LpNormalization|GlobalMaxPool|StringNormalizer|ReduceL.*|Arg\w+) {_REFERENCE}", "the reference evaluator is wrong"),
    Explained(OTHER_SHAPE, r"^Reduce\w+ as", "of `noop_with_empty_axes` other than 0 and 1 the text says nothing"),
    Explained(OTHER_TYPE, _REFERENCE, "numpy decides the types of the reference evaluator"),
)

EXPLAINED: tuple[Explained, ...] = (*_OF_ONNX, *_OF_RUNTIMES, *_OF_VALUES)


def explanation(kind: str, line: str) -> Explained | None:
    """What explains a contradiction; None where nothing does."""
    return next((each for each in EXPLAINED if each.covers(kind, line)), None)
