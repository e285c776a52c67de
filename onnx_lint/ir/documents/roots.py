# SPDX-License-Identifier: Apache-2.0
"""What stands outermost in a document, at the place that it has there: where the walk over its graphs begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.documents.kinds import MODEL, OPERATOR_SET
from onnx_lint.ir.graph import Function, Graph, GraphKind
from onnx_lint.ir.parts import File, Type
from onnx_lint.ir.places.place import ROOT, Place, Step
from onnx_lint.schema import Proto
from onnx_lint.schema.wire import decode_varint

_Part = tuple[Proto, Place]
"""A message and where it stands."""


class Roots(Record):
    """The outermost graph, functions and types of a document."""

    graph: Graph | None
    """The main graph, or what stands for the file around parts of graphs; None where there is neither."""
    functions: tuple[Function, ...] = ()
    types: tuple[Type, ...] = ()
    """The type that a file holds, if it holds one and nothing else."""


def roots(kind: str, document: Proto) -> Roots:
    """The roots of a document of the kind; a model is to be in outline."""
    if kind == MODEL:
        graph = Graph(GraphKind.MAIN, document.graph, ROOT.at("graph")) if document.HasField("graph") else None
        return Roots(graph, _functions(document.functions))
    if kind == OPERATOR_SET:
        return Roots(None, _functions(schema.outlined(function) for function in document.functions))
    if kind == "FunctionProto":
        return Roots(None, (Function(0, schema.outlined(document), ROOT),))
    if kind == "GraphProto":
        return Roots(Graph(GraphKind.MAIN, schema.outlined(document), ROOT))
    if kind == "AttributeProto":
        return Roots(_around({}, attributes=[(schema.outlined(document), ROOT)]))
    if kind == "TypeProto":
        file = _around({})
        return Roots(file, types=(Type(document, ROOT, File(ROOT, file), parent=None),))
    if kind in _LISTS:
        return Roots(_around({_LISTS[kind]: [(document, ROOT)]}))
    held: dict[str, list[_Part]] = {}
    for tensor, place in _tensors(document, ROOT):
        held.setdefault(_LISTS[tensor.DESCRIPTOR.name], []).append((tensor, place))
    return Roots(_around(held))


def _functions(protos: Iterable[Proto]) -> tuple[Function, ...]:
    found: list[Function] = []
    first: dict[bytes, Function] = {}
    for index, proto in enumerate(protos):
        content = _without_name(proto)
        function = Function(index, proto, ROOT.at("functions", index), first.get(content))
        first.setdefault(content, function)
        found.append(function)
    return tuple(found)


def _without_name(function: Proto) -> bytes:
    """The serialized function but for its name, which is its first field."""
    content = schema.serialized(function)
    if not function.HasField("name"):
        return content
    length, start = decode_varint(content, 1)
    return content[start + length :]


_LISTS: Final = {
    "NodeProto": "node",
    "TensorProto": "initializer",
    "SparseTensorProto": "sparse_initializer",
    "ValueInfoProto": "input",
}
"""The list of a graph in which messages of a kind stand."""


def _around(held: Mapping[str, list[_Part]], attributes: Sequence[_Part] = ()) -> Graph:
    """What stands for the file around parts of graphs, by the lists of a graph that they belong in, and attributes."""
    proto = schema.message("GraphProto")()
    parts: dict[Step, Place] = {("attribute_proto", index): place for index, (_, place) in enumerate(attributes)}
    for field, messages in held.items():
        for index, (message, place) in enumerate(messages):
            getattr(proto, field).add().CopyFrom(message)
            parts[field, index] = place
    return Graph(GraphKind.FILE, schema.outlined(proto), ROOT, parts=parts, attributes=[part for part, _ in attributes])


def _tensors(document: Proto, place: Place) -> Iterator[_Part]:
    """The tensors of a value, dense and sparse, and where each stands."""
    for message, (field, index) in _held(document):
        inside = place.at(field, index)
        if message.DESCRIPTOR.name in _LISTS:
            yield message, inside
        else:
            yield from _tensors(message, inside)


def _held(document: Proto) -> Iterator[tuple[Proto, Step]]:
    """The messages in the fields of a message, and where they stand."""
    for field, value in document.ListFields():
        if field.message_type is None:
            continue
        if hasattr(value, "DESCRIPTOR"):
            yield value, (field.name, None)
        else:
            yield from ((message, (field.name, index)) for index, message in enumerate(value))


_VALUES_OF_VALUES: Final = frozenset({"SequenceProto", "MapProto", "OptionalProto"})


def values(document: Proto, place: Place) -> Iterator[tuple[Proto, Place]]:
    """The value and all sequences, maps and optionals in it, each with its place; what holds others before them."""
    if document.DESCRIPTOR.name not in _VALUES_OF_VALUES:
        return
    yield document, place
    open_values = [(_values_in(document), place)]
    while open_values:
        held, around = open_values[-1]
        found = next(held, None)
        if found is None:
            open_values.pop()
            continue
        message, (field, index) = found
        inside = around.at(field, index)
        yield message, inside
        open_values.append((_values_in(message), inside))


def _values_in(value: Proto) -> Iterator[tuple[Proto, Step]]:
    """The sequences, maps and optionals that the value holds, and where."""
    return ((message, step) for message, step in _held(value) if message.DESCRIPTOR.name in _VALUES_OF_VALUES)
