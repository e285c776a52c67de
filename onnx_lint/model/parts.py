# SPDX-License-Identifier: Apache-2.0
"""What stands in a model beside graphs and nodes: attributes, value infos, types, tensors, metadata."""

from __future__ import annotations

from onnx_lint.model.graph import Function, Graph, Node
from onnx_lint.model.payload import Payload
from onnx_lint.model.places.place import Place
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
