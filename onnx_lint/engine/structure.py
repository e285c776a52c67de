# SPDX-License-Identifier: Apache-2.0
"""The identity of a place without names: operators and their order, for models whose names are made by counters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.ir.places.place import Place, PlaceKey

if TYPE_CHECKING:
    from onnx_lint.model import Model

_VALUES: Final = {"input": "input_names", "output": "output_names", "initializer": "initializer_names"}


class Structures:
    """The identities of places in one model. Each graph is walked once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._numbers: dict[PlaceKey, list[int]] = {}
        self._sources: dict[PlaceKey, dict[str, str]] = {}
        self._users: dict[PlaceKey, dict[str, list[str]]] = {}

    @cached_property
    def _graphs(self) -> dict[PlaceKey, Graph]:
        return {graph.place.key: graph for graph in self._model.graphs}

    def of(self, place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the structure around a place, and the names of the nodes and nested graphs around it.

        A node is described by its operator, its number among the nodes with that operator, the operators or inputs of
        the graph that its inputs come from, and the operators or outputs of the graph that use its outputs, with their
        numbers. An entry of `value_info` is described by the definition of the value, and an initializer by its users.
        """
        steps: list[str] = []
        names: tuple[str, ...] = ()
        around: list[str] = []
        key = place.key
        for depth, (field, index) in enumerate(key):
            graph = self._graphs.get(key[:depth])
            if graph is None or index is None:
                steps.append(f"{field} {index}")
                continue
            around += [] if graph.kind is GraphKind.MAIN else [graph.name]
            if field == "node" and index < len(graph.table.names):
                steps.append(self._node(key[:depth], graph, index))
                around += [graph.table.names[index], *graph.table.outputs[index][:_MOST]]
                names = tuple(around)
            elif field == "value_info" and index < len(graph.value_info_names):
                name = graph.value_info_names[index]
                around.append(name)
                names = tuple(around)
                steps.append(f"{field} {self._value(key[:depth], graph, name) or index}")
            else:
                values = getattr(graph, _VALUES[field]) if field in _VALUES else ()
                own = tuple(values[index : index + 1])  # empty for an entry that no parser reads
                users = self._users_in(key[:depth], graph).get(own[0]) if own and field == "initializer" else None
                steps.append(f"{field} {users[:_MOST] if users else index}")
                around += own
                names = tuple(around) if own else names
        return tuple(steps), names

    def _value(self, key: PlaceKey, graph: Graph, name: str) -> str:
        found = graph.first_definition(name)
        if found is None:
            return ""
        place = "" if found.node is None else self._node(key, graph, found.node.index)
        return f"{found.field} {found.index} {place}"

    def _node(self, key: PlaceKey, graph: Graph, index: int) -> str:
        table, users = graph.table, self._users_in(key, graph)
        before = [self._sources[key].get(name, "") for name in table.inputs[index][:_MOST]]
        after = [users.get(name, [])[:_MOST] for name in table.outputs[index][:_MOST] if name]
        return f"{table.forms[index].op_type} {self._numbers[key][index]} {before} {after}"

    def _users_in(self, key: PlaceKey, graph: Graph) -> dict[str, list[str]]:
        """Return the operands of a graph's nodes by the names of the values, and number the nodes of each operator."""
        if key not in self._numbers:
            seen: Counter[str] = Counter()
            self._numbers[key], users = [], self._users.setdefault(key, {})
            sources = self._sources[key] = {name: f"input {at}" for at, name in enumerate(graph.input_names)}
            for at, name in enumerate(graph.output_names):
                users.setdefault(name, []).append(f"output {at}")
            for form, inputs, outputs in zip(graph.table.forms, graph.table.inputs, graph.table.outputs, strict=True):
                seen[form.op_type] += 1
                self._numbers[key].append(seen[form.op_type])
                sources.update(dict.fromkeys(outputs, form.op_type))
                for number, name in enumerate(inputs):
                    if name in graph.positions and len(known := users.setdefault(name, [])) < _MOST:
                        known.append(f"{form.op_type} {seen[form.op_type]} {number}")
        return self._users[key]


_MOST: Final = 8
"""The most inputs, outputs, and users of an output that identify a node, which may have thousands."""
