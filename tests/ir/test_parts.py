# SPDX-License-Identifier: Apache-2.0
"""The views of the parts of graphs find every message."""

from __future__ import annotations

from collections.abc import Iterator

from support.models import exhaustive_walk as walked
from support.models.messages import message_of
from support.models.model_samples import GRAPHS, from_text, loaded
from support.wire.wire_bytes import (
    is_repeated,
    rich_model,
)

from onnx_lint import schema
from onnx_lint.ir.places.place import ROOT
from onnx_lint.model import Model, Place, Proto


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
