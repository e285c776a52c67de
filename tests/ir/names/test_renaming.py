# SPDX-License-Identifier: Apache-2.0
"""A value gets its new name wherever it is meant, and nowhere else."""

from __future__ import annotations

import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.renaming import FreshNames, can_be_renamed, renaming, value_names
from onnx_lint.loader import load
from onnx_lint.model import Model

FLOATS = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
SPARSE = (
    "sparse_initializer { values { name: 's' data_type: 1 dims: 1 float_data: 1 } indices { data_type: 7 dims: 1 } }"
)


def _model(text: str) -> Model:
    return load(BytesSource(f"ir_version: 11 opset_import {{ version: 21 }} {text}".encode()), "model.textproto")


def _branch(nodes: str, output: str) -> str:
    return (
        "node { op_type: 'If' input: 'c' output: 'z' attribute { name: 'then_branch' type: GRAPH "
        f"g {{ {nodes} output {{ name: '{output}' }} }} }} }}"
    )


def _changes(text: str, **names: str) -> list[str]:
    model = _model(text)
    graph = model.graphs[0]
    return [f"{edit.place} = {edit.value}" for edit in renaming(graph, names)]


def test_every_list_that_mentions_the_value():
    text = f"""graph {{ node {{ input: 'a' output: 'b' output: 'a' op_type: 'Abs' device_configurations {{
        configuration_id: 'd' sharding_spec {{ tensor_name: 'a' }} }} }}
        initializer {{ name: 'a' }} {SPARSE} input {{ name: 'a' }} output {{ name: 'a' }} value_info {{ name: 'a' }}
        quantization_annotation {{ tensor_name: 'a'
            quant_parameter_tensor_names {{ key: 'SCALE_TENSOR' value: 's' }} }} }}"""
    assert _changes(text, a="new", s="t") == [
        "graph.input[0].name = new",
        "graph.output[0].name = new",
        "graph.initializer[0].name = new",
        "graph.value_info[0].name = new",
        "graph.sparse_initializer[0].values.name = t",
        "graph.node[0].input[0] = new",
        "graph.node[0].output[1] = new",
        "graph.node[0].device_configurations[0].sharding_spec[0].tensor_name = new",
        "graph.quantization_annotation[0].tensor_name = new",
        "graph.quantization_annotation[0].quant_parameter_tensor_names[0].value = t",
    ]


def test_a_nested_graph_means_the_value_unless_it_defines_the_name():
    inner = _branch("node { op_type: 'Abs' input: 'a' output: 'b' }", "b")
    assert _changes(f"graph {{ {inner} }}", a="new", b="other") == [
        "graph.node[0].attribute[0].g.node[0].input[0] = new",
    ]


def test_a_function_has_bare_names():
    text = "functions { name: 'F' domain: 'f' input: 'a' output: 'b' node { op_type: 'Abs' input: 'a' output: 'b' } }"
    model = _model(f"graph {{ }} {text}")
    body = model.functions[0].body
    assert [str(edit.place) for edit in renaming(body, {"a": "new", "b": "other"})] == [
        "functions[0].input[0]",
        "functions[0].output[0]",
        "functions[0].node[0].input[0]",
        "functions[0].node[0].output[0]",
    ]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("node { op_type: 'Abs' output: 'a' } node { op_type: 'Abs' input: 'a' output: 'b' }", True),
        ("node { op_type: 'Abs' input: 'a' output: 'b' } node { op_type: 'Abs' output: 'a' }", False),
        ("node { op_type: 'Abs' output: 'a' } node { op_type: 'Abs' output: 'a' }", False),
        (f"{_branch('', 'k')} node {{ op_type: 'Abs' output: 'a' }}", True),
        (
            _branch("node { op_type: 'Abs' input: 'a' output: 'k' }", "k") + " node { op_type: 'Abs' output: 'a' }",
            False,
        ),
    ],
)
def test_a_name_with_two_meanings_is_left_alone(nodes: str, expected: bool):
    assert can_be_renamed(_model(f"graph {{ {nodes} }}").graphs[0], {"a": "new"}) is expected


def test_all_names_of_values():
    inner = _branch("node { input: 'u' }", "k")
    text = f"graph {{ {inner} value_info {{ name: 'v' }} }}"
    assert set(value_names(_model(text).graphs)) == {"c", "z", "u", "k", "v"}


def test_a_name_gets_a_number_if_something_has_it():
    fresh = FreshNames(["a", "a_1", "b"])
    assert [fresh.like(name) for name in ("a", "a", "c", "c", "b")] == ["a_2", "a_3", "c", "c_1", "b_1"]


def test_a_hundred_thousand_equal_names_take_no_longer_than_others():
    fresh = FreshNames(["n"])
    assert len({fresh.like("n") for _ in range(100_000)}) == 100_000
