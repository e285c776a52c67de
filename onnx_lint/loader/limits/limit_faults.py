# SPDX-License-Identifier: Apache-2.0
"""Tells when a file holds more than onnx-lint takes on: see onnx_lint.input.limits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import Final

from onnx_lint import schema
from onnx_lint.input.limits import Limits, exceeded
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import MODEL, describe_kind
from onnx_lint.model import ROOT, Fault, FaultKind, Graph, Model, Place, TooManyPartsError

FREE_BYTES: Final = 1 << 13
"""In so few bytes there cannot be more than the limit allows by default: a graph of two bytes counts for most."""

SMALL_BYTES: Final = 1 << 16
"""In so few bytes there can hardly be more, which is seen without counting it (docs/performance.md: out-of-reach)."""


class TooManyElementsError(Exception):
    """The elements of a message take up more memory than the limit allows; the text says how much."""

    def __init__(self, elements: int, size: int) -> None:
        super().__init__(f"at least {elements:,} messages, names and numbers take up {size:,} bytes of memory")


def limit_fault(
    name: str, limits: Limits, kind: str, actual: str, place: Place = ROOT, offset: int | None = None
) -> Fault:
    """The fault that the limit `name` is exceeded; a document of this kind is not judged then."""
    message = f"{exceeded(name, limits, actual)}; {describe_kind(kind)} is not judged"
    return Fault(FaultKind.LIMIT, place, message, offset=offset, limit=name)


def too_large(source: Source, limits: Limits, kind: str, *, is_text: bool) -> Fault | None:
    """The fault of a file that is not to be read at all, if it is one."""
    if is_text and source.size > limits.text_bytes:
        return limit_fault("text_bytes", limits, kind, f"{describe_kind(kind)} takes up {source.size:,} bytes of text")
    if source.size > limits.file_bytes:
        return limit_fault("file_bytes", limits, kind, f"the file takes up {source.size:,} bytes")
    return None


def too_many(model: Model, limits: Limits) -> Fault | None:
    """The fault of a model that has more parts than are judged, if it does."""
    try:
        graphs = model.graphs
    except TooManyPartsError as error:
        what = "nodes" if error.limit == "nodes" else "graphs and functions"
        actual = f"{model.describe()} has {_counted(model, error.limit)} {what}"
        return limit_fault(error.limit, limits, model.kind, actual)
    most = limits.nodes
    if model.kind != MODEL and next(islice(model.values(), most, None), None) is not None:
        actual = f"the file has more than {most:,} sequences, maps and optionals"
        return limit_fault("nodes", limits, model.kind, actual)
    most = limits.graph_entries
    if model.source.size < _BYTES_OF_ELEMENT * most:
        return None
    if not _may_exceed(model, most):
        graphs = []
    for place, field, count in (*_lists_of_document(model), *_lists_of_model(model), *_lists_of_graphs(graphs, most)):
        if count > most:
            # The place is the message around the list: to find the bytes of the list is to walk all of it.
            actual = f"the list {place.at(field)} has {count:,} elements"
            return limit_fault("graph_entries", limits, model.kind, actual, place)
    return None


def _counted(model: Model, limit: str) -> str:
    """How many there are at least: what stands at the top is counted, and what is nested in it is not looked at."""
    most = getattr(model.limits, limit)
    top = [model.main_graph, *(function.body for function in model.functions[: model.limits.graphs])]
    count = len(model.functions) + 1 if limit == "graphs" else sum(len(graph.proto.node) for graph in top)
    return f"at least {count:,}" if count > most else f"more than {most:,}"


_OF_MODEL = ("opset_import", "metadata_props", "training_info", "configuration")
_OF_GRAPH = (
    "input",
    "output",
    "initializer",
    "sparse_initializer",
    "value_info",
    "quantization_annotation",
    "metadata_props",
)
_OF_FUNCTION = ("input", "output", "attribute", "attribute_proto", "opset_import", "value_info", "metadata_props")
_OF_NODE = ("input", "output", "attribute", "metadata_props", "device_configurations")


_BYTES_OF_ELEMENT = 2
"""A string or message of a list takes up at least so many: its tag and its length, or two brackets."""


def _may_exceed(model: Model, most: int) -> bool:
    """Whether a list of the graphs or of their nodes may have more than `most` elements.

    No place is made for a list that is short enough.
    """
    of_graph, of_function = attrgetter(*_OF_GRAPH), attrgetter(*_OF_FUNCTION)
    for graph in model.graphs:
        if graph.is_function and graph.proto.ByteSize() < _BYTES_OF_ELEMENT * most:
            continue
        lists = of_function(graph.proto) if graph.is_function else of_graph(graph.proto)
        if max(map(len, lists)) > most or max(map(len, graph.proto.node), default=0) > _BYTES_OF_ELEMENT * most:
            return True
    return False


def _lists_of_document(model: Model) -> Iterator[tuple[Place, str, int]]:
    """The lists of messages at the root of a file that holds no model but another message."""
    if model.kind != MODEL:
        for field, value in model.document.ListFields():
            if field.message_type is not None and not hasattr(value, "DESCRIPTOR"):
                yield ROOT, field.name, len(value)


def _lists_of_model(model: Model) -> Iterator[tuple[Place, str, int]]:
    for field in _OF_MODEL:
        yield ROOT, field, len(getattr(model.proto, field))


def _lists_of_graphs(graphs: list[Graph], most: int) -> Iterator[tuple[Place, str, int]]:
    """The lists of each graph, and those of its nodes that may have one of more than `most` elements."""
    for graph in graphs:
        for field in _OF_FUNCTION if graph.is_function else _OF_GRAPH:
            yield graph.place, field, len(getattr(graph.proto, field))
        for index, data in enumerate(graph.proto.node):
            if len(data) > _BYTES_OF_ELEMENT * most:
                place, lists = graph.at("node", index), schema.columns("NodeProto").FromString(data)
                for field in _OF_NODE:
                    yield place, field, len(getattr(lists, field))
