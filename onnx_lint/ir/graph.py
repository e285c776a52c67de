# SPDX-License-Identifier: Apache-2.0
"""Graphs, functions and nodes: light read-only views over the messages, with definitions, uses and scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Final, overload

from onnx_lint import schema
from onnx_lint.common.cached import cached_property, laid_out
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.ir.columns.initializers import NO_INITIALIZERS, Initializers, initializers_of
from onnx_lint.ir.columns.nodes import BEFORE_NODES as BEFORE_NODES
from onnx_lint.ir.columns.nodes import NodeForm, NodeTable, node_table
from onnx_lint.ir.columns.value_infos import ValueInfoColumns, value_infos_of
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.wording import quote, unquoted


class GraphKind(Enum):
    """The place of a list of nodes."""

    MAIN = "main graph"
    NESTED = "subgraph"
    FUNCTION = "function body"
    INITIALIZATION = "initialization graph"
    ALGORITHM = "training algorithm"
    FILE = "the file"


class Node:
    """A node of a graph or of a function body. Two objects for the same node are equal."""

    __slots__ = ("form", "graph", "index", "inputs", "name", "outputs")

    def __init__(self, graph: Graph, index: int) -> None:
        table = graph.table
        self.graph = graph
        self.index = index
        self.name = table.names[index]
        self.inputs = table.inputs[index]
        self.outputs = table.outputs[index]
        self.form = table.forms[index]
        """The part that it shares with other nodes."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.index == other.index and self.graph is other.graph

    def __hash__(self) -> int:
        return hash((id(self.graph), self.index))

    @property
    def op_type(self) -> str:
        """The name of the operator."""
        return self.form.op_type

    @property
    def domain(self) -> str:
        """The domain of the operator, as it is written."""
        return self.form.domain

    @property
    def overload(self) -> str:
        """The overload, which selects one of the functions with the same domain and name."""
        return self.form.overload

    @property
    def attribute_protos(self) -> Sequence[Proto]:
        """The AttributeProtos, which nodes that look alike share."""
        return self.form.attributes

    @property
    def proto(self) -> Proto:
        """Return the NodeProto itself, parsed at each call: a NodeProto that is kept takes a kilobyte."""
        return schema.opened("NodeProto", self.graph.proto.node[self.index])

    @property
    def place(self) -> Place:
        """The place of the NodeProto."""
        return self.graph.at("node", self.index)

    def attributes(self) -> Iterator[tuple[Proto, Place]]:
        """Yield each AttributeProto of the node with its place."""
        place = self.place
        for index, attribute in enumerate(self.attribute_protos):
            yield attribute, place.at("attribute", index)

    def describe(self) -> str:
        """Return the name of the node in messages: its name, or else its index and graph, and its operator."""
        operator = unquoted(f"{self.domain}::{self.op_type}" if self.domain else self.op_type)
        if self.graph.is_file and not self.name:
            return f"the node ({operator})"
        if self.name:
            return f"node {quote(self.name)} ({operator})"
        within = self.graph.describe()
        if self.graph.kind is GraphKind.MAIN:
            # A model has only one, whose name says nothing; nor does the name of a graph that is the whole file.
            within = "the main graph" if self.graph.place.parent is not None else "the graph"
        return f"unnamed node {self.index} ({operator}) of {within}"


class Nodes(Sequence[Node]):
    """Nodes of one graph, in the order of their numbers; each is created when it is accessed.

    The data of a node are in the table, and a hundred thousand of these objects take ten megabytes.
    """

    __slots__ = ("_graph", "_numbers")

    def __init__(self, graph: Graph, numbers: Sequence[int]) -> None:
        self._graph = graph
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Node]:
        graph = self._graph
        return (Node(graph, number) for number in self._numbers)

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Nodes: ...
    def __getitem__(self, index: int | slice) -> Node | Nodes:
        if isinstance(index, slice):
            return Nodes(self._graph, self._numbers[index])
        return Node(self._graph, self._numbers[index])


class NodesOfGraphs:
    """The nodes of several lists, one after the other."""

    __slots__ = ("_lists",)

    def __init__(self, lists: Iterable[Nodes]) -> None:
        self._lists = [nodes for nodes in lists if nodes]

    def __len__(self) -> int:
        return sum(map(len, self._lists))

    def __iter__(self) -> Iterator[Node]:
        return chain.from_iterable(self._lists)


NO_NODES: Final = NodesOfGraphs(())


class Definition(Record):
    """The place that introduces a value name: a graph input, an initializer, or a node output."""

    graph: Graph
    field: str
    """`input`, `initializer`, `sparse_initializer` or `output`, as the message calls it."""
    index: int
    node: Node | None = None

    @property
    def place(self) -> Place:
        """The place of the input, the initializer, or the output's name."""
        if self.node is not None:
            return self.node.place.at("output", self.index)
        return self.graph.at(self.field, self.index)

    def describe(self) -> str:
        """Return the name of the definition in messages."""
        if self.node is not None:
            return f"output {self.index} of {self.node.describe()}"
        return f"{self.field.replace('_', ' ')} {self.index} of {self.graph.describe()}"


