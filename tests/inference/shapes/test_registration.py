# SPDX-License-Identifier: Apache-2.0
"""Declarations of shape rules for operators, versions and domains."""

from __future__ import annotations

import pytest

from onnx_lint.inference.shapes import registration
from onnx_lint.inference.shapes.registration import ShapeRule, register_equations, register_rule, register_since


@pytest.fixture(autouse=True)
def nothing_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "rules_by_operator", {})


def test_a_rule_stands_under_its_operators_from_a_version_on():
    def older(node):
        return []

    def newer(node):
        return []

    register_rule("Reshape:5", reads=(1,))(newer)
    register_rule("Blur:2", domain="com.example", reads=(1,))(newer)
    register_rule("Reshape")(older)
    register_rule("Blur", domain="com.example")(older)
    rules = [(1, ShapeRule(older)), (5, ShapeRule(newer, (1,)))]
    assert registration.rules_by_operator == {"Reshape": rules, "com.example::Blur": [rules[0], (2, rules[1][1])]}


def test_a_rule_may_apply_to_each_operator_from_another_version_on():
    def rule(node):
        return []

    register_since({"Blur": 1, "Sharpen": 7}, reads=(1,))(rule)
    expected = {"Blur": [(1, ShapeRule(rule, (1,)))], "Sharpen": [(7, ShapeRule(rule, (1,)))]}
    assert registration.rules_by_operator == expected


def test_equations_are_read_when_they_are_declared():
    register_equations({"Blur": "X[n m] -> Y[m]"}, domain="com.example")
    assert list(registration.rules_by_operator) == ["com.example::Blur"]
    with pytest.raises(ValueError, match="an equation without an arrow: X"):
        register_equations({"Blur": "X"})
