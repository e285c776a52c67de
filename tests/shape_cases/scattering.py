# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that write elements into a copy of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Scatter" | "ScatterElements":
            yield case((3, 4), (2, 4), (2, 4), axis=0)
            yield case(("N", 5), (1, 2), (1, 2), axis=1)
            yield case((5,), constant(0, 4), (2,), axis=0)
            yield case((5, 3), Operand((2, 1), (4, 0)), (2, 1), axis=0)
        case "ScatterND":
            yield case((8,), (4, 1), (4,))
            yield case((4, 5), Operand((3, 2), (0, 0, 3, 4, -4, -5)), (3,))
            yield case((4, 5, 6), (2, 1), (2, 5, 6))
            yield case((4, 5, 6), (2, 7, 2), (2, 7, 6))
            yield case(("N", 5), ("K", 2), ("K",))
        case "TensorScatter":
            yield case((2, 3, 8, 5), (2, 3, 4, 5), (2,))
            yield case((2, 8, 5), (2, 1, 5), axis=1, mode="circular")
            yield case((2, 8, 5), (2, 4, 5), constant(0, 4), axis=1)
            yield case((2, 8, 5), (2, 4, 5), constant(0, 7), axis=1, mode="circular")
            yield case(("N", 3, "S", 5), ("N", 3, "T", 5), ("N",), axis=2)


EXPLAINED = (
    *of_operands(
        "Scatter ScatterElements",
        {
            0: "of rank 1 at least; onnx does not look",
            1: "of the rank of the data; onnx does not look",
            2: "an update for each index; onnx does not look",
        },
    ),
    Explained(
        "Scatter ScatterElements", r"onnx-lint: AxisOutOfRange\(.*'axis'", "an axis of the data; onnx looks at none"
    ),
    Explained(
        "ScatterElements ScatterND",
        r"onnx-lint: WrongValue\(.*source=1.*elements along the axis",
        "an index out of bounds is an error by the description; onnx looks at none",
    ),
    *of_operands(
        "ScatterND",
        {
            0: "of rank 1 at least; onnx does not look",
            1: "an index of no more axes than the data has; onnx does not look",
            2: "the shape of the updates follows from data and indices; onnx does not look",
        },
    ),
    *of_operands(
        "TensorScatter", {0: "the sequence fits into the cache, in both modes; onnx does not look"}, "Unequal"
    ),
    Explained(
        "TensorScatter",
        r"onnx-lint: WrongValue\(.*source=2.*do not fit into",
        "linear: what is written fits; onnx looks not",
    ),
)
