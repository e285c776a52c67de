# SPDX-License-Identifier: Apache-2.0
"""Graphs, and what is visible in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import walked
from google.protobuf import text_format
from messages import message_of
from model_samples import from_text, loaded
from wire_bytes import (
    GRAPH,
    LEN,
    is_repeated,
    length,
    number,
    rich_model,
    wire_type_of,
)

from onnx_lint import schema
from onnx_lint.loader import load
from onnx_lint.model import Model, Place, Proto
from onnx_lint.model.places.place import ROOT
from onnx_lint.source import BytesSource

GRAPHS = """
graph {
  name: "main"
  node { name: "abs" op_type: "Abs" input: "x" output: "a" }
  node { name: "if" op_type: "If" input: "c" output: "b"
    attribute { name: "then_branch" type: GRAPH g { name: "then"
      node { op_type: "Loop" output: "t" attribute { name: "body" type: GRAPH g { name: "body"
        node { op_type: "Add" input: "a" input: "w" output: "deep" } } } } } }
    attribute { name: "else_branch" type: GRAPH g { name: "else" initializer { name: "e" } } } }
  node { name: "relu" op_type: "Relu" input: "b" output: "y" output: "" }
  initializer { name: "w" } sparse_initializer { values { name: "s" } }
  input { name: "x" } input { name: "c" } input { name: "w" } output { name: "y" }
}
functions { name: "F" domain: "f" input: "u" output: "v" attribute_proto { name: "d" type: GRAPH g { name: "default" } }
  node { op_type: "If" output: "v" attribute { name: "then_branch" type: GRAPH g { name: "in function" } } } }
training_info { initialization { name: "start" } algorithm { name: "step"
  node { op_type: "Sub" input: "y" input: "w" output: "loss" } } }
