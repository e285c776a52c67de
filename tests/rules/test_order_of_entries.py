# SPDX-License-Identifier: Apache-2.0
"""The verdict on several declarations of one value does not depend on their order."""

from __future__ import annotations

import itertools

import pytest

from onnx_lint import lint
from onnx_lint.spec.clauses import Severity

_NODES = """
node { op_type: "Use" domain: "example" input: "x" output: "a" }
node { op_type: "Use" domain: "example" input: "a" output: "y" }
input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
"""
_OUTPUT = 'output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }'


def _entry(field: str, name: str, size: str) -> str:
    shape = f"shape {{ dim {{ {size} }} dim {{ dim_value: 2 }} }}"
    return f'{field} {{ name: "{name}" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}'


@pytest.mark.parametrize("order", [*itertools.permutations(("", "dim_value: 3", "dim_value: 4"))])
@pytest.mark.parametrize(
    ("rule", "field", "name"), [("duplicate-value-info", "value_info", "a"), ("duplicate-graph-output", "output", "y")]
)
def test_an_entry_that_fits_two_which_contradict_each_other(rule: str, field: str, name: str, order: tuple[str, ...]):
    entries = " ".join(_entry(field, name, size) for size in order)
    outputs = "" if field == "output" else _OUTPUT
    graph = f'graph {{ name: "g" {_NODES}{entries}{outputs} }}'
    model = f'ir_version: 10 opset_import {{ domain: "example" version: 1 }} {graph}'
    report = lint(model.encode(), select=rule, filename="model.textproto")
    assert Severity.ERROR in {each.severity for each in report.diagnostics}
    assert not report.conforms
