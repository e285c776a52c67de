# SPDX-License-Identifier: Apache-2.0
"""The number of elements of dimensions, and tensors that evidently hold no NaN."""

from __future__ import annotations

from support.project.each_case import each_case

from onnx_lint.ir.columns.tensor_encodings import element_count, may_be_nan
from onnx_lint.schema import message


def test_the_product_of_hostile_dimensions_is_found_at_once():
    assert element_count([2**62] * 100_000) is None
    assert element_count([2**62] * 100_000 + [0]) == 0
    assert element_count([2**31, 2**32]) is None
    assert element_count([2**31, 2**31, 1]) == 2**62
    assert element_count([0, -1]) is None
    assert element_count([]) == 1


FLOAT16, BFLOAT16 = 10, 16


@each_case(
    ("element_type", "bits", "expected"),
    [
        (FLOAT16, 0x3C00, False),
        (FLOAT16, 0x7BFF, False),
        (FLOAT16, 0x7C00, False),
        (FLOAT16, 0xFC01, True),
        (BFLOAT16, 0x7F80, False),
        (BFLOAT16, 0xFF81, True),
        (FLOAT16, 0x7E00, True),
        (FLOAT16, 0xFE01, True),
        (FLOAT16, 0xFE01 - 0x10000, True),  # the same bits, of a negative number
        (FLOAT16, 0x17E00, True),
        (FLOAT16, 0x7E, False),
        (BFLOAT16, 0x3F80, False),
        (BFLOAT16, 0x7FC0, True),
        (BFLOAT16, 0xFFC0, True),
        (BFLOAT16, 0x7F, False),
    ],
)
def test_numbers_of_16_bits_that_may_be_nan(element_type: int, bits: int, expected: bool):
    tensor = message("TensorProto")(data_type=element_type, dims=[3], int32_data=[0, bits, 1])
    assert may_be_nan(tensor, b"") is expected


FLOAT16, BFLOAT16 = 10, 16


@pytest.mark.parametrize(
    ("element_type", "bits", "expected"),
    [
        (FLOAT16, 0x3C00, False),
        (FLOAT16, 0x7BFF, False),
        (FLOAT16, 0x7E00, True),
        (FLOAT16, 0xFE01, True),
        (FLOAT16, 0xFE01 - 0x10000, True),  # the same bits, of a negative number
        (FLOAT16, 0x17E00, True),
        (FLOAT16, 0x7E, False),
        (BFLOAT16, 0x3F80, False),
        (BFLOAT16, 0x7FC0, True),
        (BFLOAT16, 0xFFC0, True),
        (BFLOAT16, 0x7F, False),
    ],
)
def test_numbers_of_16_bits_that_may_be_nan(element_type: int, bits: int, expected: bool):
    tensor = message("TensorProto")(data_type=element_type, dims=[3], int32_data=[0, bits, 1])
    assert may_be_nan(tensor, b"") is expected