FinishTable = Callable[["Graph", NodeTable], None]


@laid_out
class Graph:
    """A list of nodes with its inputs, outputs and initializers: a GraphProto or the body of a FunctionProto.

    A nested graph sees the names of `parent` that are defined before node `position` of it. A training algorithm
    sees all names of the inference graph, with which it forms one graph.

    Parts outside of graphs, such as the only node of a file, belong to a pseudo-graph of kind FILE, which is not in the
    file: `parts` are the places of its elements in the file, `attributes` its attributes outside of nodes.
    """

    def __init__(
        self,
        kind: GraphKind,
        proto: Proto,
        place: Place,
        *,
        parent: Graph | None = None,
        position: int = 0,
        function: Function | None = None,
        parts: Mapping[tuple[str, int | None], Place] = EMPTY,
        attributes: Sequence[Proto] = (),
        finish: FinishTable | None = None,
    ) -> None:
        self.kind = kind
        self.is_function: bool = kind is GraphKind.FUNCTION
        """True if this is a FunctionProto, whose inputs and outputs are bare names."""
        self.proto = proto
        self.place = place
        self.parent = parent
        self.position = position
        self.finish: FinishTable | None = parent.finish if finish is None and parent is not None else finish
        """Changes the columns of nodes if the loader left lists in the file; None if it did not."""
        self.depth: int = parent.depth + 1 if parent is not None and kind is GraphKind.NESTED else 0
        """The number of graphs around this one."""
        self.function = function
        """The function whose body contains the graph, at any depth."""
        self._parts = parts
        self._attributes = attributes
        self.nested: list[Graph] = []
        """The graphs in the attributes of the nodes, not those inside them."""

    @property
    def function_index(self) -> int | None:
        """The index of the function whose body contains the graph; None outside of functions."""
        return None if self.function is None else self.function.index

    @property
    def is_file(self) -> bool:
        """True if this is the pseudo-graph of a file with a part of a graph."""
        return self.kind is GraphKind.FILE

    @property
    def inference_graph(self) -> Graph:
        """The inference graph, for a training algorithm."""
        assert self.parent is not None
        return self.parent

    def at(self, field: str, index: int | None = None) -> Place:
        """Return the place of a field of the graph, or of an element of one of its lists."""
        return (self._parts.get((field, index)) if self._parts else None) or self.place.at(field, index)

    @property
    def attribute_protos(self) -> Sequence[Proto]:
        """The AttributeProtos outside of nodes: the defaults of a function's parameters, or the only one of a file."""
        return self.proto.attribute_proto if self.is_function else self._attributes

    @cached_property
    def name(self) -> str:
        """The name of the graph or function."""
        return str(self.proto.name)

    def describe(self) -> str:
        """Return the name of the graph in messages."""
        if self.is_function and self.function is not None:
            return f"function {quote(self.function.qualified_name)}"
        return f"{self.kind.value} {quote(self.name)}" if self.name else self.kind.value

    @cached_property
    def table(self) -> NodeTable:
        """The nodes in columns. Rules ask these about all nodes, and make a Node of one that they report."""
        table = node_table(self.proto.node, self.names_before_nodes)
        if self.finish is not None:
            self.finish(self, table)
        return table

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes in the order of the file."""
        return Nodes(self, range(len(self.table.forms)))

    @property
    def node_names(self) -> list[str]:
        """The name of each node; empty for one without."""
        return self.table.names

    @cached_property
    def has_repeated_node_names(self) -> bool:
        """True if two nodes have the same name; the empty name does not count."""
        names = self.table.names
        distinct = set(names)
        return len(distinct) < len(names) and len(distinct - {""}) < len(names) - names.count("")

    @property
    def node_inputs(self) -> list[tuple[str, ...]]:
        """The inputs of each node; an empty name is an omitted input."""
        return self.table.inputs

    @property
    def node_outputs(self) -> list[tuple[str, ...]]:
        """The outputs of each node; an empty name is an omitted output."""
        return self.table.outputs

    @property
    def forms(self) -> list[NodeForm]:
        """The form of each node, which nodes that look alike share: operator, attributes, and which operands it has."""
        return self.table.forms

    @cached_property
    def form_counts(self) -> Mapping[NodeForm, int]:
        """The number of nodes with each of the forms, in the order of first occurrence."""
        return dict(Counter(self.table.forms))

    def nodes_of(self, forms: Collection[NodeForm]) -> Nodes:
        """Return the nodes with one of the forms, in the order of the file."""
        # Either may be much the longer: each small function is asked for the forms of all calls.
        fewer, more = sorted((forms, self._indices), key=len)
        found = [self._indices[form] for form in fewer if form in more]
        return Nodes(self, sorted(chain.from_iterable(found)))

    def first_of(self, form: NodeForm) -> Node:
        """Return the first node with the form; raises LookupError if there is none."""
        return self.nodes[self._indices[form][0]]

    @cached_property
    def _indices(self) -> dict[NodeForm, list[int]]:
        """The indices of the nodes of each form."""
        found: dict[NodeForm, list[int]] = {}
        for index, form in enumerate(self.table.forms):
            found.setdefault(form, []).append(index)
        return found

    @cached_property
    def nested_by_node(self) -> dict[int, list[Graph]]:
        """The graphs nested in the attributes of nodes, by the index of the node."""
        found: dict[int, list[Graph]] = {}
        for nested in self.nested:
            found.setdefault(nested.position, []).append(nested)
        return found

    def nodes_with(self, annotation: str) -> Nodes:
        """Return the nodes that have an annotation: `doc_string`, `metadata_props` and so on."""
        return Nodes(self, self.table.annotated.get(annotation, ()))

    @cached_property
    def initializers(self) -> Initializers:
        """The facts about the dense initializers; a function has none."""
        return NO_INITIALIZERS if self.is_function else initializers_of(self.proto.initializer)

    @cached_property
    def value_infos(self) -> dict[str, ValueInfoColumns]:
        """The facts about the value infos, by their list: input, output and value_info.

        A function has the last one only.
        """
        return value_infos_of(self.proto, is_function=self.is_function)

    def message_at(self, field: str, index: int) -> Proto:
        """Return the initializer or value info in a list of the graph; most are kept as bytes, and parsed here."""
        found = getattr(self.proto, field)[index]
        if isinstance(found, bytes):
            return schema.opened("TensorProto" if field == "initializer" else "ValueInfoProto", found)
        return found

    @cached_property
    def input_names(self) -> list[str]:
        """The names of the formal inputs."""
        return self.proto.input[:] if self.is_function else self.value_infos["input"].names

    @cached_property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self.proto.output[:] if self.is_function else self.value_infos["output"].names

    @property
    def initializer_names(self) -> list[str]:
        """The names of the dense initializers; a function has none."""
        return self.initializers.names

    @cached_property
    def sparse_initializer_names(self) -> list[str]:
        """The names of the sparse initializers, which are those of their values."""
        return [] if self.is_function else [tensor.values.name for tensor in self.proto.sparse_initializer]

    @property
    def value_info_names(self) -> list[str]:
        """The names in value_info, of a function too."""
        return self.value_infos["value_info"].names

    @property
    def names_before_nodes(self) -> Iterator[str]:
        """The names of the inputs and initializers."""
        if self.is_function:
            return iter(self.input_names)
        return chain(self.input_names, self.initializer_names, self.sparse_initializer_names)

    @property
    def positions(self) -> dict[str, int]:
        """For each value name the index of the first node that outputs it, or BEFORE_NODES.

        The empty name of an omitted input or output is not a value.
        """
        return self.table.positions

    def producer_of(self, name: str) -> int | None:
        """Return the index of the first node of the graph that outputs the value; None if none does."""
        position = self.positions.get(name, BEFORE_NODES)
        return None if position == BEFORE_NODES else position

    @property
    def early_uses(self) -> list[int]:
        """The indices of the nodes with an input that no input, initializer or earlier node of the graph defines."""
        return self.table.early_uses

    @property
    def has_redefinitions(self) -> bool:
        """True if a node outputs a name that an input, an initializer or another output has."""
        return self.table.has_redefinitions

    def definitions(self) -> Iterator[tuple[str, Definition]]:
        """Yield each definition of each non-empty name, inputs first, then initializers, then outputs in node order."""
        for field, names in self._lists_before_nodes():
            for index, name in enumerate(names):
                if name:
                    yield name, Definition(self, field, index)
        for number, outputs in enumerate(self.table.outputs):
            for index, name in enumerate(outputs):
                if name:
                    yield name, Definition(self, "output", index, self.nodes[number])

    @cached_property
    def initializer_index(self) -> dict[str, int]:
        """The index of each initializer by its name; of several with one name that of the first."""
        return first_indices(self.initializer_names)

    @cached_property
    def declaration_index(self) -> dict[str, tuple[str, int]]:
        """For each declared value that is no input, the list of its declaration, and its first index there.

        Entries of value_info come before outputs. The outputs of a function are names alone, and no declarations.
        """
        lists = ("value_info",) if self.is_function else ("output", "value_info")
        found: dict[str, tuple[str, int]] = {}
        for field in lists:
            found.update({name: (field, index) for name, index in first_indices(self.value_infos[field].names).items()})
        return found

    def first_definition(self, name: str) -> Definition | None:
        """Return the first definition of a name in the graph, if there is one; meant for messages on faulty models."""
        position = self.positions.get(name)
        if position is None:
            return None
        if position != BEFORE_NODES:
            return Definition(self, "output", self.table.outputs[position].index(name), self.nodes[position])
        index = self._numbers_before_nodes[name]
        for field, names in self._lists_before_nodes():
            if index < len(names):
                return Definition(self, field, index)
            index -= len(names)
        raise AssertionError("the name is in one of the lists")

    @cached_property
    def _numbers_before_nodes(self) -> dict[str, int]:
        """For each name defined before the nodes, the first element that defines it, numbered over all lists.

        A pair of list and index would take sixty bytes more.
        """
        found: dict[str, int] = {}
        for number, name in enumerate(self.names_before_nodes):
            found.setdefault(name, number)
        return found

    def _lists_before_nodes(self) -> Iterator[tuple[str, Sequence[str]]]:
        yield "input", self.input_names
        yield "initializer", self.initializer_names
        yield "sparse_initializer", self.sparse_initializer_names

    def scopes(self) -> Iterator[tuple[Graph, int]]:
        """Yield the enclosing graphs from the inside out, each with the position before which its names are visible."""
        graph = self
        while graph.parent is not None:
            yield graph.parent, graph.position
            graph = graph.parent

    def outer_definition(self, name: str) -> Definition | None:
        """Return the definition in an enclosing graph that `name` would resolve to here; None if there is none."""
        graph = self
        while graph.parent is not None:
            before, graph = graph.sees_before, graph.parent
            if graph.positions.get(name, before) < before:
                return graph.first_definition(name)
        return None

    def definition_of(self, name: str) -> Definition | None:
        """Return the definition of a name that the nodes use: the first one here, or that in an enclosing graph."""
        return self.first_definition(name) or self.outer_definition(name)

    @property
    def may_see_more(self) -> bool:
        """True if graphs around this one may be outside of the file, so that it may see names that the file lacks."""
        outermost = self
        while outermost.parent is not None:
            outermost = outermost.parent
        return outermost.is_file

    def sees(self, name: str) -> bool:
        """Return true if an enclosing graph defines `name` at a place that this graph can see."""
        graph = self
        while graph.parent is not None:
            before = graph.sees_before
            graph = graph.parent
            if graph.table.positions.get(name, before) < before:
                return True
        return False

    @property
    def sees_before(self) -> int:
        """The node of the parent before which names are visible here.

        For the default of a function's attribute parameter it is the first node that may run the graph.
        """
        parent = self.parent
        if parent is None or not parent.is_function or self.position < len(parent.forms):
            return self.position
        return self._first_use_as_default

    @cached_property
    def _first_use_as_default(self) -> int:
        attribute = self.place.parent
        if self.parent is None or attribute is None or attribute.index is None:
            return self.position
        name = self.parent.attribute_protos[attribute.index].name
        users = (index for index in range(len(self.parent.forms)) if self.parent.refers_to(name, index))
        return next(users, self.position)

    def refers_to(self, parameter: str, index: int) -> bool:
        """Return whether a node, or one in a graph nested in it, refers to an attribute parameter."""
        if any(proto.ref_attr_name == parameter for proto in self.forms[index].attributes):
            return True
        return any(
            nested.refers_to(parameter, inner)
            for nested in self.nested_by_node.get(index, ())
            for inner in range(len(nested.forms))
        )


def first_indices(names: Sequence[str]) -> dict[str, int]:
    """Return the index of the first occurrence of each name."""
    return {name: index for index, name in zip(range(len(names) - 1, -1, -1), reversed(names), strict=True)}


@laid_out
class Function:
    """A model-local function: its identity, its signature, and its body as a graph."""

    def __init__(
        self,
        index: int,
        proto: Proto,
        place: Place,
        finish: FinishTable | None = None,
    ) -> None:
        self.index = index
        self.proto = proto
        self.place = place
        self.name: str = proto.name
        self.domain: str = proto.domain
        self.overload: str = proto.overload
        self.body: Graph = Graph(GraphKind.FUNCTION, proto, place, function=self, finish=finish)

    @cached_property
    def qualified_name(self) -> str:
        """Domain, name and overload in one string for messages."""
        name = f"{self.domain}::{self.name}" if self.domain else self.name
        return f"{name}:{self.overload}" if self.overload else name

    @cached_property
    def attribute_names(self) -> list[str]:
        """The attribute parameters without a default."""
        return self.proto.attribute[:]  # type: ignore[no-any-return]

    @cached_property
    def attribute_defaults(self) -> list[Proto]:
        """The attribute parameters with a default, as AttributeProto."""
        return self.proto.attribute_proto[:]  # type: ignore[no-any-return]
