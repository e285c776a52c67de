# SPDX-License-Identifier: Apache-2.0
"""The tensors that give a value its elements. tests/rules/test_refused_forms.py has what follows for ONNX Runtime."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators import stored_elements
from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.loader import load

HEADER = '<ir_version: 9, opset_import: ["": 17, "f": 1]>'
FUNCTION = '<domain: "f", opset_import: ["": 17, "f": 1]>'


def _names(nodes: str, *functions: str, output: str = "y") -> list[str]:
    """Return the names of the tensors with the elements of y."""
    bodies = " ".join(f"{FUNCTION} {each}" for each in functions)
    model = load(
        BytesSource(
            onnx.parser.parse_model(
                f"{HEADER} g (int64[2] x) => (int64[2] {output}) <int64[2] s = {{1, 2}}, int64[2] k = {{3, 4}}> "
                f"{{ {nodes} z = Abs(y) }} {bodies}"
            ).SerializeToString()
        ),
        "model.onnx",
    )
    found = StoredElements(model.calls, model.main_graph)
    return sorted(tensor.name for tensor in found.tensors_of(model.main_graph, "y"))


@pytest.mark.parametrize(
    ("nodes", "functions", "names"),
    [
        ("y = Identity(s)", [], ["s"]),
        ("y = Identity(x)", [], []),
        ("y = Abs(s)", [], []),
        ("t = Identity(s) y = Cast <to = 7> (t)", [], ["s"]),
        ("t = Cast <to = 6> (s) y = Cast <to = 7> (t)", [], []),
        ("y = Identity(missing)", [], []),
        ("y = f.F(s, k)", ["F (a, b) => (c) { c = Identity(b) }"], ["k"]),
        ("y = f.F(s)", ["F (a, b) => (c) { c = Identity(b) }"], []),
        ("t = f.F(s) y = f.F(k)", ["F (a) => (c) { c = Identity(a) }"], ["k"]),
        ("y = f.F(s)", ["F (a) => (c) { c = f.G(a) }", "G (a) => (c) { c = Identity(a) }"], ["s"]),
        ("y = f.F(s)", ["F (a) => (c) { c = Abs(a) }"], []),
    ],
)
def test_elements_come_through_identity_casts_and_calls(nodes: str, functions: list[str], names: list[str]) -> None:
    assert _names(nodes, *functions, output="z") == names


def test_the_node_of_an_output_of_the_model_remains() -> None:
    assert _names("y = Identity(s)", output="y") == []


def test_many_calls_end_after_a_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 20 functions calls the next one twice."""
    functions = [f"F{n} (a) => (c) {{ b = f.F{n + 1}(a) c = f.F{n + 1}(b) }}" for n in range(20)]
    steps: list[str] = []
    before = stored_elements.StoredElements._before
    monkeypatch.setattr(
        stored_elements.StoredElements,
        "_before",
        lambda self, step, found: (steps.append(step.name), before(self, step, found))[1],
    )
    assert _names("y = f.F0(s)", *functions, "F20 (a) => (c) { c = Identity(a) }", output="z") == []
    assert 900 < len(steps) <= stored_elements.MAX_STEPS
