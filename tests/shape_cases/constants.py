# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that make tensors of attributes and numbers."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs
from onnx import TensorProto, helper

from shape_cases.case import Case, Operand, case, constant, scalar
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "Constant":
            for dims in ((), (3,), (2, 3), (0,)):
                size = 1
                for dim in dims:
                    size *= dim
                yield case(value=helper.make_tensor("t", TensorProto.FLOAT, dims, [1.0] * size))
            if schema.since_version >= 11:
                values = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])
                indices = helper.make_tensor("i", TensorProto.INT64, [1], [2])
                yield case(sparse_value=helper.make_sparse_tensor(values, indices, [2, 3]))
            if schema.since_version >= 12:
                yield case(value_int=3)
                yield case(value_float=3.0)
                yield case(value_string="a")
                yield case(value_ints=(1, 2))
                yield case(value_floats=(1.0,))
                yield case(value_strings=("a", "b", "c"))
        case "ConstantOfShape":
            yield case(constant(2, 0, 3))
            yield case(Operand((3,)))
            yield case(Operand(("N",)))
            yield case(Operand((0,)))
        case "Range":
            yield case(scalar(0), scalar(7), scalar(2))
            yield case(scalar(7), scalar(0), scalar(-3))
            yield case(scalar(0.5), scalar(2.5), scalar(0.5))
            yield case((), (), ())
            yield case((1,), (1,), (1,))
        case "RandomNormal" | "RandomUniform":
            yield case(shape=(2, 0, 3))
            yield case(shape=())
        case "Multinomial":
            yield case((2, 5), sample_size=4)
            yield case(("N", None))


EXPLAINED = (
    Explained("Constant", "onnx: .*must be specified", "which attributes it needs is for other rules"),
    Explained("Multinomial", "output 0: onnx .*-[0-9]", "no size is negative; onnx hands it on"),
    Explained(
        "Range", r"onnx-lint: (WrongRank|NotOneElement)\(operand=[012]", "all three are scalars by the description"
    ),
    Explained("Range", "onnx-lint: .*a step must not be 0", "it never comes to an end, and ONNX Runtime refuses it"),
)
