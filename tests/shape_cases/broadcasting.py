# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that broadcast their inputs."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    if schema.name == "BitShift":
        yield case((2, 3), (3,), direction="LEFT")
    elif schema.name == "Where":
        yield case((2, 1), (3,), (4, 1, 1))
        yield case((), (3,), ("N", 3))
    elif schema.name == "PRelu":
        yield case((2, 3, 4), (3, 1) if schema.since_version >= 7 else (3,))
        yield case((2, "N", 4), (1,))
    elif "broadcast" in schema.attributes:
        yield case((2, 3), (2, 3))
        yield case((2, 3, 4), (3, 4), broadcast=1)
        yield case((2, 3, 4), (3,), broadcast=1, axis=1)
        yield case((2, 3, 4), (), broadcast=1)
    elif schema.inputs[0].option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
        yield case((2, 3))
        yield case((2, 3), (2, 3), (2, 3))
        if schema.since_version >= 8:
            yield case((2, 1, 3), (4, 1), ("N", 1, 1, 1))
    else:
        yield case((2, 3), (2, 3))
        yield case((2, 1, 3), (4, 1))
        yield case((), ("N", 1))
        yield case(("N", 3), ("N", 1))
        yield case(("N", 3), ("M", 3))


_ON_DEMAND = "Add And Div Equal Greater Less Mul Or Pow Sub Xor"
_UNTIL_6 = " ".join(f"{name}-{version}" for name in _ON_DEMAND.split() for version in (1, 6))

EXPLAINED = (
    *of_operands(_UNTIL_6, {1: "until version 6 onnx infers the first shape and compares nothing"}),
    Explained(_UNTIL_6, r"onnx-lint: AxisOutOfRange\(.*source='axis'", "an axis of the first; onnx looks at none"),
    *of_operands(
        "Max-1 Max-6 Mean-1 Mean-6 Min-1 Min-6 Sum-1 Sum-6",
        dict.fromkeys((1, 2), "all inputs are of one shape until version 7, and onnx compares nothing"),
    ),
    *of_operands("PRelu", {1: "the slope is to be broadcast to the input; onnx does not look at it"}),
)
