# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan with bodies whose conversion fails in some models are not said to load in OpenVINO."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

import onnx_lint


def state(graph: str, release: str = "2026.4") -> bool | None:
    """Return whether OpenVINO loads a model."""
    found = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {graph}')
    return onnx_lint.lint(found, target=f"openvino={release}").files[0].targets[0].loads


BRANCHES = "(float[2] x, bool%s c) => (float[2] y) { y = If(c) <then_branch = t () => (float[2] u) { %s }, %s> }"
OTHER = "else_branch = e () => (float[2] v) { v = Neg(x) }"


@pytest.mark.parametrize(
    ("dims", "node", "expected"),
    [
        ("", "u = Abs(x)", True),
        ("[1]", "u = Abs(x)", True),
        ("[1, 1]", "u = Abs(x)", None),
        ("", "u = Dropout(x)", None),
        ("", "u = Bernoulli(x)", None),
    ],
)
def test_branches(dims: str, node: str, expected: bool | None) -> None:
    assert state(BRANCHES % (dims, node, OTHER)) is expected


LOOP = """(float[2] x, int64 n, bool c) => (float[a] y) {
y = Loop(n, c, x) <body = b (int64 i, bool d, float[a] s) => (bool e, float[b] t) { %s }> }"""


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("e = Identity(d) t = Neg(s)", True),
        ("e = Identity(d) t = Concat<axis = 0>(s, s)", None),
        ("e = Identity(d) t = Dropout(s)", None),
    ],
)
def test_loops(nodes: str, expected: bool | None) -> None:
    assert state(LOOP % nodes) is expected


def test_a_scan_that_reads_values_from_outside() -> None:
    scan = """(float[2] x, float[3, 2] z) => (float[a] y, float[b, c] r) {
        y, r = Scan<num_scan_inputs = 1, body = b (float[2] s, float[2] p) => (float[2] t, float[2] q) {
        t = Add(s, %s) q = Identity(p) }>(x, z) }"""
    assert state(scan % "p") is True
    assert state(scan % "x") is None


def test_subgraphs_are_judged_in_the_release_that_was_asked() -> None:
    graph = BRANCHES % ("", "u = Abs(x)", OTHER)
    found = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {graph}')
    answers = [onnx_lint.lint(found, target=f"openvino={each}").files[0].targets[0] for each in ("2025.4", "2026.4")]
    assert [each.loads for each in answers] == [None, True]
    assert "1 node with subgraphs" in answers[0].text


READ = "f = Cast<to = 1>(%s) t = Add(s, f)"
INNER_LOOP = """m = Constant<value_int = 2>() t = Loop(m, %s, s) <body = i (int64 j, bool g, float[2] u)
=> (bool h, float[2] v) { h = Identity(g) v = Abs(u) }>"""
INNER_IF = (
    "t = If(d) <then_branch = i () => (float[2] u) { u = Abs(s) }, else_branch = j () => (float[2] v) { v = Neg(s) }>"
)


@pytest.mark.parametrize(
    ("condition", "nodes", "expected"),
    [
        ("e = Identity(d)", READ % "d", None),
        ("e = Identity(d)", READ % "e", None),
        ("e = Identity(d)", INNER_LOOP % "d", None),
        ("e = Identity(d)", INNER_LOOP % "e", None),
        ("e = Identity(d)", INNER_IF, None),
        (
            "e = Identity(d)",
            INNER_LOOP.replace("Abs(u)", "Add(u, f)").replace("v =", "f = Cast<to = 1>(d) v =") % "c",
            None,
        ),
        ("e = Identity(d)", INNER_LOOP % "c", True),
        ("e = Identity(d)", "f = Cast<to = 1>(d) t = Neg(s)", True),
        ("k = Identity(d) e = Identity(k)", READ % "d", True),
        ("e = And(c, d)", READ % "d", True),
        ("e = Constant<value = bool {1}>()", INNER_LOOP % "d", True),
        ("k = Constant<value_int = 5>() e = Less(i, k)", INNER_IF, True),
    ],
)
def test_a_loop_that_reads_the_condition_that_it_passes_on(condition: str, nodes: str, expected: bool | None) -> None:
    """OpenVINO deletes the input of a body that one Identity makes the output, so that other readers miss it.

    A reader that no output needs is not converted.
    """
    assert (
        state(LOOP.replace("float[a]", "float[2]").replace("float[b]", "float[2]") % f"{condition} {nodes}") is expected
    )


def test_a_loop_that_returns_its_condition_twice() -> None:
    loop = """(float[2] x, int64 n, bool c) => (float[2] y, bool[a] z) { y, z = Loop(n, c, x) <body = b
        (int64 i, bool d, float[2] s) => (bool e, float[2] t, bool %s) { e = Identity(d) t = Neg(s) %s }> }"""
    assert state(loop % ("e", "")) is None
    assert state(loop % ("f", "f = Identity(d)")) is None
    assert state(loop % ("f", "f = Identity(c)")) is True


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("t = Scan<num_scan_inputs = 1, body = i (u, v) => (w) { w = Add(u, v) }>(k, p)", None),
        ("g = Scan<num_scan_inputs = 1, body = i (u, v) => (w) { w = Add(u, v) }>(k, p) t = Add(s, p)", True),
        (f"n = Constant<value = bool {{1}}>() {INNER_LOOP % 'n'}", True),
    ],
)
def test_a_scan_in_the_body_of_a_scan(nodes: str, expected: bool | None) -> None:
    scan = """(float[2] x, float[3, 2] z) => (float[2] y) { y = Scan<num_scan_inputs = 1, body = b
        (float[2] s, float[2] p) => (float[2] t) { k = Constant<value = float {1}>() %s }>(x, z) }"""
    assert state(scan % nodes) is expected
