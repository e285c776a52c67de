# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that take parts of a tensor by indices."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant, scalar
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Gather":
            yield case((5, "N", 7), (2, 3), axis=0)
            yield case((5, 6, 7), (), axis=2)
            yield case((5, 6), scalar(3), axis=1)
            yield case((5, 6), constant(0, 4))
        case "GatherElements":
            yield case((2, 3), (2, 4), axis=1)
            yield case(("N", 3), (5, 3))
            yield case((2, 3), Operand((2, 2), (0, 1, 2, -3)), axis=1)
        case "GatherND":
            yield case((2, 3, 4), (5, 2))
            yield case((2, 3), (6, 2))
            yield case((2, 3), Operand((3, 2), (0, 0, 1, 2, -2, -3)))
            if version >= 12:
                yield case((2, 3, 4), (2, 6, 1), batch_dims=1)
        case "Slice":
            if version < 10:
                yield case((20, 10, 5), starts=(0, 1), ends=(3, 10), axes=(0, 2))
                yield case((20, 10, 5), starts=(1,), ends=(-1,))
                yield case(("N", 10), starts=(0, 0), ends=(2**31 - 1, 5))
            else:
                yield case((20, 10, 5), constant(0, 1), constant(3, 10), constant(0, 2))
                yield case((20, 10, 5), constant(1), constant(-1))
                yield case((20, 10, 5), constant(8, 3), constant(1, -9), constant(0, 1), constant(-2, -1))
                yield case(("N", 10), constant(0, 0), constant(2**31 - 1, 5), constant(0, -1))
                yield case((20, 10, 5), Operand((2,)), Operand((2,)), constant(0, 1), Operand((2,)))
                yield case((20, 10, 5), constant(1), constant(9), Operand((1,)))


def crashes_onnx(operator: str, made: Case) -> bool:
    """GatherND: onnx reads dimensions before the first one, or after the last."""
    return operator == "GatherND" and not 0 <= int(made.attributes.get("batch_dims", 0)) <= 2


EXPLAINED = (
    Explained(
        "Gather", "onnx-lint: .*elements along the axis", "all indices are within the bounds, says the description"
    ),
    *of_operands(
        "GatherElements",
        {1: "of the rank of the data; onnx does not look"},
    ),
    Explained("GatherElements", r"onnx-lint: AxisOutOfRange\(.*'axis'", "an axis of the data; onnx looks at none"),
    *of_operands("GatherND", {1: "the batch is that of the data, and 1 axis at least is indexed"}, "Unequal"),
    Explained(
        "GatherElements GatherND",
        r"onnx-lint: WrongValue\(.*source=1.*elements along the axis",
        "an index out of bounds is an error by the description; onnx looks at none",
    ),
    Explained("Slice-1", r"onnx-lint: AxisOutOfRange\(.*'axes'", "an axis of the data; onnx leaves wrong ones out"),
    Explained("Slice-1", r"onnx-lint: WrongCount\(source='(starts|ends|axes)'", "lists in step; onnx gives up instead"),
    Explained("Slice-1", r"onnx-lint: Repeated\(.*'axes'", "each axis once; onnx takes the last"),
    Explained("Slice-10", "output 0: onnx .*'", "onnx keeps the variable of a dimension that is cut"),
    Explained("Slice", r"onnx-lint: WrongRank\(operand=[1234]", "all are of rank 1; onnx looks at constants only"),
    Explained("Slice", r"onnx-lint: WrongCount\(source=[234]", "onnx counts constants only"),
    Explained("Slice", r"onnx-lint: (AxisOutOfRange|Repeated)\(.*source=3", "onnx looks at axes beside constants only"),
    Explained("Slice", r"output 0: onnx \(8, 10, 5\), onnx-lint \(None", "onnx takes unknown axes for none"),
)
