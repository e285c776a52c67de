# SPDX-License-Identifier: Apache-2.0
"""The wording of problems with shapes."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint
from onnx_lint.inference.flow.shape_words import shape_in_words
from onnx_lint.inference.shapes.fact import Fact, fact

LIST = fact("tensor(float)", (2, "N"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (LIST, "[2, N]"),
        (fact("seq(tensor(float))", inside=LIST), "seq of [2, N]"),
        (fact("seq(tensor(float))", inside=fact("tensor(float)")), "seq of unknown rank"),
        (
            fact("optional(seq(tensor(float)))", inside=fact("seq(tensor(float))", inside=LIST)),
            "optional of seq of [2, N]",
        ),
        (fact(None, inside=LIST), "something of [2, N]"),
    ],
)
def test_the_shape_of_a_value(value: Fact, words: str):
    assert shape_in_words(value) == words


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
