# SPDX-License-Identifier: Apache-2.0
"""What graphs declare of their values."""

from __future__ import annotations

from support.models.model_samples import from_text

from onnx_lint.model.declared_values import algorithms, bare_values, empty_types

SCALAR = "type { tensor_type { elem_type: 1 shape { } } }"
NO_SHAPE = "type { tensor_type { elem_type: 1 } }"
MODEL = f"""
graph {{
  name: "main" input {{ name: "x" {SCALAR} }} output {{ name: "y" {NO_SHAPE} }}
  value_info {{ name: "a" }} value_info {{ name: "b" type {{ }} }} value_info {{ name: "c" {SCALAR} }}
}}
training_info {{
  initialization {{ name: "start" output {{ name: "s" }} }}
  algorithm {{ name: "step" input {{ name: "in" }} output {{ name: "out" {SCALAR} }} }}
}}
"""


def test_algorithms_are_no_initialization_graphs():
    assert [graph.name for graph in algorithms(from_text(MODEL))] == ["step"]


def test_a_type_is_empty_only_if_it_is_there():
    assert [(graph.name, indices) for graph, indices in empty_types(from_text(MODEL))] == [("main", [1])]


def test_inputs_and_outputs_without_type_or_shape_are_bare():
    assert [str(value.place) for value in bare_values(from_text(MODEL))] == [
        "graph.output[0]",
        "training_info[0].algorithm.input[0]",
    ]
