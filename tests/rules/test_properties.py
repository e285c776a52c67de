# SPDX-License-Identifier: Apache-2.0
"""Properties of every model: changes that mean nothing change no verdict."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from support.project.each_case import each_case
from support.project.fixture_files import Fixture, fixtures, lint

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.text.read_text import parse_textproto
from onnx_lint.model import Fault

ABOUT_THE_FILE = {"oversized-message", "exceeded-limit", "unexpected-interface"}
"""Rules whose fixtures are about the size or form of the file, or about the names of its inputs."""

ABOUT_EVERY_NODE = {"disallowed-operator", "missing-documentation", "stray-float64"}
"""Rules that require something of each node, or compare it with the others."""


def _candidates() -> list[Fixture]:
    """Return two valid models in text form for each rule."""
    taken: dict[str, list[Fixture]] = {}
    for fixture in fixtures():
        if fixture.is_valid and fixture.is_text and not fixture.proto and fixture.rule not in ABOUT_THE_FILE:
            taken.setdefault(fixture.rule, []).append(fixture)
    return [fixture for found in taken.values() for fixture in found[:2]]


each_valid_model = each_case("fixture", _candidates(), ids=lambda fixture: fixture.id, one_in=4)


def _proto(fixture: Fixture) -> Any:
    parsed = parse_textproto(BytesSource(fixture.data))
    assert not isinstance(parsed, Fault)
    return parsed


def _verdict(proto: Any, fixture: Fixture) -> list[str]:
    model = load(BytesSource(proto.SerializeToString()), "model.onnx", fixture.standard, fixture.directory)
    return [f"{item.rule} {item.place}: {item.message}" for item in lint(model, fixture.settings)]


def _messages(message: Any) -> Iterator[Any]:
    """The message and every message in it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for inner in [value] if hasattr(value, "DESCRIPTOR") else value:
            yield from _messages(inner)


@each_valid_model
def test_writing_a_model_again_changes_nothing(fixture: Fixture):
    again = schema.message("ModelProto").FromString(_proto(fixture).SerializeToString())
    assert _verdict(again, fixture) == []


def _defined(graph: Any) -> set[str]:
    return {name for message in _messages(graph) for name in _names_in(message)}


def _names_in(message: Any) -> Iterator[str]:
    kind = message.DESCRIPTOR.name
    if kind == "NodeProto":
        yield from message.input
        yield from message.output
    elif kind in {"ValueInfoProto", "TensorProto"}:
        yield message.name


def _shuffled(nodes: list[Any], rng: random.Random) -> list[Any]:
    """The nodes in another order in which each two that have a name in common, at any depth, stay as they are."""
    produced = [set(node.output) - {""} for node in nodes]
    touched = [_defined(node) - {""} for node in nodes]
    waiting = [
        {other for other in range(index) if produced[other] & touched[index] or produced[index] & touched[other]}
        for index in range(len(nodes))
    ]
    order: list[int] = []
    while len(order) < len(nodes):
        free = [index for index in range(len(nodes)) if index not in order and waiting[index] <= set(order)]
        order.append(rng.choice(free))
    return [nodes[index] for index in order]


@each_valid_model
def test_the_order_of_independent_nodes_means_nothing(fixture: Fixture):
    rng = random.Random(fixture.id)
    proto = _proto(fixture)
    for message in _messages(proto):
        if message.DESCRIPTOR.name in {"GraphProto", "FunctionProto"}:
            nodes = [schema.message("NodeProto").FromString(node.SerializeToString()) for node in message.node]
            del message.node[:]
            message.node.extend(_shuffled(nodes, rng))
    assert _verdict(proto, fixture) == []


VALUE_NAMES = {
    "NodeProto": ("input", "output"),
    "FunctionProto": ("input", "output"),
    "ValueInfoProto": ("name",),
    "TensorProto": ("name",),
    "TensorAnnotation": ("tensor_name",),
    "ShardingSpecProto": ("tensor_name",),
}
"""The fields that hold names of values, by message."""

ABOUT_NAMES = frozenset({"mismatched-decoder"})
"""Rules for which some names have a meaning: those that ONNX Runtime expects of the graphs of a search."""


def _renamed(name: str) -> str:
    return f"r_{name}" if name else ""


def _rename_field(message: Any, field: str) -> None:
    value = getattr(message, field)
    if isinstance(value, str):
        setattr(message, field, _renamed(value))
    else:
        value[:] = [_renamed(name) for name in value]


@each_valid_model
def test_the_names_of_values_mean_nothing(fixture: Fixture):
    if fixture.rule in ABOUT_NAMES:
        return
    proto = _proto(fixture)
    for message in list(_messages(proto)):
        kind = message.DESCRIPTOR.name
        for field in VALUE_NAMES.get(kind, ()):
            _rename_field(message, field)
        if kind == "TensorAnnotation":
            for entry in message.quant_parameter_tensor_names:
                _rename_field(entry, "value")
        if kind == "TrainingInfoProto":
            for entry in (*message.initialization_binding, *message.update_binding):
                _rename_field(entry, "key")
                _rename_field(entry, "value")
    assert _verdict(proto, fixture) == []


@each_valid_model
def test_an_unrelated_node_means_nothing(fixture: Fixture):
    proto = _proto(fixture)
    imported = {entry.domain for entry in proto.opset_import}
    if fixture.rule in ABOUT_EVERY_NODE or not proto.HasField("graph") or not imported & {"", "ai.onnx"}:
        return
    node = proto.graph.node.add(op_type="Constant", name="unrelated_node", output=["unrelated"])
    attribute = node.attribute.add(name="value", type=4)
    attribute.t.MergeFrom(schema.message("TensorProto")(data_type=1, float_data=[1.0]))
    output = proto.graph.output.add(name="unrelated")
    output.type.tensor_type.elem_type = 1
    output.type.tensor_type.shape.SetInParent()
    assert _verdict(proto, fixture) == []
