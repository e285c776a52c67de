# SPDX-License-Identifier: Apache-2.0
"""Cases of operators whose output has the shape of the first input."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs
from onnx import TensorProto

from shape_cases.case import Case, case, scalar
from shape_cases.comparison import Explained

_TWO_OUTPUTS = ("Dropout",)


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Cast":
            to = "FLOAT" if version < 6 else TensorProto.FLOAT
            yield case((2, "N", None), to=to)
        case "BitCast":
            yield case((2, "N", None), to=TensorProto.FLOAT)
        case "CastLike":
            yield case((2, 3), (4,))
        case "Clip" if version >= 11:
            yield case((2, 3), scalar(0.0), scalar(1.0))
            yield case((2, 3), (), ())
        case "Dropout" if version >= 12:
            yield case((2, 3), scalar(0.5), scalar(1), outputs=2)
            yield case((2, "N"), (), ())
        case "Hardmax" | "LogSoftmax" | "Softmax":
            yield case((2, 3, 4))
            for axis in (0, 1, 2):
                yield case((2, 3, 4), axis=axis)
        case _:
            outputs = 2 if schema.name in _TWO_OUTPUTS else 1
            yield case((2, "N", None), outputs=outputs)
            yield case((), outputs=outputs)
            yield case((0,), outputs=outputs)


EXPLAINED = (
    Explained("Dropout", "onnx-lint: .*at least 0 and below 1", "a ratio is below 1; onnx does not look"),
    Explained("LpNormalization", "onnx-lint: AxisOutOfRange", "an axis of the input; onnx does not look"),
    Explained(
        "Clip",
        r"onnx-lint: (WrongRank|NotOneElement)\(operand=[12]",
        "the bounds are scalars by the description; onnx takes any",
    ),
    Explained("Hardmax-1 LogSoftmax-1 Softmax-1", r"onnx-lint: AxisOutOfRange", "onnx looks at the upper bound only"),
)
