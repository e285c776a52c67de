# SPDX-License-Identifier: Apache-2.0
"""A value that nothing reads is proposed before a Cast of one of a wrong type."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint

CAST = "with a Cast to BOOL (to=9) of input 0 'x' the types fit"
FLOAT = "with a Cast to FLOAT (to=1) of input 0 'i' the types fit"


def _hint(inputs: str, outputs: str, nodes: str) -> str | None:
    text = f'<ir_version: 10, opset_import: ["": 21]> g ({inputs}) => ({outputs}) <float o = {{2}}> {{ {nodes} }}'
    findings = lint(onnx.parser.parse_model(text)).diagnostics
    return next(each.hint for each in findings if each.rule == "mismatched-operand-type")


@pytest.mark.parametrize(
    ("outputs", "nodes", "hint"),
    [
        ("float[N] y", "y = Where(x, x, o)", CAST),
        ("float[N] y", "c = Greater(x, o) y = Where(x, x, o)", "with 'c' in place of input 0 'x' the types fit"),
        # It is defined too late, it is read, or it is made beside a value that is read.
        ("float[N] y", "y = Where(x, x, o) c = Greater(x, o)", CAST),
        ("float[N] y, float[N] e", "c = Greater(x, o) e = Cast<to = 1>(c) y = Where(x, x, o)", CAST),
        ("float[N] y", "r, c = Dropout(x) y = Where(x, r, o)", None),
        # Either may be meant; an output of the graph may be, too.
        ("float[N] y", "c = Greater(x, o) d = Less(x, o) y = Where(x, x, o)", None),
        ("float[N] y, bool[N] c", "c = Greater(x, o) y = Where(x, x, o)", None),
        # It has another shape.
        ("float[N] y", "s = Shape(x) z = Equal(s, s) c = Unsqueeze(z, s) y = Where(x, x, o)", CAST),
    ],
)
def test_of_conditions(outputs: str, nodes: str, hint: str | None):
    assert _hint("float[N] x", outputs, nodes) == hint


@pytest.mark.parametrize(
    ("nodes", "hint"),
    [
        ("h = Relu(x) y = Mul(i, x)", "with 'h' in place of input 0 'i' the types fit"),
        ("h = Relu(x) y = Mul(i, h)", FLOAT),
        ("h = Concat<axis = 0>(x, x, o1) y = Mul(i, x)", FLOAT),
        ("h = Flatten(x) y = Mul(i, x)", FLOAT),
    ],
)
def test_of_operands_of_two_types(nodes: str, hint: str | None):
    assert _hint("float[4] x, int64[4] i, float[1] o1", "float[4] y", nodes) == hint


def test_another_output_of_the_node_may_have_another_shape():
    nodes = "v, i = TopK(x, k) y = Softmax(i)"
    assert _hint("float[3,9] x, int64[1] k", "float[3,K] y", nodes) == "with 'v' in place of input 0 'i' the types fit"
