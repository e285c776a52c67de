# SPDX-License-Identifier: Apache-2.0
"""Which graphs have lists of names that need no closer look."""

from __future__ import annotations

import pytest
from support.project.each_case import each_case

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.plain_names import has_plain_names, not_c90, not_c90
from onnx_lint.loader import load

PLAIN = """
name: "g" node { name: "n" op_type: "Relu" input: "x" output: "y" } node { op_type: "Abs" input: "y" output: "z" }
node { op_type: "Add" input: "z" input: "w" output: "s" }
input { name: "x" } output { name: "s" } value_info { name: "y" } value_info { name: "s" }
initializer { name: "w" data_type: 1 float_data: 1 } initializer { name: "x" data_type: 1 float_data: 1 }
"""
FUNCTION = 'functions { name: "F" domain: "com.example" input: "a" output: "b" %s }'


def _are_plain(graph: str, model: str = "") -> list[bool]:
    text = f'ir_version: 10 producer_name: "p" opset_import {{ version: 21 }} graph {{ {graph} }} {model}'
    return list(map(has_plain_names, load(BytesSource(text.encode()), "model.textproto").graphs))


def test_a_name_may_stand_in_several_lists():
    assert _are_plain(PLAIN, FUNCTION % 'node { op_type: "Relu" input: "a" output: "b" }') == [True, True]


@each_case(
    "wrong",
    [
        'input { name: "x" }',
        "input { }",
        'output { name: "s" }',
        "output { }",
        'value_info { name: "y" }',
        "value_info { }",
        'value_info { name: "nowhere" }',
        'initializer { name: "w" data_type: 1 float_data: 1 }',
        "initializer { data_type: 1 float_data: 1 }",
        'sparse_initializer { values { name: "w" data_type: 1 } }',
        'node { name: "n" op_type: "Relu" input: "x" output: "v" }',
        'node { op_type: "Relu" input: "x" output: "y" }',
    ],
)
def test_graphs_that_are_not_plain(wrong: str):
    assert _are_plain(PLAIN + wrong) == [False]


@pytest.mark.parametrize(
    "wrong", ['input: "a"', 'output: "b"', 'input: ""', 'value_info { name: "c" }', 'node { output: "a" }']
)
def test_functions_that_are_not_plain(wrong: str):
    assert _are_plain(PLAIN, FUNCTION % wrong) == [True, False]


def test_a_training_algorithm_shares_names_with_the_inference_graph():
    assert _are_plain(PLAIN, "training_info { algorithm { } }") == [True, False]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "_b1", "class", ""], []),
        (["1a", "a-b", "a", "", "a b"], ["1a", "a-b", "a b"]),
        (["a", "na\u00efve", "1a"], ["na\u00efve", "1a"]),  # Python's identifiers may have other letters
        (["\u00e9"], ["\u00e9"]),
    ],
)
def test_names_that_are_no_c90_identifiers(names: list[str], expected: list[str]):
    assert not_c90(names) == expected
    assert not_c90(dict.fromkeys(names)) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "_b1", "class", ""], []),
        (["1a", "a-b", "a", "", "a b"], ["1a", "a-b", "a b"]),
        (["a", "na\u00efve", "1a"], ["na\u00efve", "1a"]),  # Python's identifiers may have other letters
        (["\u00e9"], ["\u00e9"]),
    ],
)
def test_names_that_are_no_c90_identifiers(names: list[str], expected: list[str]):
    assert not_c90(names) == expected
    assert not_c90(dict.fromkeys(names)) == expected
