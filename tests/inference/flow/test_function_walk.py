# SPDX-License-Identifier: Apache-2.0
"""Graphs that calls give to functions: each is judged by the operator in the body that runs it."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest
from support.project.each_case import each_case

from onnx_lint import lint
from onnx_lint.inference.flow import walk_budget
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.spec.clauses import Severity

HEAD = '<ir_version: 10, opset_import: ["" : 21, "d" : 1], producer_name: "p">'
FUNCTION = '<domain: "d", opset_import: ["": 21, "d": 1]>'
PICK = f"{FUNCTION} Pick <t, e> (c) => (y) {{ y = If <then_branch: graph = @t, else_branch: graph = @e> (c) }}"
EACH = f"{FUNCTION} Each <bd> (xs) => (ys) {{ ys = Scan <num_scan_inputs: int = 1, body: graph = @bd> (xs) }}"
OUTER = f"{FUNCTION} Outer <g> (x) => (y) {{ y = d.Each (x) <bd: graph = @g> }}"
REPEAT = f"{FUNCTION} Repeat <bd> (n, a) => (y) {{ y = Loop <body: graph = @bd> (n, , a) }}"
SHADOW = f"""{FUNCTION} Shadow <t> (c, i) => (y) {{
    x = Cast <to = 7> (i)
    y = If (c) <then_branch: graph = @t, else_branch = e () => (q) {{ q = Cast <to = 1> (x) }}>
}}"""


def _pick(declared: str, then_branch: str, else_branch: str) -> str:
    branches = f"<t: graph = a () => (p) {{ {then_branch} }}, e: graph = b () => (q) {{ {else_branch} }}>"
    return f"g (bool c, float[2, 3] x) => ({declared} y) {{ y = d.Pick (c) {branches} }}{PICK}"


def _each(body: str, name: str = "d.Each", attribute: str = "bd", functions: str = EACH) -> str:
    return (
        f"g (float[5, 3] x, float[4] w) => (float[5, 3] y) {{"
        f"y = {name} (x) <{attribute}: graph = b {body}> v = Neg (w) }}{functions}"
    )


CASES = {
    "branches": (_pick("float[2, 3]", "p = Relu (x)", "q = Neg (x)"), None),
    "branches of two types": (_pick("float[2, 3]", "p = Relu (x)", "q = IsNaN (x)"), "mismatched-subgraph-type"),
    "a wrong declaration": (_pick("float[2, 4]", "p = Relu (x)", "q = Neg (x)"), "contradictory-declared-shape"),
    "a branch that calls the function that runs it": (
        _pick(
            "float[2, 4]",
            "p = d.Pick (c) <t: graph = c () => (r) { r = Relu (x) }, e: graph = d () => (s) { s = Abs (x) }>",
            "q = Neg (x)",
        ),
        "contradictory-declared-shape",
    ),
    "a body": (_each("(float[3] u) => (float[3] o) { o = Neg (u) }"), None),
    "a body of another type": (
        _each("(int64[3] u) => (float[3] o) { o = Cast <to = 1> (u) }"),
        "mismatched-subgraph-type",
    ),
    "a body of another shape": (_each("(float[4] u) => (float[] o) { o = Neg (u) }"), "mismatched-subgraph-shape"),
    "a captured value that does not fit": (_each("(u) => (o) { o = Add (u, w) }"), "incompatible-operand-shapes"),
    "two outputs": (_each("(u) => (o, z) { o = Neg (u) z = Abs (u) }"), "mismatched-subgraph-signature"),
    "two outputs, through two functions": (
        _each("(u) => (o, z) { o = Neg (u) z = Abs (u) }", "d.Outer", "g", OUTER + EACH),
        "mismatched-subgraph-signature",
    ),
    "another type, through two functions": (
        _each("(double[3] u) => (float[3] o) { o = Cast <to = 1> (u) }", "d.Outer", "g", OUTER + EACH),
        "mismatched-subgraph-type",
    ),
    "a graph that nothing runs": (
        _each(
            "(float[9] u) => (float[9] o) { o = Neg (u) }",
            functions=f"{FUNCTION} Each <bd> (a) => (b) {{ b = Neg (a) }}",
        ),
        None,
    ),
    "a function that nothing calls": ("g (float[2] x) => (float[2] y) { y = Neg (x) }" + EACH, None),
    "two calls with bodies of their own": (
        "g (float[5, 3] x, float[5, 4] w) => (float[5, 3] y, float[5, 4] z) {"
        "y = d.Each (x) <bd: graph = b (float[3] u) => (float[3] o) { o = Neg (u) }>"
        "z = d.Each (w) <bd: graph = c (float[4] v) => (float[4] p) { p = Abs (v) }> }" + EACH,
        None,
    ),
    "a name of the caller that the function uses as well": (
        "g (bool c, float[2] x, float[2] i) => (float[2] y) {"
        "y = d.Shadow (c, i) <t: graph = a () => (float[2] p) { p = Sqrt (x) }> }" + SHADOW,
        None,
    ),
    "a carried value": (
        "g (int64 n, float[2] x) => (float[2] y) { y = d.Repeat (n, x) <bd: graph = b (int64 i, bool c, float[2] s)"
        "=> (bool k, int64[2] t) { k = Identity (c) t = Cast <to = 7> (s) }> }" + REPEAT,
        "mismatched-subgraph-type",
    ),
}


def _errors(model: onnx.ModelProto) -> list[str]:
    return [each.rule for each in lint(model.SerializeToString()).diagnostics if each.severity is Severity.ERROR]


@each_case("case", CASES)
def test_a_graph_that_a_call_gives(case: str):
    text, expected = CASES[case]
    assert _errors(onnx.parser.parse_model(HEAD + text)) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("b (float[3] u) => (float[3] o) { o = Neg (u) }", []),
        ("b (double[3] u) => (double[3] o) { o = Neg (u) }", ["mismatched-subgraph-type"]),
        ("b (u) => (o, z) { o = Neg (u) z = Abs (u) }", ["mismatched-subgraph-signature"]),
        # It refers to itself, and ends nevertheless.
        ("b (u) => (o) { o = Neg (u) z = Scan <num_scan_inputs = 1, body: graph = @bd> (xs) }", []),
    ],
)
def test_the_default_of_a_parameter(body: str, expected: list[str]):
    model = onnx.parser.parse_model(HEAD + "g (float[5, 3] x) => (float[5, 3] y) { y = d.Each (x) }" + EACH)
    [function] = model.functions
    function.attribute.remove("bd")
    function.attribute_proto.add(name="bd", type=onnx.AttributeProto.GRAPH, g=onnx.parser.parse_graph(body))
    assert _errors(model) == expected


def test_a_graph_beyond_the_budget_is_unknown_and_the_cause_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(walk_budget, "REPEATED_WALK_BUDGET", 3)
    # Each graph runs the one before it twice.
    text = "g (bool c, float[2] x) => (y) { y = d.F5 (c, x) <g: graph = b () => (o) { o = Neg (x) }> }"
    twice = "If (c) <then_branch: graph = @g, else_branch: graph = @g>"
    for index in range(6):
        call = f"d.F{index - 1} (c, x) <g: graph = b{index} () => (o) {{ o = {twice} }}>"
        text += f"{FUNCTION} F{index} <g> (c, x) => (y) {{ y = {call if index else twice} }}"
    flow = load(BytesSource(onnx.parser.parse_model(HEAD + text).SerializeToString()), "model.onnx").value_flow
    assert flow.shape_of("y") is None
    assert "budget" in {kind for (kind, _), _ in flow.knowledge.causes}


def test_long_attributes_in_a_body_leave_room_for_many_calls():
    calls = "".join(f"y{size} = d.Long (x{size}) " for size in range(1, 151))
    inputs = ", ".join(f"float[{size}] x{size}" for size in range(1, 151))
    body = f"""{FUNCTION} Long (x) => (y) {{ c = Constant <value_string = "{"a" * 100_000}"> () y = Neg (x) }}"""
    model = onnx.parser.parse_model(f"{HEAD} g ({inputs}) => (float[7] y150) {{ {calls} }} {body}")
    assert _errors(model) == ["contradictory-declared-shape"]


DECLARING = f"""{FUNCTION} D (c, x) => (y) {{
    y = If (c) <then_branch = a () => (float[2, n] p) {{ p = Relu (x) }},
                else_branch = b () => (float[2, 3] q) {{ q = Abs (x) }}>
}}"""


@pytest.mark.parametrize(
    ("calls", "severity"),
    [
        ("t = Constant <value = bool {1}> ()  y = d.D (t, x)", Severity.WARNING),
        ("t = Constant <value = bool {0}> ()  y = d.D (t, x)", Severity.ERROR),
        ("t = Constant <value = bool {1}> ()  f = Not (t)  z = d.D (t, x)  y = d.D (f, x)", Severity.ERROR),
        ("t = Constant <value = bool {1}> ()  f = Not (t)  z = d.D (f, x)  y = d.D (t, x)", Severity.ERROR),
        ("t = Constant <value = bool {1}> ()  f = Not (t)  z = d.D (f, w)  y = d.D (t, x)", Severity.WARNING),
    ],
)
def test_a_declaration_is_an_error_if_a_call_runs_its_branch(calls: str, severity: Severity):
    """The else branch declares three columns; `x` has four, and `w` three."""
    graph = f"g (float[2, 4] x, float[2, 3] w) => (float[2, m] y) {{ {calls} }}"
    model = onnx.parser.parse_model(f"{HEAD} {graph}{DECLARING}")
    found = [each for each in lint(model).diagnostics if each.rule == "contradictory-declared-shape"]
    assert [each.severity for each in found] == [severity]
