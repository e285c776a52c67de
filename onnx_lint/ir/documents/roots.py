# SPDX-License-Identifier: Apache-2.0
"""The outermost parts of a document, at their places: the walk over its graphs begins there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.documents.kinds import MODEL_KIND, OPERATOR_SET_KIND
from onnx_lint.ir.graph import FinishTable, Function, Graph, GraphKind
from onnx_lint.ir.parts import File, Type
from onnx_lint.ir.places.place import ROOT, Place, Step
from onnx_lint.schema import Proto
from onnx_lint.spec.releases import normalized_domain

if TYPE_CHECKING:
    from onnx_lint.ir.left_in_file import LeftInFile

_Part = tuple[Proto, Place]
"""A message and its place."""


class Roots(Record):
    """The outermost graph, functions and types of a document."""

    graph: Graph | None
    """The main graph, or the pseudo-graph of a file with parts of graphs; None if there is neither."""
    functions: tuple[Function, ...] = ()
    types: tuple[Type, ...] = ()
    """The type that a file holds, if it holds one and nothing else."""


def roots(kind: str, document: Proto, left: LeftInFile | None = None) -> Roots:
    """Return the roots of a document of the kind; a model must be in outline. `left`: the lists left in the file."""
    finish = left.complete_forms if left is not None else None
    if kind == MODEL_KIND:
        has_graph = document.HasField("graph")
        graph = Graph(GraphKind.MAIN, document.graph, ROOT.at("graph"), finish=finish) if has_graph else None
        return Roots(graph, _functions(document.functions, left))
    if kind == OPERATOR_SET_KIND:
        return Roots(None, _functions((schema.outlined(function) for function in document.functions), left))
    if kind == "FunctionProto":
        return Roots(None, (Function(0, schema.outlined(document), ROOT, finish=finish),))
    if kind == "GraphProto":
        return Roots(Graph(GraphKind.MAIN, schema.outlined(document), ROOT, finish=finish))
    if kind == "AttributeProto":
        return Roots(_around({}, attributes=[(schema.outlined(document), ROOT)]))
    if kind == "TypeProto":
        file = _around({})
        return Roots(file, types=(Type(document, ROOT, File(ROOT, file), parent=None),))
    if kind in _LISTS:
        return Roots(_around({_LISTS[kind]: [(document, ROOT)]}, finish=finish))
    parts: dict[str, list[_Part]] = {}
    for tensor, place in _tensors(document, ROOT):
        parts.setdefault(_LISTS[tensor.DESCRIPTOR.name], []).append((tensor, place))
    return Roots(_around(parts))


def _functions(protos: Iterable[Proto], left: LeftInFile | None) -> tuple[Function, ...]:
    return tuple(
        Function(
            index,
            proto,
            ROOT.at("functions", index),
            finish=left.complete_forms if left is not None and left.omits_from_function(index) else None,
        )
        for index, proto in enumerate(protos)
    )


_LISTS: Final = {
    "NodeProto": "node",
    "TensorProto": "initializer",
    "SparseTensorProto": "sparse_initializer",
    "ValueInfoProto": "input",
}
"""The list of a graph that holds messages of a kind."""


def _around(
    messages: Mapping[str, list[_Part]], attributes: Sequence[_Part] = (), finish: FinishTable | None = None
) -> Graph:
    """Return the pseudo-graph of a file with attributes and parts of graphs, by the lists that hold them."""
    proto = schema.message("GraphProto")()
    parts: dict[Step, Place] = {("attribute_proto", index): place for index, (_, place) in enumerate(attributes)}
    for field, found in messages.items():
        for index, (message, place) in enumerate(found):
            getattr(proto, field).add().CopyFrom(message)
            parts[field, index] = place
    protos = [part for part, _ in attributes]
    return Graph(GraphKind.FILE, schema.outlined(proto), ROOT, parts=parts, attributes=protos, finish=finish)


def _tensors(document: Proto, place: Place) -> Iterator[_Part]:
    """Yield the tensors of a value, dense and sparse, with their places."""
    for message, (field, index) in _messages_in(document):
        inside = place.at(field, index)
        if message.DESCRIPTOR.name in _LISTS:
            yield message, inside
        else:
            yield from _tensors(message, inside)


def _messages_in(document: Proto) -> Iterator[tuple[Proto, Step]]:
    """Yield the messages in the fields of a message, with their places."""
    for field, value in document.ListFields():
        if field.message_type is None:
            continue
        if hasattr(value, "DESCRIPTOR"):
            yield value, (field.name, None)
        else:
            yield from ((message, (field.name, index)) for index, message in enumerate(value))


_VALUES_OF_VALUES: Final = frozenset({"SequenceProto", "MapProto", "OptionalProto"})


def _values(document: Proto, place: Place) -> Iterator[tuple[Proto, Place]]:
    """Yield the value and all sequences, maps and optionals in it, each with its place, containers before contents."""
    if document.DESCRIPTOR.name not in _VALUES_OF_VALUES:
        return
    yield document, place
    open_values = [(_values_in(document), place)]
    while open_values:
        left, around = open_values[-1]
        found = next(left, None)
        if found is None:
            open_values.pop()
            continue
        message, (field, index) = found
        inside = around.at(field, index)
        yield message, inside
        open_values.append((_values_in(message), inside))


class ValuesOfDocument:
    """The sequences, maps and optionals of a document, each with its place."""

    def __init__(self, document: Proto) -> None:
        self._document = document
        self._all: list[tuple[Proto, Place]] | None = None

    def __iter__(self) -> Iterator[tuple[Proto, Place]]:
        """Yield each value. A complete iteration keeps them; a caller that looks for too many stops early."""
        if self._all is not None:
            yield from self._all
            return
        found: list[tuple[Proto, Place]] = []
        for item in _values(self._document, ROOT):
            found.append(item)
            yield item
        self._all = found

    def of(self, message: str) -> Iterator[tuple[Proto, Place]]:
        """Yield the values of one kind, such as `MapProto`, also those inside others."""
        return (item for item in self if item[0].DESCRIPTOR.name == message)


def _values_in(value: Proto) -> Iterator[tuple[Proto, Step]]:
    """Yield the sequences, maps and optionals in the value, with their places."""
    return ((message, step) for message, step in _messages_in(value) if message.DESCRIPTOR.name in _VALUES_OF_VALUES)


def implied_imports(kind: str, document: Proto) -> dict[str, int]:
    """Return the operator sets that count as imported outside of functions in documents that cannot import any.

    An operator set imports itself, and a function the domain in which it is: the version is that of the import in its
    callers.
    """
    if kind == "FunctionProto":
        return {normalized_domain(document.domain): 1}
    if kind == OPERATOR_SET_KIND:
        domains = [document.domain, *(function.domain for function in document.functions)]
        return dict.fromkeys(map(normalized_domain, domains), max(document.opset_version, 1))
    return {}
