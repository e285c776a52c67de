# SPDX-License-Identifier: Apache-2.0
"""What stands in a model beside graphs and nodes: attributes, value infos, types, tensors, metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx_lint.model.graph import Function, Graph, Node
from onnx_lint.model.payload import Payload
from onnx_lint.model.places.place import ROOT, Place
from onnx_lint.record import Record
from onnx_lint.schema import Proto
from onnx_lint.wording import quote


class Attribute(Record):
    """An AttributeProto: of a node, or the default value of a function's attribute parameter."""

    proto: Proto
    place: Place
    graph: Graph
    """The graph of the node, or the body of the function that declares the default."""
    node: Node | None

    @property
    def function(self) -> Function | None:
        """The function in whose body the attribute stands, at any depth."""
        return self.graph.function

    def describe(self) -> str:
        """The attribute as messages name it."""
        name = f"attribute {quote(self.proto.name)}" if self.proto.name else "an attribute without a name"
        return f"{name} of {self.node.describe() if self.node else self.graph.describe()}"


class ValueInfo(Record):
    """A ValueInfoProto of a graph or function; `role` is the field that holds it: input, output or value_info."""

    proto: Proto
    place: Place
    graph: Graph
    role: str

    def describe(self) -> str:
        """The value as messages name it."""
        role = "value info" if self.role == "value_info" else self.role
        name = f"{role} {quote(self.proto.name)}" if self.proto.name else f"{role} {self.place.index} without a name"
        return f"{name} of {self.graph.describe()}"


class Type(Record):
    """A TypeProto, wherever one stands, the element types of other types included."""

    proto: Proto
    place: Place
    owner: ValueInfo | Attribute
    parent: Type | None
    """The type whose element (or map value) type this is."""

    @property
    def kind(self) -> str | None:
        """Which case of the type is set, such as `tensor_type`; None when none is."""
        kind: str | None = self.proto.WhichOneof("value")
        return kind

    def describe(self) -> str:
        """The type as messages name it."""
        prefix = "the type" if self.parent is None else "an element type"
        return f"{prefix} of {self.owner.describe()}"


class Shape(Record):
    """A TensorShapeProto, which stands in the type of a dense or sparse tensor."""

    proto: Proto
    place: Place
    type: Type

    @property
    def owner(self) -> ValueInfo | Attribute:
        """What has the type."""
        return self.type.owner


class Tensor(Record):
    """A TensorProto, wherever one stands. Its values may have stayed in the source, see `payloads`."""

    proto: Proto
    place: Place
    graph: Graph
    payloads: tuple[Payload, ...]

    def describe(self) -> str:
        """The tensor as messages name it."""
        name = f"tensor {quote(self.proto.name)}" if self.proto.name else f"the tensor at {self.place}"
        return f"{name} of {self.graph.describe()}"


class SparseTensor(Record):
    """A SparseTensorProto, wherever one stands."""

    proto: Proto
    place: Place
    graph: Graph


class Metadata(Record):
    """A list of key and value entries: what holds it, and the place of that message."""

    entries: list[Proto]
    place: Place
    """The message that holds the list."""
    field: str
    """The field that is the list, such as `metadata_props`."""
    owner: str
    """The holder as messages name it."""

    @property
    def message(self) -> str:
        """The message that holds the list, such as `NodeProto`."""
        return _MESSAGES.get(self.place.field, "TensorProto")


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
