# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that make one number of those along axes."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    if schema.name in ("ArgMax", "ArgMin"):
        yield case((2, 3, "N"))
        yield case((2, 3, "N"), axis=1, keepdims=0)
        return
    yield case((2, 3, "N"))
    yield case((2, 3, "N"), keepdims=0)
    if "axes" in schema.attributes:
        yield case((2, 3, "N"), axes=(0, 2))
        yield case((2, 3, "N"), axes=(1,), keepdims=0)
    else:
        yield case((2, 3, "N"), constant(0, 2))
        yield case((2, 3, "N"), constant(1), keepdims=0)
        yield case((2, 3, 4), constant(), noop_with_empty_axes=1)
        yield case((2, 3, 4), Operand((2,)))
        yield case((2, 3, 4), Operand((2,)), keepdims=0)


_REDUCE = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum"
_ALL = f"ArgMax ArgMin ReduceSumSquare {_REDUCE}"

EXPLAINED = (
    Explained(_ALL, r"onnx-lint: AxisOutOfRange\(.*source='ax", "the axes are those of the input; onnx looks at few"),
    Explained(
        _ALL, r"onnx-lint: WrongRank\(operand=1, rank=[02]", "the axes are of rank 1; onnx looks at constants only"
    ),
)
