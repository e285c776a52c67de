# SPDX-License-Identifier: Apache-2.0
"""Dimensions, facts, equations and what shape rules see of a node."""

from __future__ import annotations

import pytest

from onnx_lint.model.shapes import dims
from onnx_lint.model.shapes.equations import equation, solve
from onnx_lint.model.shapes.fact import ABSENT, UNKNOWN, fact
from onnx_lint.model.shapes.operands import Operands
from onnx_lint.model.shapes.problem import (
    AxisOutOfRange,
    Dimension,
    Element,
    Indivisible,
    NotBroadcast,
    Overflow,
    Repeated,
    Unequal,
    WrongRank,
)
from onnx_lint.model.shapes.rules import FAMILIES, shape_rule
from onnx_lint.spec.operators import OperatorSchemas

SCHEMAS = OperatorSchemas()


def node(operator, *shapes, version=25, outputs=1, **attributes):
    """The operands of a node whose inputs have these shapes."""
    schema = SCHEMAS.find("", operator, version)
    facts = tuple(ABSENT if shape is ... else fact("tensor(float)", shape) for shape in shapes)
    return Operands(schema, attributes, facts, outputs)


# --- dimensions


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(2, 1, 3), (4, 1)], (2, 4, 3)),
        ([(), (3,)], (3,)),
        ([("N", 3), (1, 3)], ("N", 3)),
        ([("N",), (4,)], (4,)),
        ([("N",), ("M",)], (None,)),
        ([("N",), (None,)], (None,)),
        ([(0,), (1,)], (0,)),
        ([], ()),
    ],
)
def test_broadcast(shapes, expected):
    assert dims.broadcast(shapes) == expected
    assert dims.clash(shapes) is None


def test_a_clash_names_both_shapes_and_the_axis_from_the_end():
    assert dims.clash([(1,), (2, 5, 3), (4, 3)]) == (1, 2, -2)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(2, 2, 2), (2, "N", 2), ("N", 2, 2), ("N", "M", "N"), (None, "N", "N"), ("N", None, "N"), (None, None, None)],
)
def test_unified(one, other, expected):
    assert dims.unified(one, other) == expected
    assert dims.agree(one, other)


def test_sizes_that_differ_do_not_agree():
    assert not dims.agree(2, 3)


def test_arithmetic_keeps_a_variable_where_nothing_is_done_to_it():
    assert (dims.add("N", 0), dims.add(0, "N"), dims.add("N", 1), dims.add(2, 3)) == ("N", "N", None, 5)
    assert (dims.multiply("N", 1), dims.multiply("N", 2), dims.product(["N", 1, 1]), dims.product([])) == (
        "N",
        None,
        "N",
        1,
    )
    assert (dims.divide(6, 2), dims.divide(7, 2), dims.divide(7, 0), dims.divide("N", 1)) == (3, None, None, "N")


def test_what_branches_have_in_common():
    assert dims.union((2, "N", 3), (2, "N", 4)) == (2, "N", None)
    assert dims.union((2,), (2, 3)) is None


# --- facts


def test_equal_facts_are_one_object():
    assert fact("tensor(int64)", (2,), (3, 4)) is fact("tensor(int64)", (2,), (3, 4))
    assert fact("tensor(int64)", (2,), (3, 4)).bare is fact("tensor(int64)", (2,))
    assert fact(None) is UNKNOWN
    assert fact("") is ABSENT


def test_integers_and_floats_that_are_equal_are_told_apart():
    assert type(fact("tensor(float)", (), (1.0,)).content[0]) is float
    assert type(fact("tensor(float)", (), (1,)).content[0]) is int


# --- operands


