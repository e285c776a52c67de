# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that put a border around a tensor, or move blocks of it between channels and space."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant, scalar
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Pad":
            yield from _of_pad(version)
        case "DepthToSpace":
            yield case((2, 12, 3, 5), blocksize=2)
            yield case(("N", "C", "H", 5), blocksize=1)
        case "SpaceToDepth":
            yield case((2, 3, 4, 6), blocksize=2)
            yield case(("N", "C", "H", 6), blocksize=1)


def _of_pad(version: int) -> Iterator[Case]:
    if version < 11:
        name = "paddings" if version == 1 else "pads"
        yield case((3, "N"), **{name: (0, 2, 4, 0)})
        yield case((3,), mode="reflect", **{name: (1, -1)})
        return
    yield case((3, "N"), constant(0, 2, 4, 0))
    yield case((3, 4), constant(0, 2, -1, 0), scalar(0.0))
    yield case((3, 4), Operand((4,)), mode="edge")
    yield case((3, 4), (1, 4))
    if version >= 18:
        yield case((3, 4, 5), constant(1, 2, 3, 4), None, constant(2, 0))
        yield case((3, 4, 5), constant(1, 2), None, constant(-1))
        yield case((3, 4, 5), constant(1, 2), None, Operand((1,)))


EXPLAINED = (
    Explained("Pad-1", r"onnx-lint: WrongCount\(source='paddings'", "twice as many as dimensions; onnx infers nothing"),
    Explained("Pad", "onnx-lint: .*has only", "a dimension has no negative size; onnx sets one or looks at none"),
    Explained("Pad", r"onnx-lint: WrongCount\(source=1", "onnx counts constants only"),
    Explained("Pad", r"onnx-lint: WrongRank\(operand=[123]", "of rank 1, a scalar; onnx looks at constants only"),
    Explained("Pad", "onnx: .*Pads has incorrect number", "onnx takes unknown axes for all"),
    Explained("DepthToSpace SpaceToDepth", "onnx-lint: Indivisible", "divided in the shape that the description gives"),
)
