# SPDX-License-Identifier: Apache-2.0
"""The wording of problems with shapes."""

from __future__ import annotations

from typing import get_args

import onnx.parser
import pytest

from onnx_lint import lint
from onnx_lint.inference.flow.shape_words import _WORDINGS
from onnx_lint.inference.shapes.problem import PlainProblem


def test_each_kind_of_problem_has_a_wording():
    assert _WORDINGS.keys() == set(get_args(PlainProblem))


@pytest.mark.parametrize(
    ("inputs", "node", "allowed"),
    [
        ("float x", "y = Squeeze<axes = [0]>(x)", "no axis, because the input is a scalar"),
        ("float[1] x", "y = Squeeze<axes = [2]>(x)", "-1 to 0"),
    ],
)
def test_what_is_allowed(inputs: str, node: str, allowed: str):
    text = f'<ir_version: 8, opset_import: ["": 11]> g ({inputs}) => (float y) {{ {node} }}'
    found = lint(onnx.parser.parse_model(text)).diagnostics
    assert [each.allowed for each in found if each.allowed] == [allowed]
