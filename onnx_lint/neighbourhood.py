# SPDX-License-Identifier: Apache-2.0
"""The nodes around a finding, for the reports that draw them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from onnx_lint.model import Model
from onnx_lint.model.graph import Graph
from onnx_lint.model.shapes.dims import describe
from onnx_lint.record import Record, replace
from onnx_lint.report import Diagnostic, Neighbour, Neighbourhood, ValueEdge
from onnx_lint.wording import report_name

HOPS: Final = 2
MAX_NODES: Final = 24
MAX_OF_A_NODE: Final = 6
"""So many neighbours of a node on either side are drawn; there may be thousands."""
MAX_NAME: Final = 40
PER_RULE: Final = 3
PER_FILE: Final = 60
"""So many findings of a file have a picture, the worst first: each takes the time of a look at its graph."""

_STEP: Final = re.compile(r"/([^/]+)(?:/(\d+))?")
_VALUE_FIELDS: Final = {
    "input": "input_names",
    "output": "output_names",
    "initializer": "initializer_names",
    "value_info": "value_info_names",
}


def with_neighbourhoods(diagnostics: Sequence[Diagnostic], model: Model) -> tuple[Diagnostic, ...]:
    """The diagnostics with the nodes around them: of each rule and clause the first, and of a file the worst."""
    drawn = dict.fromkeys(_worth_drawing(diagnostics))
    if not drawn:
        return tuple(diagnostics)
    surroundings = _Surroundings(model)
    return tuple(
        replace(item, neighbourhood=surroundings.of(item)) if index in drawn else item
        for index, item in enumerate(diagnostics)
    )


def _worth_drawing(diagnostics: Sequence[Diagnostic]) -> Iterable[int]:
    seen: dict[tuple[str, str], int] = {}
    order = sorted(range(len(diagnostics)), key=lambda index: -diagnostics[index].severity)
    for index in order:
        key = diagnostics[index].rule, diagnostics[index].clause
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= PER_RULE:
            yield index
        if len(seen) * PER_RULE > PER_FILE:
            return


class _Step(Record):
    field: str
    index: int | None


class _Surroundings:
    """Finds the nodes around places of one model; who uses a value is looked up once a graph."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._graphs = {graph.place.pointer(): graph for graph in model.graphs}
        self._users: dict[Graph, dict[str, list[int]]] = {}

    def of(self, item: Diagnostic) -> Neighbourhood | None:
        """The nodes around a finding; None where it is about no node and no value of a graph."""
        found = self._graph_of(item.pointer)
        if found is None:
            return None
        graph, steps = found
        if not steps:
            return None
        first = steps[0]
        if first.field == "node" and first.index is not None and first.index < len(graph.nodes):
            fault = self._operand(graph, first.index, steps[1:])
            return self._around(graph, [first.index], first.index, fault)
        name = _value_of(graph, first)
        if name is None:
            return None
        position = graph.positions.get(name, -1)
        starts = ([position] if position >= 0 else []) + self._users_of(graph).get(name, [])[:MAX_OF_A_NODE]
        return self._around(graph, starts, None, name) if starts else None

    def _graph_of(self, pointer: str) -> tuple[Graph, list[_Step]] | None:
        """The innermost graph around a place, and the steps from there."""
        inner = pointer
        while inner:
            if inner in self._graphs:
                rest = pointer[len(inner) :]
                return self._graphs[inner], [_Step(m[1], int(m[2]) if m[2] else None) for m in _STEP.finditer(rest)]
            inner = inner.rpartition("/")[0]
        return None

    def _operand(self, graph: Graph, node: int, steps: list[_Step]) -> str | None:
        """The name of the value that a place in a node is about."""
        if not steps or steps[0].index is None or steps[0].field not in {"input", "output"}:
            return None
        names = (graph.node_inputs if steps[0].field == "input" else graph.node_outputs)[node]
        return names[steps[0].index] if steps[0].index < len(names) else None

    def _users_of(self, graph: Graph) -> dict[str, list[int]]:
        if graph not in self._users:
            users: dict[str, list[int]] = {}
            for index, names in enumerate(graph.node_inputs):
                for name in names:
                    if name:
                        users.setdefault(name, []).append(index)
            self._users[graph] = users
        return self._users[graph]

    def _around(self, graph: Graph, starts: list[int], center: int | None, fault: str | None) -> Neighbourhood:
        users = self._users_of(graph)
        kept: dict[int, int] = dict.fromkeys(starts, 0)
        queue = deque(starts)
        is_cut = False
        while queue:
            index = queue.popleft()
            if kept[index] == HOPS:
                continue
            before = [graph.positions.get(name, -1) for name in graph.node_inputs[index] if name]
            after = [user for name in graph.node_outputs[index] if name for user in users.get(name, ())[:MAX_NODES]]
            for side in (list(dict.fromkeys(p for p in before if p >= 0)), list(dict.fromkeys(after))):
                is_cut = is_cut or len(side) > MAX_OF_A_NODE
                for other in side[:MAX_OF_A_NODE]:
                    if other not in kept and len(kept) < MAX_NODES:
                        kept[other] = kept[index] + 1
                        queue.append(other)
                    is_cut = is_cut or other not in kept
        return self._drawing(graph, sorted(kept), center, fault, is_cut=is_cut)

    def _drawing(
        self, graph: Graph, kept: list[int], center: int | None, fault: str | None, *, is_cut: bool
    ) -> Neighbourhood:
        number = {index: position for position, index in enumerate(kept)}
        nodes = [
            Neighbour(_short(graph.nodes[index].op_type), _short(graph.nodes[index].proto.name), index, index == center)
            for index in kept
        ]
        edges: list[ValueEdge] = []
        sources: dict[str, int] = {}
        for index in kept:
            for name in graph.node_inputs[index][:MAX_NODES]:
                if not name:
                    continue
                position = graph.positions.get(name)
                if position is not None and position in number:
                    source = number[position]
                elif index in (center, *kept[:1]) or name == fault:
                    # What comes from no node that is drawn stands for itself beside the nodes that it is about.
                    if name not in sources:
                        sources[name] = len(nodes)
                        nodes.append(Neighbour(_origin(graph, name), _short(name), None, position is None))
                    source = sources[name]
                else:
                    continue
                edges.append(
                    ValueEdge(source, number[index], _short(name), self._known(graph, name), bool(name == fault))
                )
        return Neighbourhood(tuple(nodes), tuple(edges), is_cut)

    def _known(self, graph: Graph, name: str) -> str:
        """The type and shape of a value, as far as the rules have found them out."""
        if self._model.shape_knowledge is None:
            return ""
        walked = self._model.value_flow.walks.of(graph, None)
        fact = (walked.facts if walked is not None else {}).get(name)
        if fact is None:
            return ""
        kind = fact.kind or ""
        element = kind.removeprefix("tensor(").removesuffix(")") if kind.startswith("tensor(") else kind
        return _short(element + (describe(fact.shape) if fact.shape is not None else ""))


def _origin(graph: Graph, name: str) -> str:
    if name not in graph.positions:
        return "from outside" if graph.sees(name) else "undefined"
    return "input" if name in graph.input_names else "initializer"


def _value_of(graph: Graph, step: _Step) -> str | None:
    attribute = _VALUE_FIELDS.get(step.field)
    if attribute is None or step.index is None:
        return None
    names = getattr(graph, attribute)
    return names[step.index] if step.index < len(names) else None


def _short(name: str) -> str:
    name = report_name(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}...{name[-MAX_NAME // 2 + 3 :]}"
