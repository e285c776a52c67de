# SPDX-License-Identifier: Apache-2.0
"""The parts of a model beside graphs and nodes: attributes, value infos, types, tensors, metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.schema import Proto
from onnx_lint.wording import quote


class Attribute(Record):
    """An AttributeProto: of a node, the default value of a function's attribute parameter, or one by itself."""

    proto: Proto
    place: Place
    graph: Graph
    """The graph of the node, the body of the function that declares the default, or the pseudo-graph of the file."""
    node: Node | None

    @property
    def function(self) -> Function | None:
        """The function whose body contains the attribute, at any depth."""
        return self.graph.function

    def describe(self) -> str:
        """Return the name of the attribute in messages."""
        name = f"attribute {quote(self.proto.name)}" if self.proto.name else "an attribute without a name"
        if self.node is None and self.graph.is_file:
            return name
        return f"{name} of {self.node.describe() if self.node else self.graph.describe()}"


class ValueInfo(Record):
    """A ValueInfoProto of a graph or function; `role` is the field that holds it: input, output or value_info."""

    proto: Proto
    place: Place
    graph: Graph
    role: str

    def describe(self) -> str:
        """Return the name of the value in messages."""
        if self.graph.is_file:
            return f"value {quote(self.proto.name)}" if self.proto.name else "the value"
        role = "value info" if self.role == "value_info" else self.role
        name = f"{role} {quote(self.proto.name)}" if self.proto.name else f"{role} {self.place.index} without a name"
        return f"{name} of {self.graph.describe()}"


class ValueInfos:
    """Value infos of lists of graphs, by their indices there; each is created, and parsed, when it is accessed.

    Each message that was parsed separately takes a kilobyte, and a hostile file has tens of thousands.
    """

    __slots__ = ("_lists",)

    def __init__(self, lists: Sequence[tuple[Graph, str, Sequence[int]]]) -> None:
        self._lists = lists

    def __len__(self) -> int:
        return sum(len(indices) for _, _, indices in self._lists)

    def __iter__(self) -> Iterator[ValueInfo]:
        for graph, role, indices in self._lists:
            for index in indices:
                yield ValueInfo(graph.message_at(role, index), graph.at(role, index), graph, role)


class File(Record):
    """The file itself, as the owner of the one type that it holds."""

    place: Place
    graph: Graph
    """The pseudo-graph of the file, for code that needs a graph."""

    def describe(self) -> str:
        """Return the name of the file in messages."""
        return self.graph.describe()


class Type(Record):
    """A TypeProto at any place, element types of other types included."""

    proto: Proto
    place: Place
    owner: ValueInfo | Attribute | File
    parent: Type | None
    """The type whose element (or map value) type this is."""

    @property
    def kind(self) -> str | None:
        """The case of the type that is set, such as `tensor_type`; None if none is."""
        kind: str | None = self.proto.WhichOneof("value")
        return kind

    @property
    def of_owner(self) -> str:
        """The words ` of ...` that name the owner of the type; empty if the type is the whole file."""
        return "" if isinstance(self.owner, File) else f" of {self.owner.describe()}"

    def describe(self) -> str:
        """Return the name of the type in messages."""
        return f"{'the type' if self.parent is None else 'an element type'}{self.of_owner}"


class Tensor(Record):
    """A TensorProto at any place. Its values may be in the source only, see `payloads`."""

    proto: Proto
    place: Place
    graph: Graph
    payloads: tuple[Payload, ...]

    def describe(self) -> str:
        """Return the name of the tensor in messages."""
        if self.proto.name:
            return f"tensor {quote(self.proto.name)} of {self.graph.describe()}"
        return f"the tensor at {place_in_words(self.place, self.graph)}"


def place_in_words(place: Place, graph: Graph) -> str:
    """Return the place of a part without a name, with the graph around it, as messages name it."""
    if not graph.is_file:
        return f"{place} of {graph.describe()}"
    return str(place) if place.parent is not None else "the root"


class SparseTensor(Record):
    """A SparseTensorProto at any place."""

    proto: Proto
    place: Place
    graph: Graph


class Metadata(Record):
    """A list of key and value entries, with its holder and the place of that message."""

    entries: list[Proto]
    place: Place
    """The message that holds the list."""
    field: str
    """The field that is the list, such as `metadata_props`."""
    owner: str
    """The holder as messages name it."""
    message: str
    """The kind of the holder, such as `NodeProto`."""

    def describe(self) -> str:
        """Return the name of the holder in messages."""
        return self.owner


METADATA = "metadata_props"
"""The field that is metadata, in each message that has any."""


def metadata_lists(
    model: Proto,
    graphs: Iterable[Graph],
    nodes: Iterable[Node],
    value_infos: Iterable[ValueInfo],
    tensors: Iterable[Tensor],
) -> Iterator[Metadata]:
    """Yield each `metadata_props` with entries: of the model, graphs and functions, nodes, value infos, and tensors."""
    yield from _list(model, ROOT, "the model")
    for graph in graphs:
        yield from _list(graph.proto, graph.place, graph.describe())
    for holder in chain[Node | ValueInfo | Tensor](nodes, value_infos, tensors):
        proto = holder.proto
        if proto.metadata_props:
            yield from _list(proto, holder.place, holder.describe())


def _list(proto: Proto, place: Place, owner: str) -> Iterator[Metadata]:
    if proto.metadata_props:
        yield Metadata(list(proto.metadata_props), place, METADATA, owner, proto.DESCRIPTOR.name)
