# SPDX-License-Identifier: Apache-2.0
"""Attributes that became inputs get no fix if their value has no tensor of the right type."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint


@pytest.mark.parametrize(
    ("kind", "node", "has_fix"),
    [
        ("float", "Clip <max = 6.0> (x)", True),
        ("float16", "Clip <max = 6.0> (x)", True),
        ("float16", "Clip <max = 1e9> (x)", False),
        ("int64", "Clip <max = 6.0> (x)", False),
        ("float16", "ReduceMean <axes = [0]> (x)", True),
        ("float", "LeakyRelu <alpa = 0.5> (x)", True),
        ("float", "LeakyRelu <alpa = 1> (x)", False),
        ("float", "LeakyRelu <alpa = 0.5, alpha = 0.5> (x)", False),
    ],
)
def test_a_fix_needs_a_value_of_the_right_type(kind: str, node: str, has_fix: bool):
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]> g ({kind}[2] x) => ({kind} y) {{ y = {node} }}'
    )
    [found] = [each for each in lint(model).diagnostics if each.rule == "unknown-operator-attribute"]
    assert (found.fix is not None, found.advice.no_fix is None) == (has_fix, has_fix)
