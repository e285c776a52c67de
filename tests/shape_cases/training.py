# SPDX-License-Identifier: Apache-2.0
"""Cases of steps of training."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained

_MOMENTUM = {"norm_coefficient": 0.0, "beta": 0.5, "alpha": 0.5, "mode": "standard"}


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Gradient":
            yield case((2, "N"), (3,), (4,), outputs=2, xs=("a", "b"), zs=("c",), y="d")
        case "Adam":
            yield case((), (), *[(2, "N")] * 4, outputs=3)
            yield case((), (), *[(2, "N"), (3,)] * 4, outputs=6)
        case name:
            attributes = _MOMENTUM if name == "Momentum" else {}
            yield case((), (), *[(2, "N")] * 3, outputs=2, **attributes)
            yield case((), (), *[(2, "N"), (3,)] * 3, outputs=4, **attributes)


_ALL = "Adagrad Adam Momentum"

EXPLAINED = (
    Explained(
        "Gradient",
        r"onnx-lint: WrongValue\(place=Element\(source='xs'",
        "one input for each tensor of xs and zs; onnx does not look",
    ),
    Explained(_ALL, r"onnx-lint: NotOneElement\(operand=1,", "the number of updates is a scalar; onnx does not look"),
    Explained(
        "Adagrad", r"onnx-lint: NotOneElement\(operand=0,", "R over a number is a scalar factor; onnx does not look"
    ),
    Explained(_ALL, r"onnx-lint: (NotBroadcast\([^;]*(; )?)+$", "the pseudo code broadcasts; onnx compares nothing"),
    Explained(_ALL, r"output \d: onnx .*, onnx-lint \(", "the pseudo code broadcasts; onnx repeats the input's shape"),
)
