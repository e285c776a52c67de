# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the elements of a graph by operators that are numbered, as baselines have them since 0.2.

Entries of today have the views of `onnx_lint.engine.views` instead. These texts must not change either.
"""

from __future__ import annotations

from collections import Counter

from onnx_lint.engine.views import MAX_NEIGHBOURS, stable_repr
from onnx_lint.ir.graph import Graph


class NumberedSteps:
    """The steps to the elements of one graph, for `Structure.steps`."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._table = graph, graph.table
        self._numbers: list[int] = []
        """The number of each node among those of its operator, from 1."""
        self._sources = {name: f"input {at}" for at, name in enumerate(graph.input_names)}
        """The operator that computes each value, or the input of the graph."""
        self._users: dict[str, list[str]] = {}
        """The users of each value: outputs of the graph, and inputs of nodes."""
        for at, name in enumerate(graph.output_names):
            self._users.setdefault(name, []).append(f"output {at}")
        seen: Counter[str] = Counter()
        for form, inputs, outputs in zip(self._table.forms, self._table.inputs, self._table.outputs, strict=True):
            seen[form.op_type] += 1
            self._numbers.append(seen[form.op_type])
            self._sources.update(dict.fromkeys(outputs, form.op_type))
            for operand, name in enumerate(inputs):
                if name in graph.positions:
                    self._note_use(name, f"{form.op_type} {seen[form.op_type]} {operand}")

    def _note_use(self, name: str, user: str) -> None:
        known = self._users.setdefault(name, [])
        if len(known) < MAX_NEIGHBOURS:
            known.append(user)

    def step_to(self, field: str, index: int) -> str:
        """Return the step to an element of a list of the graph."""
        graph = self._graph
        if field == "node" and index < len(self._table.names):
            return self._of_node(index)
        if field == "value_info" and index < len(graph.value_info_names):
            return f"{field} {self._of_value(graph.value_info_names[index]) or index}"
        if field == "initializer" and index < len(graph.initializer_names):
            users = self._users.get(graph.initializer_names[index])
            return f"{field} {stable_repr(users[:MAX_NEIGHBOURS]) if users else index}"
        return f"{field} {index}"

    def _of_value(self, name: str) -> str:
        found = self._graph.first_definition(name)
        if found is None:
            return ""
        return f"{found.field} {found.index} {'' if found.node is None else self._of_node(found.node.index)}"

    def _of_node(self, index: int) -> str:
        before = [self._sources.get(name, "") for name in self._table.inputs[index][:MAX_NEIGHBOURS]]
        after = [
            self._users.get(name, [])[:MAX_NEIGHBOURS] for name in self._table.outputs[index][:MAX_NEIGHBOURS] if name
        ]
        return f"{self._table.forms[index].op_type} {self._numbers[index]} {stable_repr(before)} {stable_repr(after)}"
