# SPDX-License-Identifier: Apache-2.0
"""The attributes of LabelEncoder, by themselves."""

from __future__ import annotations

import pytest

from onnx_lint import schema
from onnx_lint.ir.operators.machine_learning_attributes import encoder_faults


def _attributes(**values):
    message = schema.message("AttributeProto")
    return {
        name: message(name=name, i=value) if isinstance(value, int) else message(name=name, ints=value)
        for name, value in values.items()
    }


def _tensor(element_type: int, *dims: int):
    return schema.message("AttributeProto")(t=schema.message("TensorProto")(data_type=element_type, dims=dims))


@pytest.mark.parametrize(
    ("values", "element_type", "faults"),
    [
        ("values_int64s", 7, []),
        ("values_int64s", 1, [("default_tensor", "is a tensor of float, 'values_int64s' holds int64")]),
        ("values_floats", 11, [("default_tensor", "is a tensor of double, 'values_floats' holds float")]),
        ("values_strings", 8, []),
        ("values_strings", 99, []),
    ],
)
def test_the_default_tensor_of_an_encoder_is_of_the_type_of_its_values(values, element_type, faults):
    given = _attributes(**{values: []}) | {"default_tensor": _tensor(element_type, 1)}
    assert [fault[:2] for fault in encoder_faults(given)] == faults


def test_two_lists_of_values_say_nothing_of_the_default():
    given = _attributes(values_int64s=[], values_floats=[]) | {"default_tensor": _tensor(8, 1)}
    assert list(encoder_faults(given)) == []
