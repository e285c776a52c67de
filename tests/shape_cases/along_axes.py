# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that work along an axis, or on matrices, and keep the shape."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case, constant, scalar
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "CumProd" | "CumSum":
            yield case((3, 4), scalar(1))
            yield case(("N", 4), constant(-2), reverse=1)
            yield case((5,), ())
        case "EyeLike":
            yield case((3, 4))
            yield case(("N", "M"))
        case "ReverseSequence":
            yield case((4, 3), (3,))
            yield case((4, 3, 5), (4,), batch_axis=0, time_axis=1)
        case "Trilu":
            yield case((3, 4), scalar(1))
            yield case(("N", 3, 4), ())
            yield case((2, 0, 4), upper=0)


EXPLAINED = (
    Explained(
        "CumProd CumSum",
        "onnx-lint: (AxisOutOfRange|WrongRank|NotOneElement)",
        "the axis is a scalar, and one of the input",
    ),
    Explained("ReverseSequence", "onnx-lint: Unequal", "a length for each sequence of the batch"),
    Explained("ReverseSequence", "onnx-lint: .*this is the batch axis", "onnx does not compare both axes"),
    Explained("Trilu", r"onnx-lint: (WrongRank|NotOneElement)\(operand=1", "a scalar; onnx looks at constants only"),
)
