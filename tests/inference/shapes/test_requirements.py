# SPDX-License-Identifier: Apache-2.0
"""What records require of the numbers in attributes and dimensions."""

from __future__ import annotations

import math

import pytest
from support.models.shape_samples import SCHEMAS
from support.project.each_case import each_case

from onnx_lint.inference.shapes.fact import ABSENT, fact
from onnx_lint.inference.shapes.forms import FormSolution
from onnx_lint.inference.shapes.operands import AttributeValue, Operands
from onnx_lint.inference.shapes.problem import Element, Indivisible, InputDimension, Unequal, WrongCount, WrongValue
from onnx_lint.inference.shapes.requirements import check_attribute, first_wrong, fit_contents, fit_sizes, holds
from onnx_lint.spec.operators.records.grammar import parse_condition, parse_requirements


def _node(kinds: str = "ff", **attributes: AttributeValue) -> Operands:
    schema = SCHEMAS.find("com.microsoft", "GroupQueryAttention", 1)
    assert schema is not None
    types = {"f": fact("tensor(float)", None), "u": fact("tensor(uint8)", None), "-": ABSENT}
    return Operands(schema, attributes, tuple(types[each] for each in kinds), 1)


@pytest.mark.parametrize(
    ("condition", "is_true"),
    [
        ("key", True),
        ("value", False),
        ("!value", True),
        ("num_heads", True),
        ("do_rotary", False),
        ("num_heads=4", True),
        ("num_heads=5", False),
        ("num_heads>3", True),
        ("num_heads>kv_num_heads", False),
        ("query~key", True),
        ("query~past_key", False),
    ],
)
def test_a_condition_is_true_of_a_node_or_not(condition, is_true):
    assert holds(_node("ff-u", num_heads=4, kv_num_heads=4), parse_condition(condition)) is is_true


@each_case(
    ("text", "wrong", "right", "reason"),
    [
        ("at least 1", 0, 1, "at least 1"),
        ("at most 8", 9, 8, "at most 8"),
        ("at least kv_num_heads", 2, 3, "at least 3"),
        ("one of 0 1 2", 3, 2, "it must be 0, 1 or 2"),
        ("one of 0 if kv_num_heads=3", 1, 0, "it must be 0 if attribute 'kv_num_heads' is 3"),
        ("one of 4 8", 2, 8, "it must be 4 or 8"),
        ("one of -1 0", 1, -1, "it must be -1 or 0"),
        ("at least -1", -2, -1, "at least -1"),
        ("word of NONE SOME", "few", "some", "it must be NONE or SOME"),
        ("power of 2 from 16", 24, 32, "it must be a power of two from 16 on"),
        ("needs past_key", 1, 0, "it requires input 3 ('past_key'), which the node leaves out"),
        ("needs output_qk", 1, 0, "it requires output 3 ('output_qk'), which the node leaves out"),
        ("with 2 needs past_key", 2, 1, "it requires input 3 ('past_key'), which the node leaves out"),
        ("with 2 excludes key", 2, 1, "it excludes input 1 ('key')"),
        ("with 2 excludes kv_num_heads", 2, 1, "it excludes attribute 'kv_num_heads'"),
        ("above 0", 0.0, 0.5, "more than 0"),
        ("below 0", 0.0, -0.5, "less than 0"),
        ("below kv_num_heads", 3, 2, "less than 3 (attribute 'kv_num_heads')"),
        ("at least 0", -0.5, 0.0, "at least 0"),
        ("at least 0 if !kv_num_heads=4", -1, 0, "at least 0 if attribute 'kv_num_heads' is not 4"),
        ("one of 0 if !past_key", 1, 0, "it must be 0 if the node leaves out 'past_key'"),
        ("not nan", math.nan, math.inf, "a number"),
        ("not nan inf", -math.inf, 1.0, "a finite number"),
        ("not 0", -0.0, 1.0, "another number"),
    ],
)
def test_an_attribute_is_as_required_or_not(text, wrong, right, reason):
    (required,) = parse_requirements(text)
    for value, expected in ((wrong, [reason]), (right, [])):
        made = _node(num_heads=value, kv_num_heads=3)
        check_attribute(made, "num_heads", required)
        # A number that is too small has no reason but the allowed values.
        assert [each.reason or each.allowed for each in made.problems if isinstance(each, WrongValue)] == expected


