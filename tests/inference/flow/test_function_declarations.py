# SPDX-License-Identifier: Apache-2.0
"""The value_info of functions is compared with all calls."""

from __future__ import annotations

import pytest

from onnx_lint.inference.flow import walk_budget
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

_ELEMENT_TYPES = {"float": 1, "float16": 10, "double": 11}


def _type(element: str, size: int = 2) -> str:
    shape = f"shape {{ dim {{ dim_value: {size} }} }}"
    return f"type {{ tensor_type {{ elem_type: {_ELEMENT_TYPES[element]} {shape} }} }}"


def _called_with(*arguments: tuple[str, int], declared: tuple[str, int] = ("float", 2)) -> Model:
    """A model that calls a function once for each of these element types and sizes."""
    graph, body = [], 'node { op_type: "Add" input: "p" input: "p" output: "r" }'
    for index, argument in enumerate(arguments):
        graph.append(f'input {{ name: "x{index}" {_type(*argument)} }}')
        graph.append(f'node {{ op_type: "f" domain: "d" input: "x{index}" output: "y{index}" }}')
    text = f"""ir_version: 10 opset_import {{ version: 21 }} opset_import {{ domain: "d" version: 1 }}
        graph {{ name: "g" {" ".join(graph)} }}
        functions {{ name: "f" domain: "d" input: "p" output: "r" {body} opset_import {{ version: 21 }}
            value_info {{ name: "r" {_type(*declared)} }} }}"""
    return load(BytesSource(text.encode()))


def _types_at_odds(model: Model) -> list[tuple[str, str]]:
    return [(found.declared, found.allowed) for found in model.value_flow.declarations]


def _shapes_at_odds(model: Model) -> list[str]:
    return [found.allowed for found in model.value_flow.declared_shapes]


def _are_of_some_calls(model: Model) -> bool:
    return bool(model.value_flow.of_some_calls)


class TestValueInfoOfFunctions:
    def test_calls_that_agree_have_no_finding(self):
        model = _called_with(("float", 2), ("float", 2))
        assert (_types_at_odds(model), _shapes_at_odds(model)) == ([], [])

    def test_a_call_that_fits_and_one_that_does_not(self):
        for calls in ([("float", 2), ("double", 2)], [("double", 2), ("float", 2)]):
            model = _called_with(*calls)
            assert _types_at_odds(model) == [("tensor(float)", "tensor(double)")]
            assert _are_of_some_calls(model)
        model = _called_with(("float", 2), ("float", 3))
        assert _shapes_at_odds(model) == ["[3]"]
        assert _are_of_some_calls(model)

    def test_the_first_call_is_told_when_none_fits(self):
        model = _called_with(("double", 2), ("float16", 2))
        assert _types_at_odds(model) == [("tensor(float)", "tensor(double)")]
        assert not _are_of_some_calls(model)
        call = model.value_flow.declarations[0].call
        assert call is not None
        assert (call.node.index, [each.kind for each in call.arguments]) == (0, ["tensor(double)"])

    def test_all_calls_have_another_shape(self):
        model = _called_with(("float", 3), ("float", 4))
        assert _shapes_at_odds(model) == ["[3]"]
        assert not _are_of_some_calls(model)

    def test_a_call_of_another_type_and_one_of_another_shape_are_no_common_fault(self):
        model = _called_with(("double", 2), ("float", 3))
        assert (_types_at_odds(model), _shapes_at_odds(model)) == ([("tensor(float)", "tensor(double)")], [])
        assert _are_of_some_calls(model)

    def test_calls_that_were_not_followed_may_fit(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(walk_budget, "REPEATED_WALK_BUDGET", 0)
        assert _are_of_some_calls(_called_with(("double", 2), ("float16", 2)))
        assert _are_of_some_calls(_called_with(("float", 3), ("float", 4)))
        # That its shape is not known says nothing about its type.
        assert not _are_of_some_calls(_called_with(("double", 2), ("double", 3)))
