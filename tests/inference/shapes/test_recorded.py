# SPDX-License-Identifier: Apache-2.0
"""Nodes compared with the record of their operator."""

from __future__ import annotations

import pytest
from support.models.shape_samples import SCHEMAS

from onnx_lint.common.record import replace
from onnx_lint.inference.shapes import recorded
from onnx_lint.inference.shapes.fact import ABSENT, fact
from onnx_lint.inference.shapes.operands import Operands, OutputShape
from onnx_lint.inference.shapes.problem import InputDimension, Unequal, Warned
from onnx_lint.inference.shapes.recorded import recorded_rule
from onnx_lint.spec.operators.records import OperatorRecord
from onnx_lint.spec.operators.records.grammar import parse_operand


@pytest.fixture(name="node")
def _node(monkeypatch):
    """Return a function that compares a node of MoE with a record."""
    schema = SCHEMAS.find("com.microsoft", "MoE", 1)
    assert schema is not None

    def infer(
        record: OperatorRecord, *shapes: tuple[int | str, ...] | None, **attributes: int
    ) -> tuple[Operands, tuple[OutputShape, ...]]:
        monkeypatch.setattr(recorded, "record_of", lambda _: record)
        unlike = replace(schema, name=f"MoE{id(record)}")
        facts = tuple([ABSENT if each is None else fact("tensor(float)", each) for each in shapes])
        made = Operands(unlike, attributes, facts, 1)
        rule = recorded_rule(unlike)
        assert rule is not None
        return made, made.finished(rule.infer(made))

    return infer


def test_operands_are_found_by_name_and_take_the_form_of_the_case(node):
    record = OperatorRecord(
        cases=("rows or columns",),
        where={"w": {"k": "2*i", "else": "i"}},
        inputs={"input": "t h", "fc1_experts_weights": {"rows": "w h", "columns": "h w"}, "fc1_experts_bias": "i"},
        outputs={"output": {"rows": "t i", "columns": "i t"}},
    )
    for weights, attributes, output in [
        ((6, 5), {}, (2, 6)),
        ((5, 6), {}, (6, 2)),
        ((6, 5), {"k": 1}, (2, 3)),
        ((5, 6), {"k": 1}, (3, 2)),
    ]:
        made, found = node(record, (2, 5), None, weights, **attributes)
        assert (made.problems, found) == ([], (output,))
    made, found = node(record, (2, 5), None, (6, 5), (4,))
    assert made.problems == [Unequal(InputDimension(3, 0, 4), 6, InputDimension(2, 0, 6))]
    assert found == (None,)


def test_alternatives_are_written_as_such(node):
    record = OperatorRecord(inputs={"input": "t h", "router_probs": "{, t, t h}"})
    for shape, count in {(): 0, (1,): 0, (2,): 0, (2, 5): 0, (3,): 1, (2, 4): 1, (2, 5, 1): 1}.items():
        made, _ = node(record, (2, 5), shape)
        assert len(made.problems) == count, shape


def test_the_forms_are_made_once_for_nodes_that_differ_in_sizes(node, monkeypatch):
    parsed: list[str] = []
    monkeypatch.setattr(recorded, "parse_operand", lambda name, text: parsed.append(name) or parse_operand(name, text))
    record = OperatorRecord(
        inputs={"input": "t h", "router_probs": "{t, t e}"}, outputs={"output": {"k=7": "t", "else": "t h"}}
    )
    for size in range(1, 9):
        made, found = node(record, (size, 5), (size, size + 1), k=size)
        assert (made.problems, found) == ([], ((size,) if size == 7 else (size, 5),))
    made_by_then = len(parsed)
    for size in range(20, 40):
        node(record, (size, 5), (size, size + 1), k=size)
    assert len(parsed) == made_by_then


def test_what_only_the_documentation_requires_is_a_remark(node):
    record = OperatorRecord(inputs={"input": "t h"}, advised={"router_probs": "t e"}, outputs={"output": "t h"})
    made, found = node(record, (2, 5), (3, 4))
    problem = Unequal(InputDimension(1, 0, 3), 2, InputDimension(0, 0, 2))
    assert [each.problem for each in made.warnings if isinstance(each, Warned)] == [problem]
    assert (made.problems, found) == ([], ((2, 5),))


def test_an_attribute_that_is_not_as_required_is_the_only_fault(node):
    record = OperatorRecord(attributes={"k": "at least 1; at most e"}, inputs={"input": "t h", "router_probs": "t e"})
    for k, count in {0: 1, 1: 0, 4: 0, 5: 1}.items():
        made, _ = node(record, (2, 5), (2, 4), k=k)
        assert len(made.problems) == count, k
    made, _ = node(record, (2, 5), (3, 4), k=0)
    assert len(made.problems) == 1