def test_an_attribute_that_a_node_must_leave_out():
    (required,) = parse_requirements("not given if key")
    for node, reasons in (
        (_node(num_heads=0), ["GroupQueryAttention must not have it if the node has 'key'"]),
        (_node("f", num_heads=0), []),
        (_node(), []),
    ):
        check_attribute(node, "num_heads", required)
        assert [each.reason for each in node.problems if isinstance(each, WrongValue)] == reasons


def test_a_list_of_another_length():
    (required,) = parse_requirements("as many as 3")
    for value, problems in (((1, 2), [WrongCount("num_heads", 2, 3)]), ((1, 2, 3), [])):
        made = _node(num_heads=value)
        check_attribute(made, "num_heads", required)
        assert made.problems == problems


def test_an_attribute_is_a_multiple_of_another():
    for text, values in (("multiple of kv_num_heads", {3: 0, 6: 0, 4: 1}), ("either multiple of kv_num_heads", {1: 0})):
        (required,) = parse_requirements(text)
        for value, count in values.items():
            made = _node(num_heads=value, kv_num_heads=3)
            check_attribute(made, "num_heads", required)
            problem = Indivisible(Element("num_heads", value), 3, Element("kv_num_heads", 3))
            assert made.problems == [problem] * count


def test_dimensions_and_attributes_fit_the_dimensions():
    place, of_pairs = InputDimension(0, 2, 36), InputDimension(7, 1, 20)
    found = FormSolution((), {"d": (12, place), "r": (20, of_pairs)}, {"d": Element("num_heads", 3)})
    why = "because each of its 3 parts must be a multiple of 8"
    for text, name, problem in [
        ("multiple of 8", "d", Indivisible(place, 24, Element("num_heads", 3), why)),
        ("multiple of 8 if do_rotary", "d", None),
        ("at most d/2", "r", Unequal(of_pairs, 6, place, least=0)),
        ("at least @kv_num_heads", "r", Unequal(of_pairs, 30, Element("kv_num_heads", 30), or_more=True)),
    ]:
        made = _node(num_heads=3, kv_num_heads=30)
        fit_sizes(made, (), [(name, each) for each in parse_requirements(text)], found)
        assert made.problems == ([problem] if problem is not None else [])
    made = _node(num_heads=13)
    fit_sizes(made, [("num_heads", each) for each in parse_requirements("at least 1; at most d")], (), found)
    allowed = "at most 12 because of dimension 2 of input 0 ('query')"
    assert made.problems == [WrongValue(Element("num_heads", 13), "", allowed)]


def test_an_input_that_a_release_does_not_have_has_no_numbers():
    """The last input of the node is another one."""
    found = FormSolution((), {"s": (1, InputDimension(0, 1, 1))}, {})
    for name, count in {"key": 1, "no_such_input": 0}.items():
        schema = SCHEMAS.find("com.microsoft", "GroupQueryAttention", 1)
        assert schema is not None
        made = Operands(schema, {}, (fact("tensor(float)", None), fact("tensor(int32)", (1,), (7,))), 1)
        fit_contents(made, [(name, each) for each in parse_requirements("at most s")], found)
        assert len(made.problems) == count


@pytest.mark.parametrize(
    ("kind", "limit", "numbers", "wrong"),
    [
        ("at least", 0, (0, -1), 1),
        ("at most", 4, (4, 5), 1),
        ("above", 0, (0.5, 0.0), 1),
        ("below", 3, (2, 3), 1),
        ("begins with", 0, (0, 7), None),
        ("ends with", 7, (0, 8), 1),
        ("rises by", 0, (0, 4, 4, 3), 3),
        ("rises by", 0, (0, None, 3), None),
    ],
)
def test_the_first_number_that_is_not_as_required(kind, limit, numbers, wrong):
    assert first_wrong(kind, numbers, limit) == wrong


@pytest.mark.parametrize("text", ["", "at least", "least 1", "at least 1;at most 2", "multiple 8"])
def test_what_is_no_requirement(text):
    with pytest.raises(ValueError, match="no requirement"):
        parse_requirements(text)
