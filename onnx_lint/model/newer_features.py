# SPDX-License-Identifier: Apache-2.0
"""The fields, types and element types that a model uses and that came with a later IR version than a given one."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from onnx_lint import schema
from onnx_lint.model.graph import Function, Graph, Node
from onnx_lint.model.metadata import holder_of
from onnx_lint.model.places.place import ROOT, Place
from onnx_lint.record import Record
from onnx_lint.schema import Proto
from onnx_lint.spec.ir_versions import ELEMENT_TYPES, FIELDS, ML_FROM_THE_START, TYPES, Since

if TYPE_CHECKING:
    from onnx_lint.model.model import Model

_ELEMENT_TYPE_FIELDS = {"tensor_type": "elem_type", "sparse_tensor_type": "elem_type", "map_type": "key_type"}

_Occurrence = tuple[str, Place]
"""What is used, as a key of the tables, and where."""


class Feature(Record):
    """Something that a later IR version brought."""

    what: str
    """How messages name it."""
    since: Since
    place: Place
    """Where it is used first."""
    count: int


def features_beyond(model: Model, ir_version: int) -> Iterator[Feature]:
    """What the model uses that a consumer which knows `ir_version` and earlier ones has never heard of.

    Fields that no clause judges on their own are left out: they only stand in messages that are told themselves.
    """
    for name, place, count in _first(_fields(model, ir_version)):
        message, field = name.split(".")
        yield Feature(f"field '{field}' of {message}", FIELDS[name], place, count)
    for name, place, count in _first(_types(model, ir_version)):
        yield Feature(f"type '{name.removesuffix('_type')}'", TYPES[name], place, count)
    for name, place, count in _first(_element_types(model, ir_version)):
        yield Feature(f"element type '{name.lower()}'", ELEMENT_TYPES[name], place, count)


def _first(occurrences: Iterable[_Occurrence]) -> Iterator[tuple[str, Place, int]]:
    """What is used, where it is used first, and how often."""
    first: dict[str, Place] = {}
    counts: Counter[str] = Counter()
    for name, place in occurrences:
        first.setdefault(name, place)
        counts[name] += 1
    for name, place in first.items():
        yield name, place, counts[name]


@functools.cache
def _later_fields(known: int) -> Mapping[str, list[str]]:
    """The fields of each message that came after an IR version and that a clause judges."""
    found: dict[str, list[str]] = {}
    for name, since in FIELDS.items():
        if since.ir_version > known and since.clause is not None:
            message, field = name.split(".")
            found.setdefault(message, []).append(field)
    return found


def _fields(model: Model, known: int) -> Iterator[_Occurrence]:
    premature = _later_fields(known)
    yield from _fields_of_model(model, premature)
    yield from _fields_of_attributes(model, frozenset(premature.get("AttributeProto", ())))
    if "external_data" in premature.get("TensorProto", ()):
        yield from _external_data(model)
    # All metadata but the model's own came with one IR version.
    if "metadata_props" in premature.get("NodeProto", ()):
        for metadata in model.metadata():
            if metadata.place != ROOT:
                yield f"{holder_of(metadata)}.{metadata.field}", metadata.place.at(metadata.field)


def _fields_of_model(model: Model, premature: Mapping[str, list[str]]) -> Iterator[_Occurrence]:
    for field in premature.get("ModelProto", ()):
        if getattr(model.proto, field):
            yield f"ModelProto.{field}", ROOT.at(field)
    graphs = [graph for graph in model.graphs if not graph.is_function]
    holders: dict[str, Iterable[Graph | Function | Node]] = {
        "GraphProto": graphs,
        "FunctionProto": model.functions,
        "NodeProto": model.annotated_nodes,
    }
    for message, items in holders.items():
        fields = [field for field in premature.get(message, ()) if field != "metadata_props"]
        if fields:
            for item in items:
                for field in fields:
                    if getattr(item.proto, field):
                        yield f"{message}.{field}", item.place.at(field)


def _fields_of_attributes(model: Model, premature: frozenset[str]) -> Iterator[_Occurrence]:
    if premature:
        for attribute in model.attributes_where(lambda kind: not premature.isdisjoint(kind.fields)):
            for field in premature:
                value = getattr(attribute.proto, field)
                if attribute.proto.HasField(field) if hasattr(value, "DESCRIPTOR") else value:
                    yield f"AttributeProto.{field}", attribute.place.at(field)


def _external_data(model: Model) -> Iterator[_Occurrence]:
    for tensor in model.suspect_tensors.annotated:
        # Both fields say the same, the entries more plainly.
        for field in ("external_data", "data_location"):
            if getattr(tensor.proto, field):
                yield f"TensorProto.{field}", tensor.place.at(field)
                break


def _types(model: Model, known: int) -> Iterator[_Occurrence]:
    if not model.has_unusual_types:
        return
    premature = {name for name, since in TYPES.items() if since.ir_version > known}
    if model.standard.variant != "onnx" or model.standard.edition == "1.9":
        # Edition 1.9 gives the smaller variant no such types at any IR version; that is for `foreign-type`.
        premature -= ML_FROM_THE_START
    if premature:
        for holder in model.types_where(lambda proto: proto.WhichOneof("value") in premature):
            yield str(holder.kind), holder.place.at(str(holder.kind))


@functools.cache
def _later_element_types(known: int) -> Mapping[int, str]:
    """The names of the element types that came after an IR version, by their numbers."""
    numbers = schema.message("TensorProto").DataType
    return {numbers.Value(name): name for name, since in ELEMENT_TYPES.items() if since.ir_version > known}


def _element_types(model: Model, known: int) -> Iterator[_Occurrence]:
    premature = _later_element_types(known)
    if model.has_unusual_types:
        for holder in model.types_where(lambda proto: _element_type(proto) in premature):
            kind = str(holder.kind)
            yield premature[_element_type(holder.proto)], holder.place.at(kind).at(_ELEMENT_TYPE_FIELDS[kind])
    if model.suspect_tensors.element_types.isdisjoint(premature):
        return
    for tensor in model.tensors():
        if tensor.proto.data_type in premature:
            yield premature[tensor.proto.data_type], tensor.place.at("data_type")


def _element_type(proto: Proto) -> int:
    """The number of the element or key type; 0, which is none, for types that have no such field."""
    kind = proto.WhichOneof("value")
    return int(getattr(getattr(proto, kind), _ELEMENT_TYPE_FIELDS[kind])) if kind in _ELEMENT_TYPE_FIELDS else 0
