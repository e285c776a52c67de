# SPDX-License-Identifier: Apache-2.0
"""The outcomes of the nodes of one form."""

from __future__ import annotations

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
from onnx_lint.inference.shapes.fact import fact
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
