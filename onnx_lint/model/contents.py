# SPDX-License-Identifier: Apache-2.0
"""All messages of one kind in a model, without their places: for rules that first ask whether anything is wrong.

A place for each of a hundred thousand nodes costs more than most questions that a rule asks of them. What these
functions visit is what `Model.attributes`, `Model.value_infos`, `Model.types` and `Model.tensors` visit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onnx_lint.model.graph import Graph, Proto
from onnx_lint.model.model import Model


def attribute_protos(model: Model) -> Iterator[Proto]:
    """Every AttributeProto of nodes and of functions' attribute parameters."""
    for graph in model.graphs:
        for node in graph.nodes:
            yield from node.proto.attribute
    for function in model.functions:
        yield from function.attribute_defaults


def value_info_protos(model: Model) -> Iterator[Proto]:
    """Every ValueInfoProto of graphs and functions."""
    for graph in model.graphs:
        if not graph.is_function:
            yield from graph.proto.input
            yield from graph.proto.output
        yield from graph.proto.value_info


def tensor_protos(model: Model) -> Iterator[Proto]:
    """Every TensorProto: initializers, those in attributes, and the parts of sparse tensors."""
    sparse: list[Proto] = []
    for graph in model.graphs:
        if not graph.is_function:
            yield from graph.proto.initializer
            sparse += graph.proto.sparse_initializer
    for attribute in attribute_protos(model):
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        if attribute.HasField("sparse_tensor"):
            sparse.append(attribute.sparse_tensor)
        sparse += attribute.sparse_tensors
    for tensor in sparse:
        yield from (getattr(tensor, part) for part in ("values", "indices") if tensor.HasField(part))


def distinct_types(model: Model) -> Iterator[Proto]:
    """One TypeProto of each content that occurs, and the types in it."""
    types = [value.type for value in value_info_protos(model)]
    for attribute in attribute_protos(model):
        if attribute.HasField("tp"):
            types.append(attribute.tp)
        types += attribute.type_protos
    for proto in {proto.SerializeToString(): proto for proto in types}.values():
        yield from _with_elements(proto)


def _with_elements(proto: Proto) -> Iterator[Proto]:
    while True:
        yield proto
        kind = proto.WhichOneof("value")
        if kind in ("sequence_type", "optional_type"):
            proto = getattr(proto, kind).elem_type
        elif kind == "map_type":
            proto = proto.map_type.value_type
        else:
            return


def has_metadata(model: Model) -> bool:
    """Whether anything in the model has `metadata_props`."""
    return bool(
        model.proto.metadata_props
        or any(graph.proto.metadata_props for graph in model.graphs)
        or any(node.proto.metadata_props for graph in model.graphs for node in graph.nodes)
        or any(value.metadata_props for value in value_info_protos(model))
        or any(tensor.metadata_props for tensor in tensor_protos(model))
    )


def count_domains(graphs: list[Graph]) -> dict[int | None, Counter[str]]:
    """For each function by its index, and for all that is outside of functions (None), how many nodes have which domain.

    Domains are as the nodes write them; nodes of nested graphs count to the function around them.
    """
    counts: dict[int | None, Counter[str]] = {None: Counter()}
    for graph in graphs:
        owner = graph.function.index if graph.function is not None else None
        counts.setdefault(owner, Counter()).update(node.domain for node in graph.nodes)
    return counts
