# SPDX-License-Identifier: Apache-2.0
"""Cases of products of matrices."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Det":
            yield case((3, 3))
            yield case(("N", 2, 2))
        case "Gemm":
            c = (4,) if schema.since_version >= 7 else (2, 4)
            yield case((2, 3), (3, 4), c)
            yield case((3, 2), (4, 3), (2, 4), transA=1, transB=1)
            yield case(("N", 3), (3, "M"), (1, 1), **({} if schema.since_version >= 7 else {"broadcast": 1}))
            yield case((2, 3), (3, 4), (), **({} if schema.since_version >= 7 else {"broadcast": 1}))
            if schema.since_version >= 11:
                yield case((2, 3), (3, 4))
        case "QLinearMatMul":
            yield case((2, 3), (), (), (3, 4), (), (), (), ())
            yield case((5, 2, 3), (), (), (3, 4), (), (), (), ())
        case _:
            if schema.name == "MatMulInteger":
                yield case((2, 3), (3, 4), (2,), (4,))
                yield case((5, 2, 3), (5, 3, 4), (5, 2, 1), (5, 1, 4))
            yield case((2, 3), (3, 4))
            yield case((5, 2, 3), (1, 3, 4))
            yield case((3,), (3,))
            yield case((3,), (6, 3, 4))
            yield case((2, 3), (3,))
            yield case(("N", 1, 2, "K"), (7, "K", 4))


EXPLAINED = (
    *of_operands(
        "MatMulInteger",
        {2: "one zero point, or one for each row", 3: "one, or one for each column; onnx does not look"},
    ),
    *of_operands(
        "QLinearMatMul",
        {
            **dict.fromkeys((1, 2), "one number, or one for each row; onnx does not look"),
            **dict.fromkeys((4, 5), "one number, or one for each column; onnx does not look"),
            7: "a zero point for each scale; onnx does not look",
        },
    ),
    *of_operands("Gemm-1", dict.fromkeys((0, 1), "matrices that fit; onnx has no inference for version 1")),
    *of_operands("Gemm-6 Gemm-7 Gemm-9 Gemm-11", {1: "until version 11 onnx does not compare A and B"}, "Unequal"),
    *of_operands("Gemm", {2: "C is to be broadcast to A * B; onnx does not look"}),
    Explained("Gemm-6", r"output 0: onnx", "with an input of unknown rank onnx takes the shape of C"),
)
