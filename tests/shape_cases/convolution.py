# SPDX-License-Identifier: Apache-2.0
"""Cases of convolutions."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


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

EXPLAINED = (
    Explained("ConvInteger QLinearConv", r"onnx-lint: NotOneElement\(operand=[1267]", "a scalar; onnx does not look"),
    Explained(_ALL, r"output 0: onnx \(.*-[0-9]", "no size is negative; of an empty input nothing is known here"),
    Explained(
        f"{_CONV} DeformConv", r"output 0: onnx \([1'N]+, 6, [01], ", "of an empty input that is padded onnx rounds up"
    ),
    Explained("Conv", r"output 0: onnx \([1'N]+, 6, 0\)", "of an empty input onnx rounds up"),
    *of_operands(
        "Conv ConvInteger ConvTranspose",
        {
            0: "channels are those of the weights in each group; onnx compares nothing",
            1: "weights have the rank of the input and the sizes of kernel_shape; onnx compares nothing",
            2: "a bias for each output, a scalar zero point; onnx compares nothing",
        },
    ),
    *of_operands("ConvInteger", {3: "a zero point for each output; onnx compares nothing"}),
    *of_operands(
        "QLinearConv",
        {
            0: "channels are those of the weights in each group; onnx compares nothing",
            4: "a scale for each output; onnx compares nothing",
            5: "a zero point for each output; onnx compares nothing",
            8: "a bias for each output; onnx compares nothing",
        },
    ),
    *of_operands(
        "DeformConv",
        {
            0: "channels are those of the weights in each group; onnx compares nothing",
            2: "offsets for each element of the kernel and each place; onnx compares nothing",
            3: "a bias for each output; onnx compares nothing",
            4: "a mask for each element of the kernel and each place; onnx compares nothing",
        },
    ),
    Explained(
        _ALL, r"onnx-lint: Indivisible\(.*by=Element\(source='(group|offset_group)'", "equal groups; onnx rounds"
    ),
    Explained(
        _ALL, r"onnx-lint: WrongValue\(.*source='(group|offset_group)'.*at least 1", "there are groups; onnx divides"
    ),
    Explained(_ALL, r"onnx-lint: WrongValue\(.*source='pads'.*pads remove", "a size is not negative; onnx gives one"),
    Explained(
        "ConvTranspose",
        r"onnx-lint: WrongValue\(.*source='output_padding'",
        "less than the stride or the dilation; onnx does not look",
    ),
    Explained("ConvTranspose", r"output 0: onnx \(1, 6\)", "onnx stops at an output_shape smaller than the input"),
    Explained(
        "ConvTranspose",
        r"onnx-lint \(1, 6, None\)$",
        "SAME is input * stride by the description, which needs a larger kernel",
    ),
)
