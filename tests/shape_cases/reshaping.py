# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that give a tensor another shape."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained

_TARGETS = ((6, 4), (4, -1), (0, 0, -1), (0, -1), (-1,), (24, 1, 1), (2, 0, 0, 2))


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Expand":
            yield case((2, 1, 3), constant(4, 1))
            yield case((3, 1), constant(2, 1, 6))
            yield case(("N", 3), constant(1, 1))
            yield case((2, 3), Operand((3,)))
        case "Flatten":
            yield case((2, 3, 4))
            for axis in (0, 1, 3):
                yield case((2, 3, 4), axis=axis)
            yield case(("N", 3, 4), axis=2)
        case "Reshape":
            for target in _TARGETS:
                if version >= 5:
                    yield case((2, 3, 4), constant(*target))
                    yield case(("N", 3, 4), constant(*target))
                else:
                    yield case((2, 3, 4), shape=target)
            if version >= 14:
                yield case((0, 3), constant(3, 0), allowzero=1)
                yield case((2, 3), constant(3, 2), allowzero=1)
            if version >= 5:
                yield case((2, 3, 4), Operand((2,)))
                yield case((0, 3), constant(0, 5, -1))
        case "Shape":
            yield case((2, "N", None))
            if version >= 15:
                yield case((2, 3, 4), start=1)
                yield case((2, 3, 4), start=-2, end=-1)
        case "Size":
            yield case((2, 3))
        case "Squeeze" | "Unsqueeze":
            for axes in ((0,), (1, 2), (2,)) if schema.name == "Unsqueeze" else ((0,), (0, 2), (2,)):
                if version >= 13:
                    yield case((1, 3, 1), constant(*axes))
                else:
                    yield case((1, 3, 1), axes=axes)
            if version >= 13:
                yield case((1, 3, 1), Operand((1,)))
            if schema.name == "Squeeze":
                yield case((1, 3, 1))
        case "Tile":
            if version >= 6:
                yield case((2, "N", 3), constant(1, 1, 2))
                yield case((2, 3), Operand((2,)))
            else:
                yield case((2, 3), (), ())
        case "Transpose":
            yield case((2, 3, "N"))
            yield case((2, 3, "N"), perm=(1, 2, 0))


EXPLAINED = (
    Explained("Expand", "onnx-lint: .*at least 0", "a size cannot be negative; onnx hands it on"),
    Explained("Expand", "onnx: .*must be 1D tensor", "a constant may have any rank, and rules do not see what is one"),
    Explained("Tile-1", r"onnx-lint: NotOneElement\(operand=[12]", "one number; onnx has no inference for version 1"),
    Explained(
        "Squeeze-1 Unsqueeze-1", r"onnx-lint: AxisOutOfRange\(.*'axes'", "an axis of the data; onnx does not look"
    ),
    Explained("Squeeze-1 Unsqueeze-1", r"onnx-lint: Repeated\(.*'axes'", "each axis once; onnx does not look"),
    Explained("Reshape-1", r"onnx-lint: WrongValue\(.*source='shape'", "onnx has no inference for version 1"),
    Explained("Reshape", "onnx-lint: .*has [0-9]+ element", "onnx compares the numbers of elements with -1 only"),
    Explained("Reshape Squeeze Unsqueeze Tile", r"onnx-lint: WrongRank\(operand=[12]", "onnx looks at constants only"),
    Explained("Squeeze-11", "onnx-lint: AxisOutOfRange", "onnx looks at no axis"),
    Explained("Tile", r"onnx-lint: WrongCount\(source=1", "onnx counts the repeats of constants only"),
    Explained("Transpose", r"onnx-lint: WrongCount\(source='perm'", "onnx takes a perm that is too short"),
)
