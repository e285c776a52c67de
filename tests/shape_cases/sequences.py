# SPDX-License-Identifier: Apache-2.0
"""Cases of sequences and optionals."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs
from onnx import TensorProto, helper

from shape_cases.case import Case, Operand, case, constant, scalar
from shape_cases.comparison import Explained

_SEQUENCE = "seq(tensor(float))"


def _sequence(*shape: int | str | None) -> Operand:
    return Operand(shape, kind=_SEQUENCE)


def _optional(*shape: int | str | None) -> Operand:
    return Operand(shape, kind="optional(tensor(float))")


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Optional":
            yield case((2, "N"))
            yield case(_sequence(2, "N", None))
            yield case(type=helper.make_tensor_type_proto(TensorProto.FLOAT, (2, 3)))
            yield case(
                type=helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, (2, None)))
            )
        case "OptionalGetElement" | "OptionalHasElement":
            yield case(_optional(2, "N", None))
            yield case(Operand((2, "N"), kind="optional(seq(tensor(float)))"))
            if schema.since_version >= 18:
                yield case(_sequence(2, "N"))
                yield case((2, "N"))
            if schema.since_version >= 18 and schema.name == "OptionalHasElement":
                yield case()
        case "SequenceEmpty":
            yield case()
            yield case(dtype=TensorProto.INT64)
        case "SequenceConstruct":
            yield case((2, "N", 3))
            yield case((2, "N", 3), (2, "N", 4), (2, "M", 3))
            yield case((2, 3), (2, 3, 4))
        case "SequenceInsert":
            yield case(_sequence(2, "N", 3), (2, "N", 4), scalar(0))
            yield case(_sequence(2, 3), (2, 3))
            yield case(_sequence(2, 3), (2, 3), ())
            yield case(_sequence(2, 3), (3,))
        case "SequenceErase":
            yield case(_sequence(2, "N", 3))
            yield case(_sequence(2, "N", 3), scalar(-1))
            yield case(_sequence(2, "N", 3), ())
        case "SequenceAt":
            yield case(_sequence(2, "N", 3), scalar(-1))
            yield case(_sequence(2, "N", 3), ())
        case "SequenceLength":
            yield case(_sequence(2, "N", 3))
        case "ConcatFromSequence":
            yield case(_sequence(2, "N", 3), axis=1)
            yield case(_sequence(2, "N", 3), axis=-1)
            yield case(_sequence(2, "N", 3), axis=3, new_axis=1)
            yield case(_sequence(2, "N", 3), axis=-4, new_axis=1)
            yield case(_sequence(2, "N", 3), axis=-1, new_axis=0)
        case "SplitToSequence":
            yield case((6, "N", 3))
            yield case((6, "N", 3), axis=-1, keepdims=0)
            yield case((6, "N", 3), scalar(2), axis=0)
            yield case((6, "N", 3), scalar(4), axis=0, keepdims=0)
            yield case((6, "N", 3), scalar(4), axis=1)
            yield case((6, "N", 3), constant(2, 4), axis=0)
            yield case((6, "N", 3), constant(3, 3), axis=0)
            yield case((6, "N", 3), constant(6), axis=0)
            yield case((6, "N", 3), constant(3, 3), axis=1)
            yield case((6, "N", 3), (), axis=-3)


EXPLAINED = (
    Explained(
        "SplitToSequence",
        r"onnx-lint: WrongValue\(place=Element\(source=1, value=-?\d+, index=[01], .*'at least [01]'",
        "no part is of that size; onnx does not look where it does not know the dimension",
    ),
    Explained(
        "SplitToSequence",
        r"output 0: onnx Held\(shape=\(None, 'N', 3\)\), onnx-lint Held\(shape=\('N', 3\)\)",
        "an input with an empty name is not given, so that `keepdims` counts; onnx counts names",
    ),
)
