# SPDX-License-Identifier: Apache-2.0
"""The combinations that nodes break."""

from __future__ import annotations

from support.models.model_samples import from_text
from support.project.each_case import each_case

from onnx_lint.ir.operators.broken_combinations import broken_by
from onnx_lint.spec.operators.combinations import Choice, Combination, Member

ATTRIBUTES = {name: Member("attribute", name, -1) for name in ("a", "b")}
INPUT = Member("input", "x", 1)


def _broken(choice: Choice, node: str, idle_values: tuple[str, ...] = ()) -> list[str]:
    sides = ((ATTRIBUTES["a"],), (ATTRIBUTES["b"], INPUT))
    [form] = from_text(f'graph {{ node {{ op_type: "Op" {node} }} }}').main_graph.forms
    return [member.name for member in broken_by(Combination(choice, sides, "", idle_values=idle_values), form)]


A = 'attribute { name: "a" type: INT i: 1 }'
B = 'attribute { name: "b" type: INTS ints: [1] }'
EMPTY_B = 'attribute { name: "b" type: INTS }'
X = 'input: "" input: "x"'


@each_case(
    ("choice", "node", "broken"),
    [
        (Choice.ONE, f"{A} {B}", ["a", "b"]),
        (Choice.ONE, f"{X} {A}", ["a", "x"]),
        (Choice.ONE, f"{A} {EMPTY_B}", []),
        (Choice.ONE, f'input: "x" input: "" {A}', []),
        (Choice.AT_MOST_ONE, f"{A} {B}", ["a", "b"]),
        (Choice.AT_MOST_ONE, "", []),
        (Choice.SOME, f"{A} {B}", []),
        (Choice.TOGETHER, A, ["a"]),
        (Choice.TOGETHER, X, ["x"]),
        (Choice.TOGETHER, f"{A} {X}", []),
        (Choice.TOGETHER, "", []),
        (Choice.NEEDS, A, ["a"]),
        (Choice.NEEDS, X, []),
        (Choice.NEEDS, f"{A} {X}", []),
    ],
)
def test_members_at_odds(choice: Choice, node: str, broken: list[str]):
    assert _broken(choice, node) == broken


def test_an_idle_value_and_a_reference():
    automatic = 'attribute { name: "b" type: STRING s: "NOTSET" }'
    assert _broken(Choice.ONE, f"{A} {automatic}", ("NOTSET",)) == []
    assert _broken(Choice.ONE, f"{A} {automatic}") == ["a", "b"]
    assert _broken(Choice.ONE, f'{A} attribute {{ name: "b" type: INTS ref_attr_name: "p" }}') == ["a", "b"]


def test_a_number_where_the_default_is_a_text_has_a_value() -> None:
    sides = ((ATTRIBUTES["a"],), (ATTRIBUTES["b"],))
    combination = Combination(Choice.ONE, sides, "", defaults=(("a", "NOTSET"),))
    [form] = from_text(f'graph {{ node {{ op_type: "Op" {A} {B} }} }}').main_graph.forms
    assert [member.name for member in broken_by(combination, form)] == ["a", "b"]
