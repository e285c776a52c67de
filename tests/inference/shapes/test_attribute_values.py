# SPDX-License-Identifier: Apache-2.0
"""The values of attributes as shape rules read them."""

from __future__ import annotations

import pytest
from onnx import AttributeProto, TensorProto, helper

from onnx_lint.inference.shapes.attribute_values import attribute_values
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.spec.operators import BUILT_IN

CONV = BUILT_IN.find("", "Conv", 11)
REFERENCE = AttributeProto(name="group", type=AttributeProto.INT, ref_attr_name="p")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (3, 3),
        (0.5, 0.5),
        ("SAME_UPPER", "SAME_UPPER"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        ([1, 2], (1, 2)),
        ([0.5], (0.5,)),
        (["a", "b"], ("a", "b")),
        (helper.make_tensor("t", TensorProto.INT64, [1], [7]), fact("tensor(int64)", (1,), (7,))),
        (helper.make_tensor_type_proto(TensorProto.FLOAT, [2]), fact("tensor(float)", (2,))),
    ],
)
def test_each_type_of_attribute(value, read):
    values = attribute_values([helper.make_attribute("own", value)], CONV, None)
    assert values is not None
    assert dict(values) == {"own": read}


def test_a_graph_is_no_value():
    values = attribute_values([helper.make_attribute("own", helper.make_graph([], "g", [], []))], CONV, None)
    assert values is not None
    assert "own" in values
    assert values.get("own") is None


def test_a_reference_stands_for_what_the_call_gives():
    given = helper.make_attribute("p", 4)
    values = attribute_values([REFERENCE], CONV, {"p": given})
    assert values is not None
    assert dict(values) == {"group": 4}
    assert attribute_values([REFERENCE], CONV, {"p": None}) is None
    left_out = attribute_values([REFERENCE], CONV, {})
    assert left_out is not None
    assert len(left_out) == 0


def test_what_is_given_twice_or_of_another_type_decides_nothing():
    group = helper.make_attribute("group", 2)
    assert attribute_values([group, group], CONV, None) is None
    assert attribute_values([helper.make_attribute("group", [2])], CONV, None) is None


def test_get_returns_a_value_that_was_read_before_or_the_default():
    values = attribute_values([helper.make_attribute("group", 0)], CONV, None)
    assert values is not None
    assert [values.get("group", 7), values.get("group", 7), values.get("pads", 7), values.get("pads")] == [
        0,
        0,
        7,
        None,
    ]


def test_get_returns_a_value_that_was_read_before_or_the_default():
    values = attribute_values([helper.make_attribute("group", 0)], CONV, None)
    assert values is not None
    assert [values.get("group", 7), values.get("group", 7), values.get("pads", 7), values.get("pads")] == [0, 0, 7, None]
