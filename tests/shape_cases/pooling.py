# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that make one number of those in a window, or of all of a channel."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    if schema.name.startswith("Global"):
        yield case(("N", 3, 4, 5))
        yield case((2, 3, "W"))
        return
    if schema.name == "MaxUnpool":
        yield case((1, 3, 4, 5), (1, 3, 4, 5), kernel_shape=(2, 3), strides=(2, 1), pads=(0, 1, 0, 1))
        yield case((1, 3, 4, "W"), (1, 3, 4, "W"), kernel_shape=(2, 3))
        yield case((1, 3, 4, 5), (1, 3, 4, 5), constant(1, 3, 8, 9), kernel_shape=(2, 2), strides=(2, 2))
        yield case((1, 3, 4), (1, 3, 4), Operand((3,)), kernel_shape=(2,))
        return
    outputs = 2 if schema.name == "MaxPool" and schema.since_version >= 8 else 1
    yield case((1, 3, 9, 8), kernel_shape=(3, 2), outputs=outputs)
    yield case((1, 3, 9, 8), kernel_shape=(3, 2), strides=(2, 3), pads=(1, 0, 1, 1))
    yield case((1, 3, 9), kernel_shape=(2,), strides=(2,), auto_pad="SAME_LOWER")
    yield case(("N", 3, "W"), kernel_shape=(1,))
    if "ceil_mode" in schema.attributes:
        yield case((1, 3, 9, 8), kernel_shape=(3, 2), strides=(4, 5), ceil_mode=1)
        yield case((1, 3, 3), kernel_shape=(4,), strides=(3,), ceil_mode=1)
        yield case((1, 3, 2), kernel_shape=(1,), strides=(2,), pads=(0, 1), ceil_mode=1)
    if "dilations" in schema.attributes:
        yield case((1, 3, 9, 8), kernel_shape=(3, 2), dilations=(2, 3))


_POOLS = "AveragePool LpPool MaxPool"

EXPLAINED = (
    Explained(_POOLS, r"output [01]: onnx \(.*-[0-9]", "no size is negative; of an empty input nothing is known here"),
    Explained(_POOLS, r"output [01]: onnx \(.*\), onnx-lint .*None", "onnx counts windows that begin in the padding"),
    Explained(_POOLS, "onnx-lint: .*or_more=True", "the window is larger than the padded input"),
    Explained("AveragePool-22 LpPool-22 MaxPool-22", r"output 0: onnx \(1, 3, 3, 3\)", "ceil_mode is 0 or 1"),
    Explained(
        "MaxUnpool", r"onnx-lint: (Unequal|WrongRank)\(.*operand=1", "as many indices as values; onnx does not look"
    ),
    Explained(
        "MaxUnpool", "onnx-lint: .*'(kernel_shape|strides|pads)'.*(at least [01]|pads remove)", "onnx computes on"
    ),
    Explained("MaxUnpool", r"onnx-lint: .*source=2, value=-.*at least 0", "no size is negative; onnx hands it on"),
    Explained(
        "LpPool-1",
        r"onnx-lint: Wrong(Value|Count)\(.*'(kernel_shape|strides|pads)'",
        "numbers for each axis, no size below 1; onnx has no inference for version 1",
    ),
    *of_operands("LpPool-1", {0: "batch, channels and an axis; onnx has no inference for version 1"}, "WrongRank"),
)
