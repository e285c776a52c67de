# SPDX-License-Identifier: Apache-2.0
"""The operands of a node, as rules on shapes ask for them."""

from __future__ import annotations

import pytest
from support.models.shape_samples import SCHEMAS, node

from onnx_lint.inference.shapes.attribute_values import AttributeValues
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import (
    AxisOutOfRange,
    Element,
    Indivisible,
    InputDimension,
    NotBroadcast,
    NotOneElement,
    Overflow,
    Repeated,
    Unequal,
    WrongRank,
)
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.schema import message


def test_two_faults_of_a_node_are_two_problems():
    made = node("MatMul", (2, 3), (4, 5, 6))
    shape_rule(made.schema).infer(made)
    assert made.problems == [Unequal(InputDimension(1, 1, 5), 3, InputDimension(0, 1, 3))]
    made = node("MatMul", (7, 2, 3), (4, 5, 6))
    shape_rule(made.schema).infer(made)
    assert made.problems == [
        Unequal(InputDimension(1, 1, 5), 3, InputDimension(0, 2, 3)),
        NotBroadcast(InputDimension(0, 0, 7), InputDimension(1, 0, 4)),
    ]


def test_nothing_is_known_behind_a_problem():
    made = node("Gemm", (2, 3), (4, 5))
    assert made.finished(shape_rule(made.schema).infer(made)) == (None,)


@pytest.mark.parametrize(
    ("one", "other", "batch"),
    [(None, "K", None), ("K", None, None), ("N", "K", None), ("K", "K", "K"), (1, "K", "K"), ("K", 2, 2)],
)
def test_the_ellipsis_of_einsum_broadcasts(one, other, batch):
    """A variable may be 1, so that it says nothing of a product with a dimension that may be larger."""
    made = node("Einsum", (one, 5, 3), (other, 3, 4), equation="...ij,...jk->...ik")
    assert made.finished(shape_rule(made.schema).infer(made)) == ((batch, 5, 4),)
    assert made.problems == []


def test_an_output_that_no_int64_counts_is_an_overflow():
    made = node("Flatten", (2**40, 2**40, 3), axis=2)
    assert made.finished(shape_rule(made.schema).infer(made)) == (None,)
    assert made.problems == [Overflow(0, 0)]


def test_axes():
    made = node("Transpose", (2, 3))
    assert made.axes((-1, 0), 2, "perm") == (1, 0)
    assert made.axes((1, None), 2, "perm") is None
    assert made.problems == []
    assert made.axes((1, 2, -1), 2, "perm") is None
    assert made.problems == [
        AxisOutOfRange(Element("perm", 2, 1), 2, -2),
        Repeated(Element("perm", -1, 2), 0),
    ]


def test_attributes_are_those_of_the_node_or_the_defaults_of_its_version():
    assert node("Softmax", (2,), version=12).integer("axis") == 1
    assert node("Softmax", (2,), version=13).integer("axis") == -1
    assert node("Softmax", (2,), axis=0).integer("axis") == 0
    assert node("Transpose", (2,)).integers("perm") is None


@pytest.mark.parametrize("shape", [(), (1,), ("N",), (None,), None])
def test_a_tensor_of_one_element_passes_for_a_scalar(shape):
    made = node("Clip", (2,), shape)
    assert made.scalar(1) is None
    assert made.problems == []


@pytest.mark.parametrize("shape", [(2,), (0,), (1, 1)])
def test_a_tensor_of_more_elements_is_no_scalar(shape):
    made = node("Clip", (2,), shape)
    assert made.scalar(1) is None
    wrong = WrongRank(1, 2, 0, 0) if shape == (1, 1) else NotOneElement(1, is_scalar=True)
    assert made.problems == [wrong]


def test_an_attribute_without_a_value_has_none():
    """As one may be that the signature of this version does not know."""
    attributes = AttributeValues({"allowzero": message("AttributeProto")(name="allowzero")})
    made = Operands(SCHEMAS.find("", "Reshape", 5), attributes, (), 1)
    assert made.argument("allowzero") is None
    assert made.integer("allowzero", 0) == 0


@pytest.mark.parametrize("first", [("N", "C"), (None, None), None])
def test_what_a_later_operand_says_of_an_unknown_size_is_compared_with_others(first):
    made = node("Sum", first, (3,), (4,), (4,))
    assert made.equal((0, 1), (1, 0)) == 3
    assert made.dim(0, 1) == 3
    assert made.place(0, 1) == InputDimension(1, 0, 3)
    made.equal((0, 1), (2, 0))
    assert made.problems == [Unequal(InputDimension(2, 0, 4), 3, InputDimension(1, 0, 3))]
    made.equal((0, 1), (2, 7))  # no such dimension
    assert made.quotient((0, 1), 2) is None
    assert made.problems[1:] == [Indivisible(InputDimension(1, 0, 3), 2)]


def test_a_size_that_an_operand_has_is_its_own():
    made = node("Sum", (2, "C"), (3,))
    made.equal((0, 0), (1, 0))
    assert made.dim(0, 0) == 2
    assert made.dim(0, -1) == "C"
    made.equal((0, -1), (1, 0))
    assert made.dim(0, 1) == made.dim(0, -1) == 3
    assert made.problems == [Unequal(InputDimension(1, 0, 3), 2, InputDimension(0, 0, 2))]


def test_parts_with_different_axes_after_them_clash_at_their_own_dimensions():
    made = node("MatMul", (3, 2, 4), (3, 4, 5))
    assert made.broadcast([(2,), (3,)], (0, 1), trailing=(1, 2)) is None
    assert made.problems == [NotBroadcast(InputDimension(0, 1, 2), InputDimension(1, 0, 3))]


def test_an_input_that_the_signature_does_not_have_is_none_of_the_node():
    made = node("MatMul", (2, 3), (3, 4))
    assert [made.input(name) for name in ("A", "B", "C")] == [0, 1, 2]
    assert not made.given(made.input("C"))
