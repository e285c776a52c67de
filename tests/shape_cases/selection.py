# SPDX-License-Identifier: Apache-2.0
"""Cases of operators whose result has as many elements as fulfil something, or as are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case, constant, scalar
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Compress":
            yield case((3, 4), (3,), axis=0)
            yield case((3, 4), (2,), axis=1)
            yield case((3, 4), (12,))
            yield case((), (1,))
            yield case((3, "N"), constant(1, 0, 1, kind="tensor(bool)"), axis=0)
            yield case((3, "N"), constant(1, 0, kind="tensor(bool)"))
        case "NonMaxSuppression":
            yield case((1, 6, 4), (1, 2, 6), scalar(3), scalar(0.5), scalar(0.0))
            yield case((1, 6, 4), (1, 2, 6))
            yield case(("N", "S", 4), ("N", 1, "S"), (1,), (1,), (1,))
        case "NonZero":
            yield case((3, 4))
            yield case(())
            yield case(("N",))
        case "OneHot":
            yield case((2, 3), scalar(5), (2,))
            yield case((2, "N"), constant(5), constant(0.0, 1.0), axis=0)
            yield case((2, 3), (), (2,), axis=1)
            yield case((), scalar(5), (2,))
            yield case((2, 3), scalar(5.0), (2,), axis=-2)
        case "TopK":
            if version < 10:
                yield case((3, 4), outputs=2, k=2)
                yield case((3, "N"), outputs=2, k=3, axis=0)
            else:
                yield case((3, 4), constant(2), outputs=2)
                yield case((3, "N"), constant(3), outputs=2, axis=0)
                yield case((3, 4), (1,), outputs=2, axis=1)
        case "Unique":
            yield case((3, 4), outputs=4)
            yield case((3, 4), outputs=4, axis=1)
            yield case(("N", 4), outputs=2, axis=-2)


EXPLAINED = (
    Explained("Compress-9", "onnx-lint: AxisOutOfRange", "an axis of the input; onnx does not look"),
    *of_operands(
        "NonMaxSuppression",
        {
            0: "boxes are of shape [batches, places, 4]; onnx does not look",
            1: "scores are of shape [batches, classes, places]; onnx does not look",
        },
    ),
    Explained("OneHot", r"onnx-lint: (WrongRank|NotOneElement)\(operand=1", "exactly one element"),
    Explained("NonMaxSuppression", r"onnx-lint: NotOneElement\(operand=[234]", "a scalar; onnx does not look"),
    Explained("NonMaxSuppression", r"onnx-lint: WrongValue\(.*'the range is 0 to 1'", "0 to 1; onnx does not look"),
    Explained("TopK-1", "onnx-lint: .*elements along the axis", "onnx looks from version 10 on"),
    Explained("TopK", "onnx-lint: .*at least 1", "a positive number"),
    Explained("TopK", r"onnx-lint: (WrongRank\(operand|WrongCount\(source)=1", "onnx looks at constants only"),
)
