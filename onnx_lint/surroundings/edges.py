# SPDX-License-Identifier: Apache-2.0
"""The producers and readers of the values that a picture shows, and what the picture says about a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.fact import UNKNOWN
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import BEFORE_NODES, Graph
from onnx_lint.model import Model
from onnx_lint.model.model import has_inferred_shapes
from onnx_lint.report.pictures import PictureValue
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.surroundings.of_findings import type_of
from onnx_lint.wording import report_name, shortened, typed

_MAX_NAME_CHARACTERS: Final = 300


class OriginBox(Record):
    """The source of a value whose producer is not drawn."""

    box_kind: str
    """See `PictureBox.kind`."""
    title: str
    """The words in the box."""


_INITIALIZER: Final = OriginBox("initializer", "initializer")


class CapturedNames:
    """The names that nested graphs read from outside, for all pictures of a model."""

    def __init__(self) -> None:
        self._names: dict[Graph, dict[str, None]] = {}

    def read_by(self, graph: Graph) -> Mapping[str, None]:
        """Return the names that a graph and the graphs in it read and do not define, in their order."""
        found = self._names.get(graph)
        if found is None:
            inner = map(self.read_by, graph.nested)
            names: Sequence[Iterable[str]] = [*graph.node_inputs, graph.output_names, *inner]
            found = {name: None for name in chain.from_iterable(names) if name and name not in graph.positions}
            self._names[graph] = found
        return found


class Edges:
    """The producers and readers of values of one graph.

    There is no index of all readers, which would take much memory for a large graph: one pass over the nodes finds
    those of some values, for all pictures of the graph.
    """

    def __init__(self, graph: Graph, model: Model, captured: CapturedNames) -> None:
        self.graph = graph
        self.model = model
        self._captured_by_node: dict[int, dict[str, None]] = {}
        """The names that the graphs in a node read from outside, by the index of the node."""
        for nested in graph.nested:
            if nested.position >= len(graph.node_inputs):
                continue  # the default graph of an attribute, which is in no node
            self._captured_by_node.setdefault(nested.position, {}).update(captured.read_by(nested))
        self._readers: dict[str, list[int]] = {}

    def find_readers(self, names: set[str], followed_by_step: Iterable[int]) -> None:
        """Find the readers of some values, then those of the outputs of the first few of these readers, and so on.

        `followed_by_step`: how many readers of each value are followed, for each step.
        """
        for most in followed_by_step:
            self._look_for(names - self._readers.keys())
            followed = {index for name in names for index in self._readers[name][:most]}
            names = {name for index in followed for name in self.graph.node_outputs[index] if name}

    def _look_for(self, names: set[str]) -> None:
        """Find all readers of some values in one pass over the nodes."""
        found: dict[str, set[int]] = {name: set() for name in names}
        for index, read in chain(enumerate(self.graph.node_inputs), self._captured_by_node.items()):
            if not names.isdisjoint(read):
                for name in names.intersection(read):
                    found[name].add(index)
        self._readers.update((name, sorted(indices)) for name, indices in found.items())

    def reads(self, index: int) -> list[str]:
        """Return the names that a node or a graph in it reads, each once."""
        return [
            name
            for name in dict.fromkeys((*self.graph.node_inputs[index], *self._captured_by_node.get(index, ())))
            if name
        ]

    def readers(self, name: str) -> list[int]:
        """Return the nodes that read a value, if they were looked for."""
        return self._readers.get(name, [])

    def producers(self, index: int, *, first: str) -> list[int]:
        """Return the other nodes whose outputs a node reads. The node that produces `first` comes first."""
        names = sorted(self.reads(index), key=lambda name: name != first)
        found = dict.fromkeys(self.graph.positions.get(name, BEFORE_NODES) for name in names)
        return [producer for producer in found if producer not in (BEFORE_NODES, index)]

    def users(self, index: int) -> list[int]:
        """Return the nodes that read outputs of a node, if they were looked for."""
        found = dict.fromkeys(chain.from_iterable(map(self.readers, self.graph.node_outputs[index])))
        return [user for user in found if user != index]

    def is_from_outside(self, name: str) -> bool:
        """Return whether a value is neither an initializer nor the output of a node of the graph."""
        return self.graph.positions.get(name, BEFORE_NODES) == BEFORE_NODES and self.origin(name) != _INITIALIZER

    def origin(self, name: str) -> OriginBox:
        """Return the box to draw as the source of a value whose producer is not drawn."""
        graph = self.graph
        if name in graph.initializer_index or name in graph.sparse_initializer_names:
            return _INITIALIZER
        if name in graph.positions:
            return OriginBox("input", "input")
        definition = graph.outer_definition(name)
        if definition is not None:
            title = definition.node.op_type if definition.node is not None else definition.field
            return OriginBox("outer", f"{title} outside")
        return OriginBox("outer", "outside") if graph.may_see_more else OriginBox("undefined", "undefined")

    @cached_property
    def _outputs(self) -> frozenset[str]:
        return frozenset(self.graph.output_names)

    def is_output(self, name: str) -> bool:
        """Return whether a value is an output of the graph."""
        return name in self._outputs

    def value(self, name: str, mark: str) -> PictureValue:
        """Return a value with its type. If it is marked, return the type that the graph declares as well, if another.

        The type is the inferred one, or else the declared one.
        """
        known = self._known_type(name)
        declared = self._declared_type(name) if mark or not known else ""
        differing = declared if known and declared != known else ""
        return PictureValue(short(name), short(known or declared), short(differing), mark)

    def _known_type(self, name: str) -> str:
        """Return the type and shape that rules have inferred; empty if they have inferred none."""
        fact = self.model.value_flow.fact_of(name, self.graph) if has_inferred_shapes(self.model) else UNKNOWN
        # Nothing is inferred from an initializer whose data have a wrong size. Then show what it states.
        stored = self._stored_type(name) if fact.shape is None else ""
        return stored or type_of(fact)

    def _declared_type(self, name: str) -> str:
        """Return the type and shape that the graph declares for a value; empty if it declares none."""
        serialized = self._declarations.get(name)
        return type_of(fact_of_type(schema.opened("TypeProto", serialized))) if serialized else ""

    def _stored_type(self, name: str) -> str:
        """Return the type and the dimensions that an initializer states; empty if the value is no initializer."""
        names = self.graph.initializer_names
        if name not in names:
            return ""
        tensor = self.graph.message_at("initializer", names.index(name))
        element = ELEMENT_TYPES.get(tensor.data_type)
        return "" if element is None else typed(element.name, tensor.dims)

    @cached_property
    def _declarations(self) -> dict[str, bytes]:
        """The serialized types that the graph declares."""
        return {
            name: kind
            for columns in self.graph.value_infos.values()
            for name, kind in zip(columns.names, columns.types, strict=True)
        }


def short(name: str) -> str:
    """Return a name as pictures keep it."""
    return shortened(report_name(name), _MAX_NAME_CHARACTERS)
