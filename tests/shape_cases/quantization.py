# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that turn numbers into small integers and back."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    if schema.name == "DynamicQuantizeLinear":
        yield case((2, "N", 3), outputs=3)
        return
    yield case((2, 3, "N"), (), ())
    yield case((2, 3, "N"), ())
    if schema.since_version >= 13:
        yield case((2, 3, 4), (3,), (3,), axis=1)
        yield case((2, 3, 4), (4,), axis=-1)
        yield case((2, 3, 4), (1,), (1,))
    if schema.since_version >= 21:
        yield case((2, 6, 4), (2, 3, 4), (2, 3, 4), axis=1, block_size=2)
        yield case((2, "N", 4), (2, 3, 4), axis=1, block_size=2)


_BOTH = "DequantizeLinear QuantizeLinear"

EXPLAINED = (
    *of_operands(
        _BOTH,
        {
            1: "a scale for all, for each index of the axis or for each block; onnx compares nothing",
            2: "a zero point for each scale; onnx compares nothing",
        },
    ),
    Explained(_BOTH, r"onnx-lint: AxisOutOfRange\(.*'axis'", "the axis is one of the input; onnx does not look"),
    Explained(_BOTH, "onnx-lint: .*'block_size'.*at least 0", "blocks have elements; onnx does not look"),
)
