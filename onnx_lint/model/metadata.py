# SPDX-License-Identifier: Apache-2.0
"""The lists of metadata in a model, found without making a place for each of the many messages that have none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx_lint.model.graph import Graph, Node
from onnx_lint.model.parts import Metadata, Tensor, ValueInfo
from onnx_lint.model.places.place import ROOT, Place
from onnx_lint.schema import Proto

_FIELD = "metadata_props"


def metadata_lists(
    model: Proto,
    graphs: Iterable[Graph],
    nodes: Iterable[Node],
    value_infos: Iterable[ValueInfo],
    tensors: Iterable[Tensor],
) -> Iterator[Metadata]:
    """Each `metadata_props` with entries: of the model, graphs and functions, nodes, value infos, and tensors."""
    yield from _list(model, ROOT, "the model")
    for graph in graphs:
        yield from _list(graph.proto, graph.place, graph.describe())
    for node in nodes:
        if node.proto.metadata_props:
            yield from _list(node.proto, node.place, node.describe())
    for value_info in value_infos:
        if value_info.proto.metadata_props:
            yield from _list(value_info.proto, value_info.place, value_info.describe())
    for tensor in tensors:
        if tensor.proto.metadata_props:
            yield from _list(tensor.proto, tensor.place, tensor.describe())


def _list(proto: Proto, place: Place, owner: str) -> Iterator[Metadata]:
    if proto.metadata_props:
        yield Metadata(list(proto.metadata_props), place, _FIELD, owner)


_MESSAGES = {
    "model": "ModelProto",
    "functions": "FunctionProto",
    "node": "NodeProto",
    "graph": "GraphProto",
    "g": "GraphProto",
    "graphs": "GraphProto",
    "initialization": "GraphProto",
    "algorithm": "GraphProto",
    "input": "ValueInfoProto",
    "output": "ValueInfoProto",
    "value_info": "ValueInfoProto",
}


def holder_of(metadata: Metadata) -> str:
    """The message that holds the list, such as `NodeProto`."""
    return _MESSAGES.get(metadata.place.field, "TensorProto")
