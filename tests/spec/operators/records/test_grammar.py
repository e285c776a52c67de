# SPDX-License-Identifier: Apache-2.0
"""The language of records: sizes, operands, conditions, forms and requirements."""

from __future__ import annotations

import pytest

from onnx_lint.spec.operators.records.grammar import (
    Condition,
    SizePart,
    SizeProduct,
    Term,
    chosen,
    conditions_in,
    parse_all,
    parse_cases,
    parse_condition,
    parse_form,
    parse_operand,
    parse_requirements,
    parse_sum,
    replaced,
)


def test_a_size_is_a_sum_of_products():
    found = parse_sum("2*rows-@heads.1//#total")
    assert found.products == (
        SizeProduct((SizePart("number", number=2), SizePart("dimension", "rows"))),
        SizeProduct(
            (SizePart("attribute", "heads", 1), SizePart("input", "total", operation="//")),
            is_negative=True,
        ),
    )
    assert (found.names, found.attributes, found.is_rounded_down) == ({"rows"}, ("heads",), True)


def test_a_quotient_that_is_rounded_up_may_be_in_another():
    ((part,),) = [product.parts for product in parse_sum("ceil(ceil(rows/@size)*bits/8)").products]
    assert part.dividend is not None
    assert [each.kind for each in part.dividend.parts] == ["ceiling", "dimension"]
    assert part.divisor == SizePart("number", number=8, operation="/")
    assert part.dividend.first == SizePart("dimension", "rows")


@pytest.mark.parametrize("text", ["", "a+", "a b", "ceil(a)", "ceil(a*b)", "ceil a/b", "(a", "a)", "a^b", "a*/b"])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="no dimension"):
        parse_sum(text)


def test_the_dimensions_of_an_operand():
    (found,) = parse_operand("x", "*rows 4 1|b w=2*@n ?*h @n*d (@n+2*@k)*d p+t!")
    assert found.is_required
    assert found.run == 0
    assert found.sums == ({"p", "t"},)
    assert found.terms == (
        Term("rows", kind="run"),
        Term("", 4, "number"),
        Term("b", or_one=True),
        Term("n", 2, "attribute", also="w"),
        Term("h", kind="multiple"),
        Term("d", times=parse_sum("@n")),
        Term("d", times=parse_sum("@n+2*@k")),
        Term("", kind="sum", computed=parse_sum("p+t")),
    )


def test_an_operand_may_have_choices_and_names_that_stand_for_dimensions():
    assert parse_operand("x", "a {b, b 1}") == (*parse_operand("x", "a b"), *parse_operand("x", "a b 1"))
    assert [each.is_excluded for each in parse_operand("x", "-")] == [True]
    assert [each.terms for each in (*parse_operand("x", None), *parse_operand("x", ""))] == [None, ()]
    assert replaced("tokens ceil(f*bits/8)", {"tokens": "b s", "f": "2*i"}) == "b s ceil(2*i*bits/8)"


def test_a_condition_is_made_once():
    assert parse_condition("!a=''") is parse_condition("!a=''")
    found = [(each.name, each.sign, each.value, each.is_negated) for each in parse_all("a !b c=1 !d=e f>2 g!~h i!=j")]
    assert found == [
        ("a", "", "", False),
        ("b", "", "", True),
        ("c", "=", "1", False),
        ("d", "=", "e", True),
        ("f", ">", "2", False),
        ("g", "!~", "h", False),
        ("i", "!=", "j", False),
    ]


def test_the_first_form_whose_conditions_are_true_applies():
    form = parse_form({"flat a": "t", "b or c": {"d": None, "else": "u"}, "else": "-"})
    names = [each.name for each in conditions_in(form)]
    assert names == ["flat", "a", "b", "c", "d"]

    def known(text: str) -> frozenset[Condition]:
        return frozenset(parse_all(text))

    given = {"flat a": "t", "c": "u", "c d": None, "flat": "-"}
    assert {text: chosen(form, known(text)) for text in given} == given
    assert parse_cases("flat or batched") == parse_all("flat batched")


def test_requirements_have_kinds_sizes_values_and_conditions():
    first, second = parse_requirements("at least 2*rows if !key; with fast needs a b!")
    assert (first.kind, first.size, first.conditions) == ("at least", parse_sum("2*rows"), parse_all("!key"))
    assert (second.kind, second.of, second.value) == ("needs", ("a", "b!"), "fast")
