# SPDX-License-Identifier: Apache-2.0
"""The records of operators, and their signatures."""

from __future__ import annotations

from collections.abc import Iterator

from support.models.shape_samples import SCHEMAS
from support.project.each_case import each_case

from onnx_lint.inference.shapes.recorded import recorded_rule
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.combinations import combinations
from onnx_lint.spec.operators.records import OperatorRecord, families, record_of
from onnx_lint.spec.operators.records.grammar import (
    Condition,
    conditions_in,
    parse_all,
    parse_cases,
    parse_form,
    parse_requirements,
)
from tools.shape_families import RECORDS, record_families

_OPERATORS = sorted(families())


def _operator(name: str) -> tuple[OperatorSchema, OperatorRecord]:
    schema, record = SCHEMAS.find("com.microsoft", name, 1), record_of(name)
    assert schema is not None
    assert record is not None
    return schema, record


def test_each_operator_has_a_record():
    """This fails for an operator of a new release of ONNX Runtime until it has one."""
    assert sorted(SCHEMAS.operator_names("com.microsoft")) == _OPERATORS


def test_the_file_has_the_module_of_each_record():
    assert RECORDS.read_text(encoding="utf-8") == record_families(), "run python -m tools"


def test_an_unknown_operator_has_no_record():
    assert record_of("NoSuchOperator") is None


@each_case("name", _OPERATORS)
def test_the_names_are_those_of_the_signature_in_its_order(name):
    schema, record = _operator(name)
    inputs, outputs = ([each.name for each in side] for side in (schema.inputs, schema.outputs))
    attributes = list(schema.attributes)
    assert list(record.inputs) == [each for each in inputs if each in record.inputs]
    assert list(record.outputs) == [each for each in outputs if each in record.outputs]
    assert list(record.advised) == [each for each in [*inputs, *attributes] if each in record.advised]
    assert {*record.attributes, *record.values, *record.defaults} <= {*attributes}
    assert {*record.reads} <= {*inputs}
    assert len(combinations(schema)) == len(record.combinations)


def _conditions(record: OperatorRecord) -> Iterator[Condition]:
    """The conditions in a record that are not cases."""
    cases = {each for text in record.cases for each in parse_cases(text)}
    for operands in (record.inputs, record.outputs, record.where, record.advised):
        for form in operands.values():
            yield from (each for each in conditions_in(parse_form(form)) if each not in cases)
    for texts in (record.attributes, record.sizes, record.contents):
        for text in texts.values():
            yield from (each for required in parse_requirements(text) for each in required.conditions)
    for words in (*record.until, *record.failing):
        yield from (each for each in parse_all(words) if each.name not in ("elements", "items", "outputs"))


@each_case("name", _OPERATORS)
def test_conditions_are_of_operands_and_attributes_of_the_operator(name):
    schema, record = _operator(name)
    known = {*(each.name for each in (*schema.inputs, *schema.outputs)), *schema.attributes}
    for each in _conditions(record):
        assert each.name in known, each
        if each.sign in (">", "~", "!~", "!="):
            assert each.value in known or each.value.isdecimal(), each


@each_case("name", _OPERATORS)
def test_a_record_says_what_the_outputs_are_or_why_not(name):
    schema, record = _operator(name)
    assert bool(record.unknown) is not bool(record.outputs or record.computed), name
    assert recorded_rule(schema) is not None
