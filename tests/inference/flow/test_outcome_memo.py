# SPDX-License-Identifier: Apache-2.0
"""The outcomes of the nodes of one form."""

from __future__ import annotations

from onnx_lint import schema as schema_of
from onnx_lint.common.record import replace
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo
from onnx_lint.inference.shapes.fact import Fact, fact
from onnx_lint.inference.types.typed_operator import typed_operator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.spec.operators import BUILT_IN

FLOATS = fact("tensor(float)", (2, 3))


def _memo(**changes: object) -> OutcomeMemo:
    schema = BUILT_IN.find("", "Relu", 14)
    assert schema is not None
    operator = typed_operator(replace(schema, **changes), binds=True)
    return OutcomeMemo(operator, (), NodeForm("Relu", "", (True,), (True,)), None)


def test_an_outcome_of_one_value_is_clean():
    memo = _memo()
    outcome = memo.outcome((FLOATS,))
    assert outcome.outputs == (FLOATS,)
    assert memo.is_clean(outcome)
    assert memo.plain == {(FLOATS,): FLOATS}


def test_an_outcome_with_a_problem_is_not_clean():
    memo = _memo()
    outcome = memo.outcome((fact("tensor(string)", (2, 3)),))
    assert outcome.problems
    assert not memo.is_clean(outcome)
    assert not memo.plain


def test_a_schema_file_may_describe_an_operator_without_outputs():
    memo = _memo(outputs=())
    outcome = memo.outcome((FLOATS,))
    assert outcome.outputs == ()
    assert not memo.is_clean(outcome)


def _outcome(op_type: str, version: int, inputs: tuple[Fact, ...]) -> tuple[OutcomeMemo, NodeOutcome]:
    schema = BUILT_IN.find("", op_type, version)
    assert schema is not None
    attributes = [schema_of.message("AttributeProto")(name="axis", type=2, i=0)] if op_type == "Concat" else []
    form = NodeForm(op_type, "", (True,) * len(inputs), (True,), attributes=attributes)
    memo = OutcomeMemo(typed_operator(schema, binds=True), (), form, None)
    return memo, memo.outcome(inputs)


def test_an_outcome_that_makes_dimensions_equal_is_not_clean():
    memo, outcome = _outcome("MatMul", 13, (fact("tensor(float)", (2, "K")), fact("tensor(float)", (3, 4))))
    assert outcome.equated
    assert not memo.is_clean(outcome)
    assert not memo.plain


def test_elements_follow_from_some_known_inputs_or_only_from_all():
    known, unknown = fact("tensor(int64)", (2,), (5, 6)), fact("tensor(int64)", (2,))
    assert _outcome("Concat", 13, (known, unknown))[1].outputs[0].content == (5, 6, None, None)
    assert _outcome("Add", 14, (known, known))[1].outputs[0].content == (10, 12)
    assert _outcome("Add", 14, (known, unknown))[1].outputs[0].content is None
