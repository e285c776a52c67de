# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that shift and scale a tensor by its mean and variance."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "BatchNormalization":
            yield case((2, 3, 4, 5), (3,), (3,), (3,), (3,), **({"is_test": 1} if version < 7 else {}))
            yield case(("N", "C"), (3,), (3,), (3,), (3,), **({"is_test": 1} if version < 7 else {}))
            if version >= 14:
                yield case((2, 3, 4), (3,), (3,), (3,), (3,), outputs=3, training_mode=1)
            elif version < 14:
                yield case((2, 3, 4), (3,), (3,), (3,), (3,), outputs=5)
        case "GroupNormalization":
            count = 2 if version < 21 else 4
            yield case((2, 4, 5), (count,), (count,), num_groups=2)
        case "InstanceNormalization":
            yield case((2, 3, 4, 5), (3,), (3,))
            yield case(("N", "C", 4), (3,), (3,))
        case "LRN":
            yield case((1, 5, 5, 5), size=3)
        case "LayerNormalization":
            yield case((2, 3, 4), (4,), (4,), outputs=3)
            yield case((2, 3, "N"), (3, 1), axis=1)
        case "RMSNormalization":
            yield case((2, 3, 4), (4,))
            yield case((2, 3, "N"), (3, 1), axis=1)
        case "MeanVarianceNormalization":
            yield case((2, 3, 4, 5))
            if version >= 9:
                yield case((2, 3, 4, 5), axes=(0, 2))


_OLD = "BatchNormalization-1 BatchNormalization-6 BatchNormalization-7 BatchNormalization-9"
_OTHERS = "GroupNormalization InstanceNormalization LayerNormalization RMSNormalization"

EXPLAINED = (
    *of_operands(
        _OLD,
        dict.fromkeys((1, 2, 3, 4), "a number for each channel; until version 13 onnx compares few or none of them"),
    ),
    Explained("BatchNormalization", "onnx: .*number of op outputs", "which outputs are computed is for another rule"),
    *of_operands(
        _OTHERS, dict.fromkeys((1, 2), "scale and bias as the descriptions shape them; onnx compares nothing")
    ),
    Explained("LayerNormalization RMSNormalization", r"onnx-lint: AxisOutOfRange\(.*'axis'", "an axis of the input"),
    Explained("GroupNormalization", r"onnx-lint: WrongValue\(.*'num_groups'.*at least 1", "there are groups"),
    Explained("GroupNormalization", r"onnx-lint: Indivisible\(place=InputDimension\(operand=0, axis=1", "equal groups"),
    Explained("MeanVarianceNormalization", "onnx-lint: AxisOutOfRange", "the axes are those of the input"),
    Explained("MeanVarianceNormalization-13", "onnx: ", "the function body that onnx has for it is not well formed"),
)
