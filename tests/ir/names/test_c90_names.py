# SPDX-License-Identifier: Apache-2.0
"""Names inside a model become C90 identifiers that differ; those that callers use stay."""

from __future__ import annotations

import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.c90_names import as_c90, c90_edits, has_c90_edits
from onnx_lint.ir.names.plain_names import is_c90
from onnx_lint.loader import load


@pytest.mark.parametrize(
    ("name", "expected"), [("a.b", "a_b"), ("/a/b:0", "_a_b_0"), ("0", "n0"), ("é", "_"), ("a", "a"), ("²", "_")]
)
def test_as_c90(name: str, expected: str):
    assert as_c90(name) == expected
    assert is_c90(expected)


def _changes(text: str) -> dict[str, object]:
    model = load(BytesSource(text.encode()), "model.textproto")
    found = {str(edit.place): edit.value for edit in c90_edits(model.graphs)}
    assert has_c90_edits(model.graphs) is bool(found)
    return found


def test_names_in_a_model_differ_afterwards():
    text = """graph { name: "g.0" input { name: "in.0" } output { name: "out.0" }
        node { name: "n.0" op_type: "Op.1" input: "in.0" output: "v.0" }
        node { name: "n/0" op_type: "Op.1" input: "v.0" output: "v/0" }
        node { name: "n_0" op_type: "Op.1" input: "v/0" output: "out.0" } }"""
    assert _changes(text) == {
        "graph.node[0].name": "n_0_1",
        "graph.node[1].name": "n_0_2",
        "graph.node[0].output[0]": "v_0",
        "graph.node[1].input[0]": "v_0",
        "graph.node[1].output[0]": "v_0_1",
        "graph.node[2].input[0]": "v_0_1",
        "graph.name": "g_0",
    }


def test_functions_keep_their_interface_and_have_names_of_their_own():
    body = 'input: "i.0" output: "o.0" node { input: "i.0" output: "v.0" } node { input: "v.0" output: "o.0" }'
    text = " ".join(f'functions {{ name: "{name}.0" domain: "f" {body} }}' for name in "FG")
    assert _changes(f"graph {{ }} {text}") == {
        f"functions[{function}].node[{node}].{field}[0]": "v_0"
        for function in (0, 1)
        for node, field in ((0, "output"), (1, "input"))
    }


def test_nothing_to_change():
    text = 'graph { input { name: "0" } output { name: "1" } node { input: "0" output: "1" op_type: "." } }'
    assert _changes(text) == {}
