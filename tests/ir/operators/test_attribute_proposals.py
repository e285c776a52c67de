# SPDX-License-Identifier: Apache-2.0
"""What attributes of other frameworks, and values of other types, mean in ONNX."""

from __future__ import annotations

import onnx.parser
import pytest
from onnx import helper

from onnx_lint import lint
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators.attribute_proposals import meant_attribute, with_name, with_type
from onnx_lint.loader import load
from onnx_lint.spec.operators import BUILT_IN

CONV = "g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,{0},{0}] y) {{ y = Conv<{1}>(x, w) }}"
HEAD = '<ir_version: 10, opset_import: ["": 21], producer_name: "me"> '


@pytest.mark.parametrize(
    ("operator", "name", "right"),
    [
        ("LeakyRelu", "negative_slope", "alpha"),
        ("Softmax", "dim", "axis"),
        ("Transpose", "dims", "perm"),
        ("Conv", "padding", "pads"),
        ("MaxPool", "stride", "strides"),
        ("Softmax", "axes", "axis"),
        ("Relu", "padding", None),
        ("Conv", "quite_another", None),
    ],
)
def test_what_a_name_means(operator: str, name: str, right: str | None):
    schema = BUILT_IN.find("", operator, 21)
    assert schema is not None
    assert meant_attribute(name, schema) == right


def _node(**attributes: object):
    """A Conv with these attributes, and its schema."""
    model = helper.make_model(
        helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], **attributes)], "g", [], []),
        opset_imports=[helper.make_opsetid("", 21)],
    )
    schema = BUILT_IN.find("", "Conv", 21)
    assert schema is not None
    return load(BytesSource(model.SerializeToString())).main_graph.nodes[0], schema


@pytest.mark.parametrize(
    ("value", "axes", "texts"),
    [
        ([1, 1, 1, 1], 2, ["'pads'"]),
        ([1, 2], 2, ["'pads'", "pads=[1, 2, 1, 2]"]),
        (1, 2, ["pads=[1, 1, 1, 1]"]),
        (1, None, []),
        (1, 1000, []),
        ("SAME", 2, []),
    ],
)
def test_padding_is_two_numbers_for_each_axis(value: object, axes: int | None, texts: list[str]):
    node, schema = _node(padding=value)
    assert [each.text for each in with_name(node, 0, "pads", schema, axes, is_required=False)] == texts


def test_an_attribute_that_is_there_takes_no_other():
    node, schema = _node(padding=[1, 1, 1, 1], pads=[0, 0, 0, 0])
    assert with_name(node, 0, "pads", schema, 2, is_required=False) == ()
    assert with_name(node, 0, "unknown", schema, 2, is_required=False) == ()


@pytest.mark.parametrize(
    ("name", "value", "texts"),
    [
        ("group", 2.0, ["write group=2 (INT)"]),
        ("group", [2], ["write group=2 (INT)"]),
        ("group", 2.5, []),
        ("group", [2, 2], []),
        ("strides", 2, ["write strides=[2, 2] (INTS)"]),
        ("pads", 1, ["write pads=[1, 1, 1, 1] (INTS)"]),
        ("auto_pad", 1, []),
    ],
)
def test_a_value_in_the_type_of_the_operator(name: str, value: object, texts: list[str]):
    node, schema = _node(**{name: value})
    assert [each.text for each in with_type(node, 0, schema, 2)] == texts


@pytest.mark.parametrize(
    ("size", "attributes", "said"),
    [
        (8, "padding = [1, 1]", "did you mean pads=[1, 1, 1, 1]?"),
        (8, "padding = 1", "did you mean pads=[1, 1, 1, 1]?"),
        (3, "stride = 2", "did you mean strides=[2, 2]?"),
        (6, "kernel_size = 3", "did you mean kernel_shape=[3, 3]?"),
        (6, "groups = 1", "did you mean 'group'?"),
        # With these pads the output has another size than is declared.
        (6, "padding = [1, 1]", "has no such attribute"),
        (3, "strides = 2", "write strides=[2, 2] (INTS)"),
        (6, "group = 1.0", "write group=1 (INT)"),
    ],
)
def test_the_report_has_what_fits_the_model(size: int, attributes: str, said: str):
    [found] = lint(onnx.parser.parse_model(HEAD + CONV.format(size, attributes))).diagnostics
    assert (found.hint or found.message).endswith(said)
