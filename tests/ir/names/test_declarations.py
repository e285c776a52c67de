# SPDX-License-Identifier: Apache-2.0
"""When two declarations of one value contradict each other, and how a type is written in messages."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from support.models.type_texts import SHAPELESS, mapping, optional, sequence, tensor, type_of
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.declarations import contradict, defaults_across, statements_of
from onnx_lint.loader import load
from onnx_lint.model import Model

FITTING = [
    ("", ""),
    ("", tensor(1, 2)),
    ("tensor_type { }", tensor(1, 2)),
    (SHAPELESS, tensor(1, 2)),
    (tensor(1, 2, "N"), tensor(1, None, 3)),
    (tensor(1, "N"), tensor(1, "M")),
    (tensor(1, -1), tensor(1, 3)),
    (tensor(1), tensor(1)),
    (sequence(SHAPELESS), sequence(tensor(1, 2))),
    ("sequence_type { }", sequence(SHAPELESS)),
    (mapping(7, SHAPELESS), "map_type { key_type: 7 }"),
    ('opaque_type { name: "a" }', 'opaque_type { domain: "d" name: "a" }'),
]

CONTRADICTING = [
    (tensor(1, 2), tensor(7, 2)),
    (tensor(1, 2), tensor(1, 3)),
    (tensor(1, 2), tensor(1, 2, 2)),
    (tensor(1), tensor(1, 1)),
    (tensor(1, "N", 2), tensor(1, None, 3)),
    (tensor(1, 2), tensor(1, 2, kind="sparse_tensor_type")),
    (SHAPELESS, sequence(SHAPELESS)),
    (SHAPELESS, optional(SHAPELESS)),
    (sequence(tensor(1, 2)), sequence(tensor(1, 3))),
    (optional(SHAPELESS), optional(sequence(SHAPELESS))),
    (mapping(7, SHAPELESS), mapping(8, SHAPELESS)),
    (mapping(7, SHAPELESS), mapping(7, tensor(7))),
    ('opaque_type { name: "a" }', 'opaque_type { name: "b" }'),
    ('opaque_type { domain: "d" name: "a" }', 'opaque_type { domain: "e" name: "a" }'),
]


@each_case(
    ("one", "other", "expected"),
    [(*pair, False) for pair in FITTING] + [(*pair, True) for pair in CONTRADICTING],
)
def test_types_contradict(one: str, other: str, expected: bool):
    assert contradict(statements_of(type_of(one)), statements_of(type_of(other))) is expected
    assert contradict(statements_of(type_of(other)), statements_of(type_of(one))) is expected


def _model(text: str) -> Model:
    proto = text_format.Parse(f"graph {{ {text} }}", schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


SPARSE = (
    'sparse_initializer { values { name: "w" data_type: 1 dims: 1 } indices { data_type: 7 dims: 1 } dims: [2, 3] }'
)
DENSE = 'initializer { name: "w" data_type: 1 dims: [2, 3] }'


@each_case(
    ("initializer", "declared", "expected"),
    [
        (DENSE, tensor(1, 2, "N"), False),
        (DENSE, SHAPELESS, False),
        (DENSE, "", False),
        (DENSE, tensor(1, 2, 4), True),
        (DENSE, tensor(7, 2, 3), True),
        (DENSE, tensor(1, 2, 3, kind="sparse_tensor_type"), True),
        (DENSE, sequence(SHAPELESS), True),
        (SPARSE, tensor(1, 2, 3), False),
        (SPARSE, tensor(1, 2, 3, kind="sparse_tensor_type"), False),
        (SPARSE, tensor(1, 1), True),
        (SPARSE, tensor(7, 2, 3), True),
        (SPARSE, optional(SHAPELESS), True),
    ],
)
def test_an_initializer_and_a_declared_type(initializer: str, declared: str, expected: bool):
    model = _model(f'{initializer} input {{ name: "w" type {{ {declared} }} }}')
    ((first, second),) = next(iter(model.repeated_declarations.values()))
    assert (first.field, first.name, second.is_initializer, second.name) == ("input", "w", True, "w")
    assert contradict(first.statements, second.statements) is expected
    assert contradict(second.statements, first.statements) is expected


def test_the_declarations_of_a_value_in_order():
    model = _model(
        'value_info { name: "a" } output { name: "a" } input { name: "b" } input { name: "a" }'
        ' initializer { name: "a" } value_info { name: "" } output { name: "" }'
        ' value_info { name: "b" type { denotation: "TENSOR" } } value_info { name: "c" }'
    )
    found = {graph.kind.name: repeated for graph, repeated in model.repeated_declarations.items()}
    shown = {kind: [[str(each.place) for each in of_name] for of_name in repeated] for kind, repeated in found.items()}
    assert shown == {
        "MAIN": [
            ["graph.input[0]", "graph.value_info[2]"],
            ["graph.input[1]", "graph.initializer[0]", "graph.output[0]", "graph.value_info[0]"],
        ]
    }


def test_a_graph_that_declares_each_value_once_is_left_out():
    model = _model('input { name: "a" } output { name: "b" } value_info { name: "c" }')
    assert model.repeated_declarations == {}


def test_a_value_that_is_declared_alike_everywhere_is_left_out():
    model = _model(f'output {{ name: "a" type {{ {SHAPELESS} }} }} value_info {{ name: "a" type {{ {SHAPELESS} }} }}')
    assert model.repeated_declarations == {}


@pytest.mark.parametrize("sizes", [(2, 3), (), (0,)])
def test_an_initializer_of_the_type_that_its_input_declares_is_left_out(sizes: tuple[int, ...]):
    dims = " ".join(f"dims: {size}" for size in sizes)
    dim = " ".join(f"dim {{ dim_value: {size} }}" for size in sizes)
    declared = f"tensor_type {{ elem_type: 1 shape {{ {dim} }} }}"
    for element_type, expected in ((1, 0), (7, 1)):
        model = _model(
            f'initializer {{ name: "w" data_type: {element_type} {dims} }} input {{ name: "w" type {{ {declared} }} }}'
            f' value_info {{ name: "w" type {{ {declared} }} }}'
        )
        assert len(model.repeated_declarations) == expected


def test_an_initializer_is_compared_with_the_first_input_of_an_algorithm_that_has_its_name():
    model = load(
        BytesSource(
            b'ir_version: 10 graph { name: "g" initializer { name: "w" data_type: 1 float_data: 1 } } training_info '
            b'{ algorithm { name: "s" input { name: "v" } input { name: "w" } input { name: "w" } } }'
        ),
        "model.textproto",
    )
    (pair,) = defaults_across(model.training_graphs[0])
    assert [str(each.place) for each in pair] == ["graph.initializer[0]", "training_info[0].algorithm.input[1]"]
