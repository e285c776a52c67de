# SPDX-License-Identifier: Apache-2.0
"""The parts of a model, found in the slow way: every message is walked, without indices by kind or columns."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.parts import File
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.model import Attribute, Graph, Model, Node, Proto, SparseTensor, Tensor, Type, ValueInfo

ELEMENT_FIELDS = (("sequence_type", "elem_type"), ("optional_type", "elem_type"), ("map_type", "value_type"))


def attributes(model: Model) -> Iterator[Attribute]:
    """Every attribute, of a node or of none."""
    for graph in model.graphs:
        for node in graph.nodes:
            for index, proto in enumerate(node.proto.attribute):
                yield Attribute(proto, node.place.at("attribute", index), graph, node)
        # Defaults of a function's attribute parameters, or the attribute that a file holds by itself.
        for index, proto in enumerate(graph.attribute_protos):
            yield Attribute(proto, graph.at("attribute_proto", index), graph, None)


def value_infos(model: Model) -> Iterator[ValueInfo]:
    """Every ValueInfoProto: inputs and outputs of graphs, and value_info of graphs and functions."""
    for graph in model.graphs:
        for role in ("value_info",) if graph.is_function else ("input", "output", "value_info"):
            for index in range(len(getattr(graph.proto, role))):
                yield ValueInfo(graph.message_at(role, index), graph.at(role, index), graph, role)


def types(model: Model) -> Iterator[Type]:
    """Every TypeProto that is there: of value infos, then of attributes; element types after what holds them."""
    for value_info in value_infos(model):
        if value_info.proto.HasField("type"):
            yield from _with_elements(Type(value_info.proto.type, value_info.place.at("type"), value_info, parent=None))
    for attribute in attributes(model):
        held = [(attribute.proto.tp, attribute.place.at("tp"))] if attribute.proto.HasField("tp") else []
        held += [
            (each, attribute.place.at("type_protos", index)) for index, each in enumerate(attribute.proto.type_protos)
        ]
        for proto, place in held:
            yield from _with_elements(Type(proto, place, attribute, parent=None))
    if model.kind == "TypeProto":
        yield from _with_elements(Type(model.document, ROOT, File(ROOT, model.main_graph), parent=None))


def _with_elements(holder: Type) -> Iterator[Type]:
    yield holder
    for kind, field in ELEMENT_FIELDS:
        if holder.proto.HasField(kind) and getattr(holder.proto, kind).HasField(field):
            element = getattr(getattr(holder.proto, kind), field)
            yield from _with_elements(Type(element, holder.place.at(kind).at(field), holder.owner, holder))


def shapes(model: Model) -> Iterator[Place]:
    """The place of every TensorShapeProto of every type."""
    for holder in types(model):
        for kind in ("tensor_type", "sparse_tensor_type"):
            if holder.proto.HasField(kind) and getattr(holder.proto, kind).HasField("shape"):
                yield holder.place.at(kind).at("shape")


def sparse_tensors(model: Model) -> Iterator[SparseTensor]:
    """Every SparseTensorProto: sparse initializers and those in attributes."""
    for graph in model.graphs:
        if not graph.is_function:
            for index, proto in enumerate(graph.proto.sparse_initializer):
                yield SparseTensor(proto, graph.at("sparse_initializer", index), graph)
    for attribute in attributes(model):
        if attribute.proto.HasField("sparse_tensor"):
            yield SparseTensor(attribute.proto.sparse_tensor, attribute.place.at("sparse_tensor"), attribute.graph)
        for index, proto in enumerate(attribute.proto.sparse_tensors):
            yield SparseTensor(proto, attribute.place.at("sparse_tensors", index), attribute.graph)


def tensors(model: Model) -> Iterator[Tensor]:
    """Every TensorProto: initializers, those in attributes, and the parts of sparse tensors."""

    def made(proto: Proto, place: Place, graph: Graph) -> Tensor:
        return Tensor(proto, place, graph, model.payloads.get(place.key, ()))

    for graph in model.graphs:
        if not graph.is_function:
            for index in range(len(graph.proto.initializer)):
                yield made(graph.message_at("initializer", index), graph.at("initializer", index), graph)
    for attribute in attributes(model):
        if attribute.proto.HasField("t"):
            yield made(attribute.proto.t, attribute.place.at("t"), attribute.graph)
        for index, proto in enumerate(attribute.proto.tensors):
            yield made(proto, attribute.place.at("tensors", index), attribute.graph)
    for sparse in sparse_tensors(model):
        for part in ("values", "indices"):
            if sparse.proto.HasField(part):
                yield made(getattr(sparse.proto, part), sparse.place.at(part), sparse.graph)


def uses(graph: Graph) -> dict[str, list[tuple[Node, int]]]:
    """For each name the node inputs of this graph (not of nested graphs) that use it."""
    found: dict[str, list[tuple[Node, int]]] = {}
    for node in graph.nodes:
        for index, name in enumerate(node.inputs):
            if name:
                found.setdefault(name, []).append((node, index))
    return found
