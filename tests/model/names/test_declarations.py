# SPDX-License-Identifier: Apache-2.0
"""When two declarations of one value contradict each other, and how a type is written in messages."""

from __future__ import annotations

import itertools
import random

import pytest
from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.model.in_words import describe_type
from onnx_lint.model.names.declarations import contradict, statements_of
from onnx_lint.registry import registry
from onnx_lint.rule import Finding
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
    assert contradict(statements_of(_type(one)), statements_of(_type(other))) is expected
    assert contradict(statements_of(_type(other)), statements_of(_type(one))) is expected


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


_DIMENSIONS = ("N", "M", 2, 3, None)
_LISTS = ("input", "initializer", "sparse_initializer", "output", "value_info")


def _declared_again_and_again(rng: random.Random) -> Model:
    """A graph that declares the values `a` and `b` in all of its lists, up to twelve times, and one nested in it."""
    graphs = []
    for _ in range(2):
        entries = []
        for _ in range(rng.randrange(2, 13)):
            name, field = rng.choice("ab"), rng.choice(_LISTS)
            dimensions = [rng.choice(_DIMENSIONS) for _ in range(rng.choice((1, 2, 2, 2)))]
            element = rng.choice((1, 1, 1, 7))
            if field in ("input", "output", "value_info"):
                kind = _tensor(element, *dimensions)
                kind = rng.choice((kind, kind, kind, kind, _sequence(kind), _optional(SHAPELESS), SHAPELESS, ""))
                entries.append(f'{field} {{ name: "{name}" type {{ {kind} }} }}')
                continue
            sizes = [size for size in dimensions if isinstance(size, int)]
            if field == "initializer":
                entries.append(f'initializer {{ name: "{name}" data_type: {element} dims: {sizes} }}')
            else:
                values = f'values {{ name: "{name}" data_type: {element} dims: 1 }}'
                entries.append(f"sparse_initializer {{ {values} dims: {sizes} }}")
        graphs.append(" ".join(entries))
    outer, inner = graphs
    return _model(
        f'{outer} node {{ op_type: "If" attribute {{ name: "then_branch" type: GRAPH g {{ {inner} }} }} '
        f'attribute {{ name: "else_branch" type: GRAPH g {{ {inner} }} }} }}'
    )


@pytest.mark.parametrize("seed", range(200))
def test_what_is_found_is_what_comparing_each_with_each_finds(seed: int):
    """The rules keep the first two things that are stated; here are the loops over pairs that this stands for."""
    model = _declared_again_and_again(random.Random(seed))
    contradicted: list[object] = []
    variables: list[tuple[str, object]] = []
    sizes: dict[tuple[object, str], int] = {}
    for graph, repeated in model.repeated_declarations.items():
        for declarations in repeated:
            for index, declaration in enumerate(declarations):
                others = (
                    other
                    for other in declarations[:index]
                    if other.field != declaration.field and contradict(other.statements, declaration.statements)
                )
                other = next(others, None)
                if declaration.field in ("output", "value_info") and other is not None:
                    contradicted.append((declaration.place, other.place))
            for declaration, source in itertools.permutations(declarations, 2):
                dimensions, known = declaration.dimensions or [], source.dimensions or []
                for axis, (variable, size) in enumerate(zip(dimensions, known, strict=False)):
                    if len(dimensions) != len(known) or not isinstance(variable, str) or not isinstance(size, int):
                        continue
                    scopes = [graph, *(outer for outer, _ in graph.scopes())]
                    first = next((sizes[scope, variable] for scope in scopes if (scope, variable) in sizes), size)
                    sizes.setdefault((graph, variable), first)
                    if first != size and variable not in (name for name, _ in variables):
                        shape = declaration.place.at("type").at(str(declaration.kind)).at("shape")
                        variables.append((variable, shape.at("dim", axis).at("dim_param")))
    found = _findings("contradictory-value-info", model)
    assert [(finding.place, finding.related[0].place) for finding in found] == contradicted
    found = _findings("contradictory-dimension-variable", model)
    assert [(finding.subject, finding.place) for finding in found] == variables


def _findings(rule: str, model: Model) -> list[Finding]:
    return list(registry()[rule].rule.run(model))
