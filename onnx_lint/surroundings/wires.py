# SPDX-License-Identifier: Apache-2.0
"""The producers and readers of the values that a picture shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

MAX_WIRE_NAME_CHARACTERS: Final = 300


class OriginBox(Record):
    """The source of a value whose producer is not drawn."""

    box_kind: str
    """See `PictureBox.kind`."""
    title: str
    """The words in the box."""


_INITIALIZER: Final = OriginBox("initializer", "initializer")


class Wires:
    """The producers and readers of some values of one graph.

    There is no index of all uses, which would take much memory for a large graph: one pass over the nodes finds the
    readers of some values, for all pictures of the graph.
    """

    def __init__(
        self,
        graph: Graph,
        model: Model,
        wanted: set[str],
        steps: Iterable[int],
        captured: dict[Graph, dict[str, None]],
    ) -> None:
        """Find the readers of the wanted values, and of the outputs of the first few of these, and so on.

        `steps`: how many readers of each value are followed, for each step. `captured`: the names that nested graphs
        read from outside, shared by all graphs of the model.
        """
        self.graph = graph
        self.model = model
        self._captured: dict[int, dict[str, None]] = {}
        """The names that the graphs in a node read from outside, by the index of the node."""
        for nested in graph.nested:
            self._captured.setdefault(nested.position, {}).update(names_from_outside(nested, captured))
        self._readers: dict[str, list[int]] = {}
        for most in steps:
            self._look_for(wanted - self._readers.keys())
            near = {index for name in wanted for index in self._readers[name][:most]}
            wanted = {name for index in near for name in graph.node_outputs[index] if name}

    def _look_for(self, wanted: set[str]) -> None:
        found: dict[str, set[int]] = {name: set() for name in wanted}
        for index, names in chain(enumerate(self.graph.node_inputs), self._captured.items()):
            if not wanted.isdisjoint(names):
                for name in wanted.intersection(names):
                    found[name].add(index)
        self._readers.update((name, sorted(indices)) for name, indices in found.items())

    def reads(self, index: int) -> list[str]:
        """Return the names that a node or a graph in it reads, each once."""
        return [
            name for name in dict.fromkeys((*self.graph.node_inputs[index], *self._captured.get(index, ()))) if name
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
        """Return a value with its type, if rules have inferred or the graph has declared it."""
        model, stated = self.model, self._stated.get(name, b"")
        fact = model.value_flow.fact_of(name, self.graph) if has_inferred_shapes(model) else UNKNOWN
        # Nothing is inferred from an initializer whose data have a wrong size. Then show what it states.
        stored = self._stored_type(name) if fact.shape is None else ""
        known = stored or type_of(fact)
        declared = type_of(fact_of_type(schema.opened("TypeProto", stated))) if stated and (mark or not known) else ""
        differs = bool(mark and known and declared != known)
        return PictureValue(short(name), short(known or declared), short(declared) if differs else "", mark)

    def _stored_type(self, name: str) -> str:
        """Return the type and the dimensions that an initializer states; empty if the value is no initializer."""
        names = self.graph.initializer_names
        if name not in names:
            return ""
        tensor = self.graph.message_at("initializer", names.index(name))
        element = ELEMENT_TYPES.get(tensor.data_type)
        return "" if element is None else typed(element.name, tensor.dims)

    @cached_property
    def _stated(self) -> dict[str, bytes]:
        """The serialized types that the graph declares."""
        return {
            name: kind
            for columns in self.graph.value_infos.values()
            for name, kind in zip(columns.names, columns.types, strict=True)
        }


def names_from_outside(graph: Graph, known: dict[Graph, dict[str, None]]) -> dict[str, None]:
    """Return the names that a graph and the graphs in it read and do not define. `known`: those found before."""
    found = known.get(graph)
    if found is None:
        inner = (names_from_outside(nested, known) for nested in graph.nested)
        names: Sequence[Iterable[str]] = [*graph.node_inputs, graph.output_names, *inner]
        found = {name: None for name in chain.from_iterable(names) if name and name not in graph.positions}
        known[graph] = found
    return found


def short(name: str) -> str:
    """Return a name as pictures keep it."""
    return shortened(report_name(name), MAX_WIRE_NAME_CHARACTERS)
