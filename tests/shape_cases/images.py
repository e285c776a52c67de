# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that take samples from images, lay grids over them, or put them together from blocks."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "AffineGrid":
            yield case((2, 2, 3), constant(2, 3, 6, 7))
            yield case((2, 3, 4), constant(2, 3, 5, 6, 7))
            yield case(("N", 2, 3), Operand((4,)))
            yield case(("N", 3, 4), Operand((None,)))
        case "Col2Im":
            yield case((1, 10, 5), constant(5, 5), constant(1, 5))
            yield case((1, 10, 16), constant(5, 5), constant(2, 2))
            yield case((2, 10, 12), constant(8, 7), constant(2, 5), strides=(2, 1), pads=(1, 1, 0, 1), dilations=(2, 1))
            yield case(("N", 12, "L"), constant(4, 5, 6), constant(1, 2, 3))
            yield case((1, 10, 5), Operand((2,)), Operand((2,)))
        case "GridSample":
            yield case((2, 3, 4, 5), (2, 6, 7, 2))
            yield case(("N", "C", 4, 5), ("N", "H", "W", 2))
            if schema.since_version >= 20:
                yield case((2, 3, 4, 5, 6), (2, 7, 8, 9, 3))
                yield case((2, 3, 4), (2, 5, 1))
        case "ImageDecoder":
            yield case((100,))
            yield case(("N",), pixel_format="Grayscale")
        case "MaxRoiPool":
            yield case((1, 3, 9, 8), (6, 5), pooled_shape=(2, 3))
            yield case(("N", "C", 9, 8), ("R", 5), pooled_shape=(1, 1))
        case "RoiAlign":
            yield case((1, 3, 9, 8), (6, 4), (6,), output_height=2, output_width=3)
            yield case(("N", "C", 9, 8), ("R", 4), (None,))


EXPLAINED = (
    Explained(
        "AffineGrid", r"onnx-lint: (Unequal|WrongRank)\(.*operand=0", "[N, 2, 3] or [N, 3, 4]; onnx does not look"
    ),
    Explained("AffineGrid", r"onnx-lint: .*source=1, value=-?[0-9]+, .*at least 1", "an image has elements"),
    Explained(
        "Col2Im", r"onnx-lint: .*source=[12], value=-?[0-9]+, .*at least [01]", "no size is negative, no block is 0"
    ),
    Explained("Col2Im", r"onnx-lint: .*axis=1, .*divisor=", "C * elements of a block; onnx rounds down"),
    Explained("Col2Im", r"onnx-lint: Unequal\(.*operand=0, axis=2", "L is the number of blocks; onnx does not look"),
    Explained("Col2Im", "onnx-lint: .*the padded image has", "no block fits into the image"),
    Explained("Col2Im", "onnx-lint: .*'(strides|pads|dilations)'.*at least [01]", "onnx does not look at the numbers"),
    Explained("MaxRoiPool RoiAlign", r"onnx-lint: Unequal\(.*operand=1, axis=1", "4 or 5 numbers; onnx does not look"),
    Explained("MaxRoiPool RoiAlign", "onnx-lint: .*'(pooled_shape|output_[a-z]+)'.*at least 1", "no size is negative"),
)
