# SPDX-License-Identifier: Apache-2.0
"""Operators that ONNX Runtime has in the default domain load there if their types are known, and onnx refuses them."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest
from support.models.asked_releases import states

import onnx_lint

NORMALIZED = "(%s[2, 4] x, %s[4] s) => (%s[2, 4] y) { y = %s(x, s) }"
IN_FUNCTION = '(float[2, 4] x, float[4] s) => (float[2, 4] y) { y = f.F(x, s) } <domain: "f", opset_import: ["": 16]>'


@pytest.mark.parametrize(("kind", "expected"), [("float", [True] * 4), ("double", [None] * 4), ("int32", [False] * 4)])
@pytest.mark.parametrize("operator", ["LayerNormalization", "SimplifiedLayerNormalization"])
def test_normalizations_of_onnx_runtime(operator: str, kind: str, expected: list[bool | None]) -> None:
    assert states(NORMALIZED % (kind, kind, kind, operator), opset=16) == expected


def test_a_function_with_an_operator_of_onnx_runtime_ends_the_process() -> None:
    graph = IN_FUNCTION + " F (x, s) => (y) { y = LayerNormalization(x, s) }"
    assert states(graph, opset=16, imports=', "f": 1') == [None] * 4


@pytest.mark.parametrize("target", ["onnx.checker", "onnx.full_check"])
def test_both_checks_refuse_what_only_onnx_runtime_has(target: str) -> None:
    graph = NORMALIZED % ("float", "float", "float", "LayerNormalization")
    for version, loads in ((16, False), (17, True)):
        found = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {version}]> g {graph}')
        assert onnx_lint.lint(found, target=target).files[0].targets[0].loads is loads
