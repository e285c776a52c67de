# SPDX-License-Identifier: Apache-2.0
"""The import of another version that all nodes fit is one cause of all findings on those that do not."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint

TEXT = """
<ir_version: 10, opset_import: ["": {version}], producer_name: "me">
g (float[1,4] x, int64[1] a) => (float[A] y, float[B,C] z) {{ {nodes} }}"""

OLD = "y = Squeeze<axes = [0]>(x) z = Unsqueeze<axes = [0]>(y)"


@pytest.mark.parametrize(
    ("version", "nodes", "found"),
    [
        (12, "y = Squeeze(x, a) z = Gelu(x)", [("import version 20 of 'ai.onnx', which all its nodes fit", 2)]),
        (13, OLD, [("import version 12 of 'ai.onnx', which all its nodes fit", 2)]),
        (13, f"{OLD} w = Squeeze(x, a)", [(None, 1), (None, 1)]),
        # a node that fits no later version has a fault of its own
        (
            13,
            "z = LayerNormalization(x, x) y = Squeeze<axes = [0]>(x)",
            [("import version 17 of 'ai.onnx', which 1 of its nodes needs", 1), (None, 1)],
        ),
        (
            17,
            "z = Gelu(x) w = Mish(x) v = Clip<min = 0.0, max = 6.0>(x) y = Squeeze(x, a)",
            [("import version 20 of 'ai.onnx', which 2 of its nodes need", 2), (None, 1)],
        ),
    ],
)
def test_the_import_is_the_cause(version: int, nodes: str, found: list[tuple[str | None, int]]):
    model = onnx.parser.parse_model(TEXT.format(version=version, nodes=nodes))
    errors = [each for each in lint(model).diagnostics if each.clause in {"NOD-6", "NOD-7", "OPR-1"}]
    assert [(each.hint, each.count) for each in errors] == found


def test_an_earlier_version_that_does_not_allow_the_types_is_not_proposed():
    text = TEXT.replace("float[", "bfloat16[").format(version=13, nodes=OLD)
    found = [each for each in lint(onnx.parser.parse_model(text)).diagnostics if each.clause == "NOD-7"]
    assert [each.hint for each in found] == [None, None]


MORE = """
<ir_version: 10, opset_import: ["": {version}], producer_name: "me">
g (float[1,4] x, string[2] s, bool[4] b, float16[4] h, int64[2] k) => (float[A,B] y) {{ {nodes} }}"""


@pytest.mark.parametrize(
    ("version", "nodes", "counts"),
    [
        # types that the version allows, also where another version is the first to do so
        (17, "y = Gelu(x) z = Equal(s, s)", [2]),
        (17, "y = Gelu(x) z = ReduceMax(b)", [2]),
        # operands that it no longer requires
        (11, "y = LayerNormalization(x, x) z = Resize(x, '', '', k)", [3]),
        # types that no version up to it allows, or that differ: these are mistakes of their own
        (17, "y = Gelu(x) z = Sigmoid(k)", [1, 1]),
        (17, "y = Gelu(x) z = Add(x, h)", [1, 1]),
        (17, "y = LayerNormalization(x, x) z = ReduceMax(b)", [1]),
        (13, "y = LayerNormalization(x, x) z = ReduceMax(b)", [1, 1]),
        # an import that nothing else needs
        (17, "y = Relu(x) z = Equal(s, s)", [1]),
    ],
)
def test_types_and_omitted_operands_that_the_import_allows_have_its_cause(version: int, nodes: str, counts: list[int]):
    model = onnx.parser.parse_model(MORE.format(version=version, nodes=nodes.replace("''", "")))
    errors = [each for each in lint(model).diagnostics if each.clause in {"NOD-6", "NOD-7", "NOD-8", "OPR-1", "OPT-2"}]
    assert sorted(each.count for each in errors) == sorted(counts)


def test_no_other_domain_is_proposed_for_an_operator_of_a_later_version():
    """The function imports the earlier version as well: no import mends the model, and its domain is the right one."""
    text = """
    <ir_version: 10, opset_import: ["": 17, "com.l": 1], producer_name: "me">
    g (float[4] x) => (float[4] y) { h = Gelu(x) y = com.l.F(h) }
    <domain: "com.l", opset_import: ["": 17]> F (a) => (b) { b = Gelu(a) }"""
    (found,) = lint(onnx.parser.parse_model(text)).diagnostics
    assert (found.count, found.hint) == (2, None)