"""


def _graphs(model: Model) -> dict[str, tuple[str, str]]:
    return {graph.name: (graph.kind.value, str(graph.place)) for graph in model.graphs}


def test_every_graph_is_found_in_order():
    branch = "graph.node[1].attribute"
    assert list(_graphs(from_text(GRAPHS)).items()) == [
        ("main", ("main graph", "graph")),
        ("then", ("subgraph", f"{branch}[0].g")),
        ("body", ("subgraph", f"{branch}[0].g.node[0].attribute[0].g")),
        ("else", ("subgraph", f"{branch}[1].g")),
        ("F", ("function body", "functions[0]")),
        ("in function", ("subgraph", "functions[0].node[0].attribute[0].g")),
        ("default", ("subgraph", "functions[0].attribute_proto[0].g")),
        ("start", ("initialization graph", "training_info[0].initialization")),
        ("step", ("training algorithm", "training_info[0].algorithm")),
    ]


def _graph(model: Model, name: str):
    return next(graph for graph in model.graphs if graph.name == name)


@pytest.mark.parametrize(
    ("graph", "visible", "hidden"),
    [
        ("main", "", "a b x w s y"),
        ("then", "x c w s a", "b y t deep e"),
        ("body", "x c w s a", "b y t deep"),
        ("else", "x c w s a", "b y t"),
        ("F", "", "x a u v"),
        ("in function", "u", "v x a w"),
        ("start", "", "x a w"),
        ("step", "x c w s a b y", "t deep e u loss"),
    ],
)
def test_a_graph_sees_what_is_defined_before_its_node(graph: str, visible: str, hidden: str):
    found = _graph(from_text(GRAPHS), graph)
    names = {name: found.sees(name) for name in (*visible.split(), *hidden.split())}
    assert names == dict.fromkeys(visible.split(), True) | dict.fromkeys(hidden.split(), False)
    assert {name for name in names if found.outer_definition(name) is not None} == set(visible.split())


def test_definitions_come_with_their_places():
    main = _graph(from_text(GRAPHS), "main")
    assert [(name, str(definition.place), definition.describe()) for name, definition in main.definitions()] == [
        ("x", "graph.input[0]", "input 0 of main graph 'main'"),
        ("c", "graph.input[1]", "input 1 of main graph 'main'"),
        ("w", "graph.input[2]", "input 2 of main graph 'main'"),
        ("w", "graph.initializer[0]", "initializer 0 of main graph 'main'"),
        ("s", "graph.sparse_initializer[0]", "sparse initializer 0 of main graph 'main'"),
        ("a", "graph.node[0].output[0]", "output 0 of node 'abs' (Abs)"),
        ("b", "graph.node[1].output[0]", "output 0 of node 'if' (If)"),
        ("y", "graph.node[2].output[0]", "output 0 of node 'relu' (Relu)"),
    ]
    assert main.positions == {"x": -1, "c": -1, "w": -1, "s": -1, "a": 0, "b": 1, "y": 2}
    assert {name: [(node.index, index) for node, index in uses] for name, uses in walked.uses(main).items()} == {
        "x": [(0, 0)],
        "c": [(1, 0)],
        "b": [(2, 0)],
    }


def _everything(model: Model) -> Iterator[tuple[str, list[str]]]:
    yield "nodes", [str(node.place) for node in model.nodes()]
    yield "attributes", [str(attribute.place) for attribute in model.attributes()]
    yield "types", [str(found.place) for found in model.types()]
    yield "shapes", list(map(str, walked.shapes(model)))
    for name in ("value_infos", "tensors", "sparse_tensors"):
        yield name, [str(item.place) for item in getattr(walked, name)(model)]
    yield "metadata", [f"{item.place}.{item.field}" for item in model.metadata()]


def _all_of(proto: Proto, names: set[str], place: Place = ROOT) -> Iterator[tuple[str, str]]:
    """Each message with one of `names`, found by walking the whole message: its name and its place."""
    for field, value in proto.ListFields():
        if field.message_type is None:
            continue
        for index, element in enumerate(value if is_repeated(field) else [value]):
            inner = place.at(field.name, index if is_repeated(field) else None)
            name = field.message_type.name
            if name in names:
                yield name, str(inner)
            yield from _all_of(element, names, inner)


MESSAGES = {
    "NodeProto": "nodes",
    "AttributeProto": "attributes",
    "ValueInfoProto": "value_infos",
    "TypeProto": "types",
    "TensorShapeProto": "shapes",
    "TensorProto": "tensors",
    "SparseTensorProto": "sparse_tensors",
}


def _populated() -> Model:
    """A model in which each message that can hold another one does, three levels deep."""

    def fill(proto: Proto, depth: int) -> None:
        for field in proto.DESCRIPTOR.fields:
            inner = field.message_type
            # Optional messages of the wrong place (a type in the middle of a tensor) do not exist, so all is filled.
            if inner is None or (depth == 0 and inner.name in {"GraphProto", "AttributeProto", "NodeProto"}):
                continue
            if field.containing_oneof is not None and proto.WhichOneof(field.containing_oneof.name):
                continue
            if depth < -6:
                continue
            value = getattr(proto, field.name)
            for element in (
                [value.add(), value.add()]
                if is_repeated(field) and depth > 0
                else [value.add() if is_repeated(field) else value]
            ):
                element.SetInParent()
                fill(element, depth - 1)

    proto = schema.message("ModelProto")()
    fill(proto, 3)
    return loaded(proto.SerializePartialToString())


def test_the_views_find_every_message_there_is():
    for model in (from_text(GRAPHS), loaded(rich_model()), _populated()):
        expected: dict[str, list[str]] = {name: [] for name in MESSAGES.values()}
        for message, place in _all_of(message_of(model), set(MESSAGES)):
            expected[MESSAGES[message]].append(place)
        found = dict(_everything(model))
        for name, places in expected.items():
            assert sorted(found[name]) == sorted(places), name


def test_a_model_that_was_not_read_is_empty():
    model = loaded(b"")
    assert not model.loaded
    assert (model.graphs, model.functions, list(model.nodes()), list(walked.tensors(model))) == ([], [], [], [])
    assert (list(model.main_graph.nodes), model.ir_version) == ([], 0)


def _names(text: str) -> dict[str, list[str]]:
    resolution = from_text(text).resolution
    return {
        "undefined": [f"{use.place} {use.name}" for use in resolution.undefined],
        "unordered": [f"{late.use.place} {late.use.name} {late.producer.index}" for late in resolution.unordered],
        "cycles": [" ".join(cycle.values) for cycle in resolution.cycles],
    }


@pytest.mark.parametrize(
    ("nodes", "undefined", "unordered", "cycles"),
    [
        ('node { input: "x" output: "a" } node { input: "a" output: "b" }', [], [], []),
        ('node { input: "z" output: "a" }', ["graph.node[0].input[0] z"], [], []),
        ('node { input: "b" output: "a" } node { input: "x" output: "b" }', [], ["graph.node[0].input[0] b 1"], []),
        ('node { input: "b" output: "a" } node { input: "a" output: "b" }', [], [], ["a b"]),
        ('node { input: "a" output: "a" }', [], [], ["a"]),
        (
            'node { input: "d" output: "a" } node { input: "c" output: "b" } node { input: "b" output: "c" } '
            'node { input: "x" output: "d" }',
            [],
            ["graph.node[0].input[0] d 3"],
            ["b c"],
        ),
        ('node { input: "" output: "" } node { input: "x" input: "" output: "a" }', [], [], []),
    ],
)
def test_names_resolve(nodes: str, undefined: list[str], unordered: list[str], cycles: list[str]):
    text = f'graph {{ input {{ name: "x" }} {nodes} }}'
    assert _names(text) == {"undefined": undefined, "unordered": unordered, "cycles": cycles}


def test_a_long_cycle_is_named_whole_and_quickly():
    count = 20_000
    nodes = "".join(f'node {{ input: "v{(index - 1) % count}" output: "v{index}" }}\n' for index in range(count))
    resolution = from_text(f"graph {{ {nodes} }}").resolution
    (cycle,) = resolution.cycles
    assert cycle.values == tuple(f"v{index}" for index in range(count))
    assert (resolution.undefined, resolution.unordered) == ([], [])


def test_wire_types_of_the_reference_are_those_of_the_schema():
    """What the hand-written bytes rest on: the schema packs no number that ONNX writes one by one."""
    packed = {
        f"{message}.{field.name}"
        for message in ("TensorProto", "AttributeProto", "SparseTensorProto", "NodeProto")
        for field in schema.message(message).DESCRIPTOR.fields
        if is_repeated(field) and wire_type_of(field) != LEN and field.is_packed
    }
    names = ("double_data", "float_data", "int32_data", "int64_data", "uint64_data")
    assert packed == {f"TensorProto.{name}" for name in names}


def test_the_message_is_read_as_text_writes_it():
    model = loaded(rich_model())
    again = load(BytesSource(text_format.MessageToString(message_of(model)).encode()), "model.textproto")
    assert message_of(again) == message_of(model)


def test_an_occurrence_of_another_wire_type_does_not_count():
    """The parser leaves it aside, so the node behind it is the first one."""
    data = number(1, 10) + length(7, number(1, 5) + GRAPH)
    model = loaded(data)
    assert len(model.proto.graph.node) == 1
    assert model.byte_range(ROOT.at("graph").at("node", 0)) == (6, 20)
