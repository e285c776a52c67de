# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that put tensors together along an axis, or take one apart."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Concat":
            yield case((2, 3, 4), (2, 5, 4), axis=1)
            yield case(("N", 3), ("N", 3), ("N", 3), axis=-1 if version >= 11 else 1)
            yield case((2, 3), axis=0)
            yield case((2, 3), (4, 3), ("M", 3), axis=0)
        case "Split":
            counted = {"num_outputs": 2} if version >= 18 else {}
            yield case((6, 4), axis=0, outputs=2, **counted)
            yield case((6, "N"), axis=1, outputs=2, **counted)
            if version >= 18:
                yield case((7, 4), outputs=3, num_outputs=3)
                yield case((2, 4), outputs=4, num_outputs=4)
            if version >= 13:
                yield case((6, 4), constant(2, 4), outputs=2)
                yield case((6, 4), Operand((2,)), outputs=2)
            else:
                yield case((6, 4), split=(2, 4), outputs=2)
                yield case((6, 4), split=(1, 2, 1), axis=1, outputs=3)


def crashes_onnx(operator: str, made: Case) -> bool:
    """Split: onnx writes beyond the outputs that there are."""
    return operator == "Split" and made.attributes.get("num_outputs", made.outputs) != made.outputs


_LEFT_OUT = "runtimes leave out an empty operand, so the shape rule only warns; the walk decides what is an error"
EXPLAINED = (
    *of_operands("Concat-1", dict.fromkeys((1, 2), "the other dimensions agree; onnx has no inference for version 1")),
    Explained("Concat-1 Split-1", r"onnx-lint: AxisOutOfRange\(.*'axis'", "an axis of the input; onnx does not look"),
    Explained("Split-1", r"onnx-lint: WrongValue\(.*'split'", "sizes that add up; onnx has no inference for version 1"),
    Explained("Split-1", r"onnx-lint: WrongCount\(source='split'", "a size for each output; onnx does not count them"),
    Explained(
        "Split-1", r"onnx-lint: Indivisible\(place=InputDimension.*operand=0", "equal parts; onnx has no inference"
    ),
    Explained("Concat-4", "onnx-lint: ", "onnx infers nothing where the axis is negative"),
    Explained("Concat", r"onnx: .*Can't merge shape info.*(Inferred|Declared)=0 ", _LEFT_OUT),
    Explained("Concat", r"output 0: onnx \(0, .*\), onnx-lint \('N', ", _LEFT_OUT),
    Explained("Split", r"onnx-lint: WrongRank\(operand=1", "of rank 1 by the description"),
    Explained("Split", r"onnx-lint: WrongCount\(source=1", "onnx counts constants only"),
    Explained("Split-18", "onnx: .*Neither", "that one of both is needed is for another rule"),
    Explained("Split-18", "output [0-9]: onnx", "the last part would be negative, and onnx hands that on"),
)