def test_two_faults_of_a_node_are_two_problems():
    made = node("MatMul", (2, 3), (4, 5, 6))
    shape_rule(made.schema).infer(made)
    assert made.problems == [Unequal(Dimension(1, 1, 5), 3, Dimension(0, 1, 3))]
    made = node("MatMul", (7, 2, 3), (4, 5, 6))
    shape_rule(made.schema).infer(made)
    assert made.problems == [
        Unequal(Dimension(1, 1, 5), 3, Dimension(0, 2, 3)),
        NotBroadcast(Dimension(0, 0, 7), Dimension(1, 0, 4)),
    ]


def test_nothing_is_known_behind_a_problem():
    made = node("Gemm", (2, 3), (4, 5))
    assert made.finished(shape_rule(made.schema).infer(made)) == (None,)


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
    assert made.problems == [WrongRank(1, len(shape), 0, 0)]


# --- equations


def test_an_equation_gives_ranks_sizes_and_outputs():
    text = "X[n c *spatial] scale[c] B[c] -> Y[n c *spatial] mean[c]"
    made = node("InstanceNormalization", ("N", 3, 7, 7), (3,), ...)
    assert list(solve(text, made)) == [("N", 3, 7, 7), (3,)]
    assert made.problems == []
    made = node("InstanceNormalization", (2, 3, 7), (4,), (3, 1))
    solve(text, made)
    # The first operand that says it gives the size; the rank of the third is the operator's.
    assert made.problems == [Unequal(Dimension(1, 0, 4), 3, Dimension(0, 1, 3)), WrongRank(2, 2, 1, 1)]


def test_an_equation_reads_attributes_and_multiples():
    text = "X[t b i] W[d 3*@hidden_size i] R[d 3*@hidden_size @hidden_size] -> Y[t d b @hidden_size]"
    made = node("GRU", (5, "N", 4), (1, 24, 4), None, hidden_size=8)
    assert list(solve(text, made)) == [(5, 1, "N", 8)]
    made = node("GRU", (5, "N", 4), (1, 25, 4), None, hidden_size=8)
    solve(text, made)
    assert made.problems == [Unequal(Dimension(1, 1, 25), 24, Element("hidden_size", 8))]
    made = node("GRU", (5, 7), (6,))
    assert list(solve("X[?  3*h] W[2*h] -> Y[h ? 4]", made)) == [(3, None, 4)]
    assert made.problems == [Indivisible(Dimension(0, 1, 7), 3)]


def test_runs_of_an_equation_agree():
    made = node("Det", (2, 3, 3), (2, 5))
    assert list(solve("X[*batch n n] Y[*batch m] -> Z[*batch m] W[*other]", made)) == [(2, 5), None]
    made = node("Det", (2, 3, 3), (4, 5))
    solve("X[*batch n n] Y[*batch m] -> Z[*batch m]", made)
    assert made.problems == [Unequal(Dimension(1, 0, 4), 2, Dimension(0, 0, 2))]
    made = node("Det", (2, 3, 3), (2, 2, 5))
    solve("X[*batch n n] Y[*batch m] -> Z[*batch m]", made)
    assert made.problems == [WrongRank(1, 3, 2, 2, 0)]


@pytest.mark.parametrize("text", ["X[n]", "X[n -> Y[n]", "X[n!] -> Y[n]", "-X -> Y"])
def test_what_is_no_equation(text):
    with pytest.raises(ValueError, match=r"equation|operand|dimension"):
        equation(text)


# --- the table of families


def test_each_operator_stands_in_one_family():
    operators = [operator for names in FAMILIES.values() for operator in names.split()]
    assert sorted(operators) == sorted(set(operators))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_each_version_of_an_operator_has_a_rule(family):
    missing = []
    for operator in FAMILIES[family].split():
        domain, _, name = operator.rpartition("::")
        versions = SCHEMAS.versions(domain, name)
        assert versions, f"no operator {operator}"
        for version in versions:
            schema = SCHEMAS.find(domain, name, version)
            if not schema.deprecated and shape_rule(schema) is None:
                missing.append(f"{operator}-{version}")
    assert missing == []
