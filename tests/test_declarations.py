# SPDX-License-Identifier: Apache-2.0
"""When two declarations of one value contradict each other, and how a type is written in messages."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.model.declarations import declarations_contradict, describe_type, types_contradict
from onnx_lint.source import BytesSource


def _type(text: str) -> Proto:
    return text_format.Parse(text, schema.message("TypeProto")())


def _tensor(element: int, *dimensions: object, kind: str = "tensor_type") -> str:
    shown = []
    for dimension in dimensions:
        if isinstance(dimension, int):
            shown.append(f"dim {{ dim_value: {dimension} }}")
        else:
            shown.append(f'dim {{ dim_param: "{dimension}" }}' if dimension else "dim { }")
    return f"{kind} {{ elem_type: {element} shape {{ {' '.join(shown)} }} }}"


def _sequence(element: str) -> str:
    return f"sequence_type {{ elem_type {{ {element} }} }}"


def _optional(element: str) -> str:
    return f"optional_type {{ elem_type {{ {element} }} }}"


def _map(key: int, value: str) -> str:
    return f"map_type {{ key_type: {key} value_type {{ {value} }} }}"


SHAPELESS = "tensor_type { elem_type: 1 }"

FITTING = [
    ("", ""),
    ("", _tensor(1, 2)),
    ("tensor_type { }", _tensor(1, 2)),
    (SHAPELESS, _tensor(1, 2)),
    (_tensor(1, 2, "N"), _tensor(1, None, 3)),
    (_tensor(1, "N"), _tensor(1, "M")),
    (_tensor(1, -1), _tensor(1, 3)),
    (_tensor(1), _tensor(1)),
    (_sequence(SHAPELESS), _sequence(_tensor(1, 2))),
    ("sequence_type { }", _sequence(SHAPELESS)),
    (_map(7, SHAPELESS), "map_type { key_type: 7 }"),
    ('opaque_type { name: "a" }', 'opaque_type { domain: "d" name: "a" }'),
]

CONTRADICTING = [
    (_tensor(1, 2), _tensor(7, 2)),
    (_tensor(1, 2), _tensor(1, 3)),
    (_tensor(1, 2), _tensor(1, 2, 2)),
    (_tensor(1), _tensor(1, 1)),
    (_tensor(1, "N", 2), _tensor(1, None, 3)),
    (_tensor(1, 2), _tensor(1, 2, kind="sparse_tensor_type")),
    (SHAPELESS, _sequence(SHAPELESS)),
    (SHAPELESS, _optional(SHAPELESS)),
    (_sequence(_tensor(1, 2)), _sequence(_tensor(1, 3))),
    (_optional(SHAPELESS), _optional(_sequence(SHAPELESS))),
    (_map(7, SHAPELESS), _map(8, SHAPELESS)),
    (_map(7, SHAPELESS), _map(7, _tensor(7))),
    ('opaque_type { name: "a" }', 'opaque_type { name: "b" }'),
    ('opaque_type { domain: "d" name: "a" }', 'opaque_type { domain: "e" name: "a" }'),
]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(*pair, False) for pair in FITTING] + [(*pair, True) for pair in CONTRADICTING],
)
def test_types_contradict(one: str, other: str, expected: bool):
    assert types_contradict(_type(one), _type(other)) is expected
    assert types_contradict(_type(other), _type(one)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no type"),
        (SHAPELESS, "float"),
        (_tensor(1), "float[]"),
        (_tensor(7, 2, "N", None, -1), "int64[2,N,?,-1]"),
        (_tensor(99, 2), "element type 99[2]"),
        ("tensor_type { }", "undefined"),
        (_tensor(1, *range(10)), "float[0,1,2,3,4,5,6,7,... 10 dimensions]"),
        (_tensor(1, "a\\nb"), "float[a\\nb]"),
        (_tensor(28, 2, kind="sparse_tensor_type"), "sparse float6e3m2[2]"),
        (_sequence(_map(8, SHAPELESS)), "seq(map(string, float))"),
        (_optional(_sequence(SHAPELESS)), "optional(seq(float))"),
        ('opaque_type { domain: "d" name: "a" }', "opaque(d,a)"),
    ],
)
def test_describe_type(text: str, expected: str):
    assert describe_type(_type(text)) == expected


def _model(text: str) -> Model:
    proto = text_format.Parse(f"graph {{ {text} }}", schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


SPARSE = (
    'sparse_initializer { values { name: "w" data_type: 1 dims: 1 } indices { data_type: 7 dims: 1 } dims: [2, 3] }'
)
DENSE = 'initializer { name: "w" data_type: 1 dims: [2, 3] }'


@pytest.mark.parametrize(
    ("initializer", "declared", "expected"),
    [
        (DENSE, _tensor(1, 2, "N"), False),
        (DENSE, SHAPELESS, False),
        (DENSE, "", False),
        (DENSE, _tensor(1, 2, 4), True),
        (DENSE, _tensor(7, 2, 3), True),
        (DENSE, _tensor(1, 2, 3, kind="sparse_tensor_type"), True),
        (DENSE, _sequence(SHAPELESS), True),
        (SPARSE, _tensor(1, 2, 3), False),
        (SPARSE, _tensor(1, 2, 3, kind="sparse_tensor_type"), False),
        (SPARSE, _tensor(1, 1), True),
        (SPARSE, _tensor(7, 2, 3), True),
        (SPARSE, _optional(SHAPELESS), True),
    ],
)
def test_an_initializer_and_a_declared_type(initializer: str, declared: str, expected: bool):
    model = _model(f'{initializer} input {{ name: "w" type {{ {declared} }} }}')
    ((first, second),) = next(iter(model.repeated_declarations.values()))
    assert (first.field, first.name, second.is_initializer, second.name) == ("input", "w", True, "w")
    assert declarations_contradict(first, second) is expected
    assert declarations_contradict(second, first) is expected


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
