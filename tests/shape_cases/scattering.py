# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that write elements into a copy of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Scatter" | "ScatterElements":
            yield case((3, 4), (2, 4), (2, 4), axis=0)
            yield case(("N", 5), (1, 2), (1, 2), axis=1)
        case "ScatterND":
            yield case((8,), (4, 1), (4,))
            yield case((4, 5, 6), (2, 1), (2, 5, 6))
            yield case((4, 5, 6), (2, 7, 2), (2, 7, 6))
            yield case(("N", 5), ("K", 2), ("K",))
        case "TensorScatter":
            yield case((2, 3, 8, 5), (2, 3, 4, 5), (2,))
            yield case((2, 8, 5), (2, 1, 5), axis=1, mode="circular")
            yield case(("N", 3, "S", 5), ("N", 3, "T", 5), ("N",), axis=2)


EXPLAINED = (
    Explained("Scatter ScatterElements", "onnx-lint: (WrongRank|Unequal)", "of one rank, updates shaped as indices"),
    Explained("Scatter ScatterElements", "onnx-lint: AxisOutOfRange", "an axis of the data; onnx does not look"),
    Explained(
        "ScatterND", "onnx-lint: (WrongRank|Unequal)", "the description gives ranks, and the shape of the updates"
    ),
    Explained("TensorScatter", "onnx-lint: Unequal", "the sequence fits into the cache, in both modes"),
)
