# SPDX-License-Identifier: Apache-2.0
"""The nodes around findings: what they read and what reads their outputs, two steps each way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.ir.graph import BEFORE_NODES, Graph, GraphKind
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.pictures import (
    FAULT,
    RELATED,
    Picture,
    PictureArrow,
    PictureBox,
    PictureValue,
    places_of,
)
from onnx_lint.surroundings.edges import CapturedNames, Edges, short
from onnx_lint.surroundings.of_findings import MAX_FINDINGS, PER_RULE, worst_of_each
from onnx_lint.surroundings.other_graphs import OtherPart, readers_inside
from onnx_lint.wording import counted

MAX_NODES: Final = 12
"""The most nodes of a picture."""

_MAX_NEIGHBOURS: Final = (3, 2)
"""The most neighbours of a node on each side: of the node at fault, and of its neighbours."""

_MAX_SOURCES: Final = (4, 2, 0)
"""The most boxes for values that a node reads from no other node, by the distance of the node."""

_MAX_READS: Final = (6, 3, 2)
"""The most values without an arrow that a node lists, by its distance."""

_MAX_OUTPUTS: Final = 4
"""The most outputs of a node that are shown."""

_WORK: Final = "drawing the nodes around a finding"

_LISTS: Final = {
    "input": "input_names",
    "output": "output_names",
    "initializer": "initializer_names",
    "sparse_initializer": "sparse_initializer_names",
    "value_info": "value_info_names",
}
"""The lists of a graph with values, and the property that has the names."""

_MAX_INSIDE: Final = 2
"""The most nodes in nested graphs that are drawn as readers of one value."""


class _OtherBox(Record):
    """Identifies a box that is no node of the graph."""

    kind: str
    """`from`, `output` or `more` for a value of the graph, or `in` for a part of another graph."""
    name: str
    """The name of the value, or the place of the part."""


_BoxKey = int | _OtherBox
"""Identifies a box: the index of a node, or another box."""


class _Arrow(Record):
    """Identifies an arrow."""

    source: _BoxKey
    value: str
    target: _BoxKey


class _Focus(Record):
    """What a finding is about: a node, a value of it, or a value of a graph."""

    graph: Graph
    node: int | None = None
    value: str = ""
    side: str = ""
    """`input` or `output`, for a value of the node."""

    @property
    def starts(self) -> list[int]:
        """The node itself, or else the one that makes the value, if any."""
        if self.node is not None:
            return [self.node]
        producer = self.graph.positions.get(self.value, BEFORE_NODES)
        return [] if producer == BEFORE_NODES else [producer]

    def is_about(self, name: str, node: int | None) -> bool:
        """Return whether the finding is about the value where a node reads or makes it; None for the graph."""
        return name == self.value and (self.side == "output" or self.node in (None, node))


def pictures_of(diagnostics: Sequence[Diagnostic], model: Model) -> tuple[Picture, ...]:
    """Return the pictures for the first diagnostics of each rule and clause, one for all with the same places."""
    if not model.loaded:
        return ()
    captured = CapturedNames()
    found: list[Picture] = []
    for graph, subjects in _subjects(diagnostics, model).items():
        check_deadline()
        ends = [focuses[0] for focuses in subjects.values()]
        names = {name for focus in ends for name in (focus.value, *_outputs_of(graph, focus.starts)) if name}
        edges = Edges(graph, model, captured)
        edges.find_readers(names, _MAX_NEIGHBOURS)
        for places, focuses in subjects.items():
            with model.crashes.at(_WORK, places[0]):
                found.append(_Drawing(edges, captured, focuses).picture(places))
    return tuple([picture for picture in found if len(picture.boxes) > 1])


def _subjects(diagnostics: Sequence[Diagnostic], model: Model) -> dict[Graph, dict[tuple[Place, ...], list[_Focus]]]:
    """Return what the diagnostics of each graph are about, with what is related, by their places."""
    graphs = {graph.place.key: graph for graph in model.graphs if not graph.is_file}
    found: dict[Graph, dict[tuple[Place, ...], list[_Focus]]] = {}
    for index in sorted(worst_of_each(diagnostics, PER_RULE, MAX_FINDINGS)):
        places = places_of(diagnostics[index])
        focus, *related = [_focus_of(place.key, graphs) for place in places]
        if focus is not None:
            found.setdefault(focus.graph, {})[places] = [focus, *(each for each in related if each is not None)]
    return found


def _outputs_of(graph: Graph, nodes: Iterable[int]) -> list[str]:
    return [name for index in nodes for name in graph.node_outputs[index] if name]


def _focus_of(key: PlaceKey, graphs: dict[PlaceKey, Graph]) -> _Focus | None:
    """Return what a finding at a place is about; None if that is not a node or a value of a graph."""
    depth = next((depth for depth in range(len(key) - 1, -1, -1) if key[:depth] in graphs), None)
    if depth is None:
        return None
    graph, (field, index) = graphs[key[:depth]], key[depth]
    if field == "node" and index is not None and index < len(graph.nodes):
        return _focus_at_node(graph, index, key[depth + 1 :])
    name = _nth(getattr(graph, _LISTS[field]), index) if field in _LISTS else ""
    return _Focus(graph, value=name) if name else None


def _focus_at_node(graph: Graph, index: int, rest: PlaceKey) -> _Focus:
    side, number = rest[0] if rest else ("", None)
    operands = {"input": graph.node_inputs, "output": graph.node_outputs}.get(side)
    return _Focus(graph, index, _nth(operands[index], number) if operands is not None else "", side)


def _nth(names: Sequence[str], index: int | None) -> str:
    return names[index] if index is not None and index < len(names) else ""


def _key_of(part: OtherPart) -> _BoxKey:
    return _OtherBox("in", f"{part.graph.place}: {part.value if part.node is None else part.node}")


class _Drawing:
    """One picture while it is made."""

    def __init__(self, edges: Edges, captured: CapturedNames, focuses: Sequence[_Focus]) -> None:
        """`focuses`: what the finding is about, and then what is related."""
        self._edges = edges
        self._captured = captured
        self._focus = focus = focuses[0]
        related = [each for each in focuses[1:] if each.graph is edges.graph]
        self._marks: dict[int | str, str] = {}
        """The marks of nodes, by index, and of values that no node reads or makes at a related place, by name."""
        for each in related:
            self._marks[each.value if each.node is None else each.node] = RELATED
        self._marks.update(dict.fromkeys([focus.value] if focus.node is None else [focus.node], FAULT))
        self._depths: dict[int, int] = {}
        """The nodes to draw, each with its distance from the node at fault."""
        self._below: set[int] = set()
        """Those of them whose readers were looked for."""
        self._others: dict[_BoxKey, OtherPart] = {}
        """The nodes and values of other graphs to draw."""
        for each in focuses[1:]:
            if each.graph is not edges.graph:
                self._add_other(each)
        self._choose(related)
        self._reads: dict[int, list[str]] = {}
        self._values: dict[_BoxKey, list[str]] = {}
        self._arrows: dict[_Arrow, str] = {}
        """The arrows, each with its mark."""

    def _choose(self, related: Iterable[_Focus]) -> None:
        """Choose the nodes to draw."""
        edges, starts = self._edges, self._focus.starts
        self._add(0, starts)
        self._add(1, [index for each in related for index in each.starts])
        self._below.update(starts)
        up = down = starts
        for depth, most in enumerate(_MAX_NEIGHBOURS, 1):
            before = [other for index in up for other in edges.producers(index, first=self._focus.value)[:most]]
            after = [other for index in down for other in edges.users(index)[:most]]
            if not starts and depth == 1:
                after = edges.readers(self._focus.value)[:most]
            up, down = self._add(depth, before), self._add(depth, after)
            self._below.update(down if depth == 1 else ())

    @property
    def _has_room(self) -> bool:
        return len(self._depths) + len(self._others) < MAX_NODES

    def _add_other(self, focus: _Focus) -> None:
        """Add what is related in another graph: the node that reads the value, or what makes it."""
        made_by = next(iter(focus.starts), None)
        value = "" if focus.side == "input" else focus.value
        part = OtherPart(focus.graph, made_by, value, RELATED)
        self._others.setdefault(_key_of(part), part)

    def _add(self, depth: int, nodes: Sequence[int]) -> list[int]:
        """Add nodes as long as there is room, and return the nodes that are drawn."""
        for index in nodes:
            if self._has_room:
                self._depths.setdefault(index, depth)
        return [index for index in dict.fromkeys(nodes) if index in self._depths]

    def picture(self, about: tuple[Place, ...]) -> Picture:
        """Return the picture."""
        graph, nodes = self._edges.graph, sorted(self._depths)
        for index in nodes:
            self._connect_inputs(index)
            self._connect_outputs(index)
        if not self._focus.starts:
            self._connect_focus(self._focus.value)
        self._connect_others()
        self._show_unread()
        sources: list[_BoxKey] = [key for key in self._values if not isinstance(key, int)]
        keys = list(dict.fromkeys((*sources, *nodes, *(arrow.target for arrow in self._arrows), *self._others)))
        arrows = [
            PictureArrow(
                source=keys.index(arrow.source),
                value=self._values[arrow.source].index(arrow.value),
                target=keys.index(arrow.target),
                mark=mark,
            )
            for arrow, mark in self._arrows.items()
        ]
        words = "" if graph.kind is GraphKind.MAIN else short(graph.describe())
        return Picture(about, words, tuple([self._box(key) for key in keys]), tuple(arrows))

    def _connect_focus(self, name: str) -> None:
        """Add the value at fault, which no node makes, with arrows to the outputs of the graph and to other readers."""
        self._show(_OtherBox("from", name), name)
        self._connect_more(_OtherBox("from", name), name)
        if self._edges.is_output(name):
            self._connect(_OtherBox("from", name), name, _OtherBox("output", name), self._mark(name, None))

    def _show_unread(self) -> None:
        """Add the related inputs and initializers that no drawn node reads, such as the one that a name may mean."""
        shown = {name for names in (*self._values.values(), *self._reads.values()) for name in names}
        values = [name for name in self._marks if isinstance(name, str)]
        for name in values:
            if name not in shown and self._edges.graph.positions.get(name) == BEFORE_NODES:
                self._show(_OtherBox("from", name), name)

    def _mark(self, name: str, node: int | None) -> str:
        """Return the mark of a value where a node reads or makes it; None for the graph itself."""
        return FAULT if name and self._focus.is_about(name, node) else ""

    def _connect_inputs(self, index: int) -> None:
        """Add an arrow for each value that the node reads; those without a box before it are listed in the node."""
        left = _MAX_SOURCES[self._depths[index]]
        for name in self._edges.reads(index):
            mark, producer = self._mark(name, index), self._edges.graph.positions.get(name, BEFORE_NODES)
            outer = self._outer_part(name) if producer == BEFORE_NODES else None
            if producer in self._depths:
                self._connect(producer, name, index, mark)
            elif outer is not None:
                self._connect(outer, name, index, mark)
            elif mark or name in self._marks:
                self._connect(_OtherBox("from", name), name, index, mark)
            elif left and self._edges.is_from_outside(name):
                left -= 1
                self._connect(_OtherBox("from", name), name, index, mark)
            else:
                self._reads.setdefault(index, []).append(name)

    def _outer_part(self, name: str) -> _BoxKey | None:
        """Return the box of the node in an enclosing graph that makes a captured value; None without one, or room."""
        definition = self._edges.graph.outer_definition(name) if name not in self._edges.graph.positions else None
        if definition is None or definition.node is None:
            return None
        part = OtherPart(definition.graph, definition.node.index, name)
        key = _key_of(part)
        if key not in self._others and not self._has_room:
            return None
        known = self._others.setdefault(key, part)
        return key if known.value == name else None

    def _connect_others(self) -> None:
        """Add arrows to the nodes in other graphs that read the value at fault, or an output of the node at fault."""
        names = [self._focus.value, *_outputs_of(self._edges.graph, self._focus.starts)]
        for name in dict.fromkeys(filter(None, names)):
            for part in readers_inside(self._edges.graph, name, _MAX_INSIDE, self._captured):
                if self._has_room or _key_of(part) in self._others:
                    self._others.setdefault(_key_of(part), part)
        for key, part in self._others.items():
            read = () if part.node is None else part.graph.node_inputs[part.node]
            for name in names:
                source: _BoxKey = self._edges.graph.positions.get(name, BEFORE_NODES)
                source = source if source in self._depths else _OtherBox("from", name)
                if name and name in read and (isinstance(source, int) or source in self._values):
                    self._connect(source, name, key, "")

    def _connect_outputs(self, index: int) -> None:
        """Add arrows to the outputs of the graph, and to boxes that count the readers that are left out."""
        for name in dict.fromkeys(filter(None, self._edges.graph.node_outputs[index])):
            mark, shown = self._mark(name, index), self._values.setdefault(index, [])
            is_shown = self._depths[index] == 0 or index in self._marks
            if mark or (is_shown and len(shown) < _MAX_OUTPUTS):
                self._show(index, name)
            if name not in shown and len(shown) >= _MAX_OUTPUTS:
                continue
            if self._edges.is_output(name):
                self._connect(index, name, _OtherBox("output", name), self._mark(name, None))
            if index in self._below:
                self._connect_more(index, name)

    def _connect_more(self, source: _BoxKey, name: str) -> None:
        if self._left_out(name):
            self._connect(source, name, _OtherBox("more", name), "")

    def _left_out(self, name: str) -> int:
        """Return the number of readers of a value that are not drawn."""
        return sum(reader not in self._depths for reader in self._edges.readers(name))

    def _show(self, source: _BoxKey, name: str) -> None:
        """Add a value to those that a box shows."""
        names = self._values.setdefault(source, [])
        if name not in names:
            names.append(name)

    def _connect(self, source: _BoxKey, name: str, target: _BoxKey, mark: str) -> None:
        self._show(source, name)
        self._arrows[_Arrow(source, name, target)] = mark

    def _box(self, key: _BoxKey) -> PictureBox:
        if isinstance(key, int):
            return self._box_of_node(key)
        if key in self._others:
            return self._others[key].box(self._edges.model)
        kind, name = key.kind, key.name
        mark = self._marks.get(name, "")
        if kind == "more":
            return PictureBox(kind, counted(self._left_out(name), "more node"))
        if kind == "output":
            return PictureBox(kind, kind, mark=mark)
        origin = self._edges.origin(name)
        is_marked = any(mark for arrow, mark in self._arrows.items() if arrow.source == key)
        value = self._edges.value(name, FAULT if is_marked else mark)
        return PictureBox(origin.box_kind, short(origin.title), values=(value,), mark=mark)

    def _box_of_node(self, index: int) -> PictureBox:
        edges, node = self._edges, self._edges.graph.nodes[index]
        reads = self._reads.get(index, [])
        most = _MAX_READS[self._depths[index]]
        lines = [edges.value(name, self._marks.get(name, "")) for name in reads[:most]]
        if len(reads) > most:
            lines.append(PictureValue(f"{len(reads) - most:,} more"))
        title = node.op_type if node.domain in {"", "ai.onnx"} else f"{node.domain}.{node.op_type}"
        return PictureBox(
            "node",
            short(title),
            short(node.name),
            index,
            tuple(lines),
            tuple([edges.value(name, self._mark(name, index)) for name in self._values.get(index, ())]),
            self._marks.get(index, ""),
        )
