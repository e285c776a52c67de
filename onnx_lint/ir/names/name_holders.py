# SPDX-License-Identifier: Apache-2.0
"""The parts of a graph that have a name: values, nodes, operators and attributes."""

from __future__ import annotations

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.place import Place


class NameHolder(Record):
    """A part of a graph that has a name."""

    kind: str
    """What the name is, in words."""
    place: Place


class NameHolders:
    """The parts of a graph by their names."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _first_nodes(self) -> dict[str, int]:
        names = self._graph.node_names
        return dict(zip(reversed(names), reversed(range(len(names))), strict=True))

    def first(self, name: str) -> NameHolder:
        """Return the first part with the name."""
        graph = self._graph
        if name == graph.name:
            return NameHolder("function name" if graph.is_function else "graph name", graph.place.at("name"))
        definition = graph.first_definition(name)
        if definition is not None:
            return NameHolder("value name", definition.place)
        if name in self._first_nodes:
            return NameHolder("node name", graph.at("node", self._first_nodes[name]).at("name"))
        return self._first_in_forms(name)

    def _first_in_forms(self, name: str) -> NameHolder:
        graph = self._graph
        for form in graph.form_counts:
            if name == form.op_type:
                return NameHolder("operator name", graph.first_of(form).place.at("op_type"))
            for index, attribute in enumerate(form.attributes):
                if name == attribute.name:
                    place = graph.first_of(form).place.at("attribute", index).at("name")
                    return NameHolder("attribute name", place)
        return NameHolder("attribute name", graph.place)  # an attribute parameter of a function
