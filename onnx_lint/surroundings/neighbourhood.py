# SPDX-License-Identifier: Apache-2.0
"""The nodes around a finding, for the reports that draw them."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.place import PlaceKey, Step, key_of
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic, Neighbour, Neighbourhood, ValueEdge, worst_of_each
from onnx_lint.surroundings.facts import type_of
from onnx_lint.surroundings.of_findings import with_additions
from onnx_lint.wording import report_name, shortened

HOPS: Final = 2
MAX_NODES: Final = 24
MAX_OF_A_NODE: Final = 6
"""The number of neighbours on either side of a node to draw; there may be thousands."""
MAX_BOXES: Final = 2
"""The number of inputs of a node besides the finding's that have boxes of their own."""
MAX_NAME: Final = 40
PER_RULE: Final = 3
PER_FILE: Final = 60
"""The number of findings of a file that get a picture, the most severe first. Each searches its graph."""

_WORK: Final = "drawing the model around a finding"

_VALUE_FIELDS: Final = {
    "input": "input_names",
    "output": "output_names",
    "initializer": "initializer_names",
    "value_info": "value_info_names",
}


def with_neighbourhoods(diagnostics: Sequence[Diagnostic], model: Model) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with the nodes around them, for the first of each rule and clause and the most severe."""
    drawn = worst_of_each(diagnostics, PER_RULE, PER_FILE)
    around = _Surroundings(model)
    return with_additions(diagnostics, drawn, model, _WORK, lambda item: replace(item, neighbourhood=around.of(item)))


class _Surroundings:
    """Finds the nodes around places of one model. The users of values are collected once per graph."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._graphs = {graph.place.key: graph for graph in model.graphs}
        self._users: dict[Graph, _Users] = {}

    def of(self, item: Diagnostic) -> Neighbourhood | None:
        """Return the nodes around a finding; None if it is not about a node or a value of a graph."""
        key = key_of(item.pointer)
        depth = next((depth for depth in range(len(key) - 1, -1, -1) if key[:depth] in self._graphs), None)
        if depth is None:
            return None
        graph, first, steps = self._graphs[key[:depth]], key[depth], key[depth + 1 :]
        field, index = first
        if field == "node" and index is not None and index < len(graph.nodes):
            return self._around(graph, [index], index, self._operand(graph, index, steps))
        name = _value_of(graph, first)
        if name is None:
            return None
        position = graph.positions.get(name, -1)
        starts = [position] if position >= 0 else []
        starts += self._users_of(graph).first(name, MAX_OF_A_NODE)
        return self._around(graph, starts, None, name) if starts else None

    def _operand(self, graph: Graph, node: int, steps: PlaceKey) -> str | None:
        """Return the name of the input or output that a place in a node refers to."""
        field, index = steps[0] if steps else ("", None)
        if index is None or field not in {"input", "output"}:
            return None
        names = (graph.node_inputs if field == "input" else graph.node_outputs)[node]
        return names[index] if index < len(names) else None

    def _users_of(self, graph: Graph) -> _Users:
        if graph not in self._users:
            self._users[graph] = _Users(graph.node_inputs)
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
            after = [user for name in graph.node_outputs[index] if name for user in users.first(name, MAX_NODES)]
            for side in (list(dict.fromkeys(p for p in before if p >= 0)), list(dict.fromkeys(after))):
                is_cut = is_cut or len(side) > MAX_OF_A_NODE
                for other in side[:MAX_OF_A_NODE]:
                    if other not in kept and len(kept) < MAX_NODES:
                        kept[other] = kept[index] + 1
                        queue.append(other)
                    is_cut = is_cut or other not in kept
        drawing = _Drawing(graph, sorted(kept), center, fault, partial(self._known, graph))
        return Neighbourhood(tuple(drawing.nodes), tuple(drawing.edges), is_cut)

    def _known(self, graph: Graph, name: str) -> str:
        """Return the type and shape of a value, if the rules have inferred them."""
        if self._model.shape_knowledge is None:
            return ""
        return _short(type_of(self._model.value_flow.fact_of(name, graph)))


