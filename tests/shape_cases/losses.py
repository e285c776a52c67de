# SPDX-License-Identifier: Apache-2.0
"""Cases of losses."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    outputs = len(schema.outputs)
    for reduction in ("none", "mean", "sum"):
        yield case((3, 5), (3,), (5,), outputs=outputs, reduction=reduction)
    yield case((3, 5, 2, 4), (3, 2, 4), outputs=outputs, reduction="none", ignore_index=-1)
    yield case(("N", "C", 2), ("N", 2), ("C",), outputs=outputs)


EXPLAINED = (
    *of_operands(
        "SoftmaxCrossEntropyLoss",
        {
            0: "scores have a dimension for the classes; onnx does not look",
            1: "labels have the shape of the scores without the classes; onnx does not look",
            2: "weights of size C; onnx does not look",
        },
    ),
    *of_operands("NegativeLogLikelihoodLoss", {2: "weights of size C; onnx does not look"}, "Unequal"),
)
