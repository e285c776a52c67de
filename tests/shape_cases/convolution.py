# SPDX-License-Identifier: Apache-2.0
"""Cases of convolutions."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Conv":
            yield case((1, 4, 9, 8), (6, 4, 3, 2), (6,))
            yield case((1, 4, 9, 8), (6, 2, 3, 2), group=2, strides=(2, 3), pads=(1, 0, 1, 2), dilations=(2, 1))
            yield case((1, 4, 9), (6, 4, 3), kernel_shape=(3,), auto_pad="SAME_UPPER", strides=(2,))
            yield case((1, 4, 9), (6, 4, 3), auto_pad="VALID", strides=(2,))
            yield case(("N", 4, "W"), (6, 4, 1))
        case "ConvInteger":
            yield case((1, 4, 9, 8), (6, 4, 3, 2))
            yield case((1, 4, 9, 8), (6, 2, 3, 2), (), (6,), group=2, strides=(2, 3), pads=(1, 0, 1, 2))
        case "QLinearConv":
            yield case((1, 4, 9, 8), (), (), (6, 4, 3, 2), (), (), (), (), (6,))
            yield case((1, 4, 9, 8), (), (), (6, 4, 3, 2), (6,), (6,), (1,), ())
        case "ConvTranspose":
            yield case((1, 4, 9, 8), (4, 6, 3, 2), (6,))
            yield case((1, 4, 9, 8), (4, 3, 3, 2), group=2, strides=(2, 3), pads=(1, 0, 1, 2), dilations=(2, 1))
            yield case((1, 4, 9), (4, 6, 3), strides=(2,), output_padding=(1,))
            yield case((1, 4, 9), (4, 6, 3), strides=(2,), output_shape=(18,))
            yield case((1, 4, 9), (4, 6, 3), strides=(2,), auto_pad="SAME_UPPER")
        case "DeformConv":
            yield case((1, 4, 9, 8), (6, 4, 3, 2), (1, 12, 7, 7), (6,), (1, 6, 7, 7))
            yield case(
                (1, 4, 9, 8), (6, 2, 3, 2), (1, 24, 4, 9), group=2, offset_group=2, strides=(2, 1), pads=(0, 1, 0, 1)
            )
            yield case((2, 4, 9), (6, 4, 3), (2, 3, 7), None, (2, 3, 7))


_CONV = "Conv ConvInteger QLinearConv"
_ALL = f"{_CONV} ConvTranspose DeformConv"
_OF_GROUPS = r"onnx-lint: (Unequal|Indivisible|WrongRank|WrongValue)\("

EXPLAINED = (
    Explained(_ALL, r"output 0: onnx \(.*-[0-9]", "no size is negative; of an empty input nothing is known here"),
    Explained(
        f"{_CONV} DeformConv", r"output 0: onnx \([1'N]+, 6, [01], ", "of an empty input that is padded onnx rounds up"
    ),
    Explained("Conv", r"output 0: onnx \([1'N]+, 6, 0\)", "of an empty input onnx rounds up"),
    Explained(_ALL, "onnx: .*Attribute [a-z_]+ has incorrect size", "an empty list is as good as none"),
    Explained(_ALL, _OF_GROUPS, "channels, groups, bias, kernel_shape fit by the description; onnx compares nothing"),
    Explained("ConvTranspose", r"output 0: onnx \(1, 6\)", "onnx stops at an output_shape smaller than the input"),
    Explained(
        "ConvTranspose",
        r"onnx-lint \(1, 6, None\)$",
        "SAME is input * stride by the description, which needs a larger kernel",
    ),
)