class _Drawing:
    """The nodes of one picture, the boxes of values whose producer is not drawn, and the edges between them."""

    def __init__(
        self, graph: Graph, kept: list[int], center: int | None, fault: str | None, known: Callable[[str], str]
    ) -> None:
        self._graph = graph
        self._center = center
        """The node of the finding; None if the finding is about a value."""
        self._fault = fault
        """The value that the finding is about."""
        self._known = known
        """Returns the type and shape of a value in words."""
        self._number = {index: position for position, index in enumerate(kept)}
        self._sources: dict[str | int, int] = {}
        """The boxes of values by name; the box for all others of a node by the node."""
        self._boxes: Counter[int] = Counter()
        self._said: set[str] = set()
        """The values whose name an edge shows."""
        self._beside = frozenset(graph.node_inputs[center]) if center is not None else frozenset[str]()
        self.edges: list[ValueEdge] = []
        self.nodes = [
            Neighbour(_short(graph.nodes[index].op_type), _short(graph.nodes[index].name), index, index == center)
            for index in kept
        ]
        for index in kept:
            for name in filter(None, graph.node_inputs[index][:MAX_NODES]):
                position = graph.positions.get(name)
                if position is not None and position in self._number:
                    self._add_edge(name, position, index)
                else:
                    self._add_box(name, index)
        self._add_end_of_fault()

    def _add_edge(self, name: str, position: int, index: int) -> None:
        """Draw a value from its producer to one user."""
        is_fault = self._is_at_fault(name, position, index)
        # One edge of a value says its name: for the fault, the edge to the marked node if there is one.
        is_usual = not is_fault and name in _usual_outputs(self._graph.nodes[position].name)
        is_said = is_usual or name in self._said or (name in self._beside and index != self._center)
        if not is_said:
            self._said.add(name)
        ends = self._number[position], self._number[index]
        self.edges.append(ValueEdge(*ends, "" if is_said else _short(name), self._known(name), is_fault))
        center = self._center
        if name == self._fault and center not in {None, position} and name in self._graph.node_outputs[center]:
            # The node of the finding defines the value again.
            self.edges.append(ValueEdge(self._number[center], self._number[index], "", "", True))

    def _is_at_fault(self, name: str, *ends: int) -> bool:
        """Return whether an edge is the fault: of a finding about a node, only an edge of the value at that node."""
        return name == self._fault and (self._center is None or self._center in ends)

    def _add_box(self, name: str, index: int) -> None:
        """Draw a value whose producer is not drawn, in a box of its own with its name.

        Of a node that is not the finding's there are a few, and one box for the others.
        """
        is_fault = self._is_at_fault(name, index)
        others = 0 if index == self._center or is_fault else self._boxes[index]
        self._boxes[index] += 1
        if others == MAX_BOXES:
            box = self._box(index, Neighbour("...", "", None, False))
            self.edges.append(ValueEdge(box, self._number[index], "", "", False))
        elif others < MAX_BOXES:
            at_fault = _is_undefined(self._graph, name) or (is_fault and self._center is None)
            box = self._box(name, Neighbour(_origin(self._graph, name), _short(name), None, at_fault))
            self.edges.append(ValueEdge(box, self._number[index], "", self._known(name), is_fault))

    def _box(self, key: str | int, box: Neighbour) -> int:
        if key not in self._sources:
            self._sources[key] = len(self.nodes)
            self.nodes.append(box)
        return self._sources[key]

    def _add_end_of_fault(self) -> None:
        """Draw where the value of the finding ends, if no drawn node uses it."""
        fault = self._fault
        if fault is None or any(edge.is_fault for edge in self.edges):
            return
        producer = self._graph.positions.get(fault, -1)
        if producer in self._number:
            kind = "output" if fault in self._graph.output_names else "not used"
            self.nodes.append(Neighbour(kind, _short(fault), None, self._center is None))
            self.edges.append(ValueEdge(self._number[producer], len(self.nodes) - 1, "", self._known(fault), True))


class _Users:
    """Finds the nodes of a graph that use a value. It needs twelve bytes for each input of a node, a dict hundreds.

    Inputs are sorted by the hashes of their names into as many buckets as there are inputs.
    """

    def __init__(self, node_inputs: Sequence[Sequence[str]]) -> None:
        self._node_inputs = node_inputs
        count = sum(map(len, node_inputs))
        self._buckets = max(count, 1)
        starts = array("I", bytes(4 * (self._buckets + 1)))
        for names in node_inputs:
            for name in names:
                starts[hash(name) % self._buckets] += 1
        for bucket in range(1, self._buckets + 1):
            starts[bucket] += starts[bucket - 1]
        # Fill the buckets from the ends, where `starts` points now, to their beginnings.
        self._nodes, self._inputs = array("I", bytes(4 * count)), array("I", bytes(4 * count))
        for index in range(len(node_inputs) - 1, -1, -1):
            names = node_inputs[index]
            for number in range(len(names) - 1, -1, -1):
                bucket = hash(names[number]) % self._buckets
                starts[bucket] -= 1
                self._nodes[starts[bucket]], self._inputs[starts[bucket]] = index, number
        self._starts = starts

    def first(self, name: str, most: int) -> list[int]:
        """Return the indices of the first `most` nodes that use the name, once for each input."""
        bucket = hash(name) % self._buckets
        slots = range(self._starts[bucket], self._starts[bucket + 1])
        uses = ((self._nodes[slot], self._inputs[slot]) for slot in slots)
        return list(islice((node for node, number in uses if self._node_inputs[node][number] == name), most))


def _origin(graph: Graph, name: str) -> str:
    """Return the words for where a value comes from that no drawn node defines."""
    position = graph.positions.get(name)
    if position is None:
        return "undefined" if _is_undefined(graph, name) else "from outside"
    if position >= 0:
        return f"computed by {_short(graph.nodes[position].op_type)}"
    return "input" if name in graph.input_names else "initializer"


def _is_undefined(graph: Graph, name: str) -> bool:
    return name not in graph.positions and not graph.sees(name)


def _usual_outputs(node: str) -> tuple[str, ...]:
    """Return the names that exporters make of a node's for its first output, which a picture need not repeat."""
    return (node, f"{node}_output_0", f"{node}:0")


def _value_of(graph: Graph, step: Step) -> str | None:
    field, index = step
    attribute = _VALUE_FIELDS.get(field)
    if attribute is None or index is None:
        return None
    names = getattr(graph, attribute)
    return names[index] if index < len(names) else None


def _short(name: str) -> str:
    return shortened(report_name(name), MAX_NAME)
