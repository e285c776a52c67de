# SPDX-License-Identifier: Apache-2.0
"""A call may decide the value of an attribute in a function."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint.engine.targets.node_attributes import has_attribute, has_own_value, has_value, may_have_value
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Node


def dropout(attribute: str) -> Node:
    """Return the node of a function that a model calls, with an attribute in onnx's textual syntax."""
    found = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 6, "loc": 1]>
        g (float[4] x) => (float[4] y) {{ y = loc.f <is_test = 0> (x) }}
        <domain: "loc", opset_import: ["": 6]>
        f <is_test> (a) => (b) {{ b = Dropout {attribute} (a) }}""")
    model = load(BytesSource(found.SerializeToString()))
    return model.functions[0].body.nodes[0]


@pytest.mark.parametrize(
    ("attribute", "is_there", "is_own", "may_be_1", "is_1"),
    [
        ("", False, False, False, False),
        ("<is_test = 0>", True, True, False, False),
        ("<is_test = 1>", True, True, True, True),
        ("<is_test: int = @is_test>", True, False, True, False),
    ],
)
def test_a_parameter_may_have_any_value(
    attribute: str, is_there: bool, is_own: bool, may_be_1: bool, is_1: bool
) -> None:
    node = dropout(attribute)
    assert has_attribute(node, "is_test") is is_there
    assert has_own_value(node, "is_test") is is_own
    assert may_have_value(node, "is_test", 1) is may_be_1
    assert has_value(node, "is_test", 1) is is_1


def test_a_value_is_compared_with_the_field_of_its_type() -> None:
    """The integer of an attribute with text is 0, and its text is no integer."""
    node = dropout('<mode = "wrap", axis = 0>')
    assert may_have_value(node, "mode", "wrap")
    assert not may_have_value(node, "mode", 0)
    assert may_have_value(node, "axis", 0)
    assert not may_have_value(node, "axis", "")
