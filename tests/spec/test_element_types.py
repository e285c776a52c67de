# SPDX-License-Identifier: Apache-2.0
"""The table of element types, compared with the schema and the onnx package."""

from __future__ import annotations

import pytest
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.spec.element_types import ELEMENT_TYPES


def test_every_element_type_of_the_schema_is_in_the_table():
    values = schema.message("TensorProto").DESCRIPTOR.enum_types_by_name["DataType"].values
    named = {value.number: value.name.lower() for value in values if value.number}
    assert {number: element.name for number, element in ELEMENT_TYPES.items()} == named


def test_widths_and_fields_are_those_of_the_onnx_package():
    onnx = pytest.importorskip("onnx")
    for number, element in ELEMENT_TYPES.items():
        if number not in onnx.helper.get_all_tensor_dtypes():
            continue  # an older onnx
        assert onnx.helper.tensor_dtype_to_field(number) == element.field, element
        if element.bits >= 8:
            assert onnx.helper.tensor_dtype_to_np_dtype(number).itemsize * 8 == element.bits, element


@each_case(
    ("name", "elements", "size", "entries"),
    [
        ("float", 3, 12, 3),
        ("complex64", 3, 24, 6),
        ("complex128", 3, 48, 6),
        ("bool", 3, 3, 3),
        ("int4", 3, 2, 2),
        ("uint4", 4, 2, 2),
        ("float4e2m1", 5, 3, 3),
        ("uint2", 4, 1, 1),
        ("int2", 5, 2, 2),
        ("float6e2m3", 4, 3, 4),
        ("float6e3m2", 5, 4, 5),
        ("int64", 0, 0, 0),
    ],
)
def test_stored_sizes(name: str, elements: int, size: int, entries: int):
    (element,) = (element for element in ELEMENT_TYPES.values() if element.name == name)
    assert (element.bytes_of(elements), element.entries_of(elements)) == (size, entries)
