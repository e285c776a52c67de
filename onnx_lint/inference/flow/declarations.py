# SPDX-License-Identifier: Apache-2.0
"""What graphs declare of the values that their nodes give, held against what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.inference.flow.cell import Cell, Outcome
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.joining import joined
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.dims import may_count_the_same
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.graph import Graph


class Declarations:
    """Joins what is declared with what follows, and notes what does not go together."""

    def __init__(self, found: ValueFlow, faulty: FaultyValues) -> None:
        self._found = found
        self._faulty = faulty
        self.joined: dict[tuple[Fact, Fact], Fact] = {}
        """What is known of values whose declaration does not contradict what their node gives."""

    def join(self, name: str, made: Fact, stated: Fact, discords: dict[str, Fact]) -> Fact:
        """What is known of a value that is not in `joined`; `discords` gets what was made of one that contradicts."""
        both, discord = joined(made, stated)
        if discord:
            discords[name] = made
        else:
            if len(self.joined) >= _MOST_JOINED:
                self.joined.clear()
            self.joined[made, stated] = both
        return both

    def compare(
        self, graph: Graph, declared: Mapping[str, Fact], discords: Mapping[str, Fact], call: Call | None
    ) -> set[str]:
        """Note the values that are declared otherwise than their node makes them; return those of another type."""
        noted: set[str] = set()
        differing: set[str] = set()
        for field, index, name in _declarations(graph):
            if name not in discords or name in noted:
                continue
            noted.add(name)
            made, stated = discords[name], declared[name]
            if made.kind and stated.kind and made.kind != stated.kind:
                differing.add(name)
                self._found.note_declaration(graph, field, index, stated.kind, made.kind, call)
            else:
                self._found.note_declared_shape(graph, field, index, stated, made, call)
        return differing

    def compare_counts(
        self, graph: Graph, name: str, cell: Cell, data: Fact, stated: Fact, known: Fact, call: Call | None
    ) -> None:
        """Note the output of a Reshape that is declared with another number of elements than its input has."""
        if data.shape is None or stated.shape is None or known.shape is None:
            return
        if may_count_the_same(data.shape, known.shape) or cell.operator is None or not cell.operator.binds:
            return
        place = next(((field, index) for field, index, other in _declarations(graph) if other == name), None)
        if place is not None and cell.operator.schema.domain == "":
            self._found.note_declared_count(graph, *place, stated, data, call)

    def compare_branches(
        self, graph: Graph, declared: Mapping[str, Fact], outputs: Sequence[str], outcome: Outcome, call: Call | None
    ) -> None:
        """Note the outputs of an If that are declared otherwise than one of its branches gives them.

        What contradicts both branches together is noted with the other declarations.
        """
        fields = {name: (field, index) for field, index, name in reversed(list(_declarations(graph)))}
        for position, (name, made) in enumerate(zip(outputs, outcome.outputs, strict=False)):
            stated = declared.get(name)
            if stated is None or name not in fields or joined(made, stated)[1]:
                continue
            for branch, facts in zip(("then_branch", "else_branch"), outcome.branches, strict=True):
                if joined(facts[position], stated)[1] == "shape":
                    self._found.note_declared_shape(graph, *fields[name], stated, facts[position], call, branch)
                    break

    def is_told(self, graph: Graph, index: int, name: str, outcome: Outcome, known: Mapping[str, Fact]) -> bool:
        """Whether a value that is declared as what its operator never gives is told: unless it follows from a fault."""
        if outcome.problems or self._faulty.are_behind(graph, index, known):
            return False
        self._faulty.add(graph, [name])
        # What is defined twice has a finding of its own.
        return graph.positions.get(name) == index

    def note_impossible(
        self, graph: Graph, declared: Mapping[str, Fact], impossible: dict[str, Cell], call: Call | None
    ) -> None:
        """Note the values that are declared as what their operator never gives, each once."""
        for field, index, name in _declarations(graph):
            cell = impossible.pop(name, None)
            if cell is not None and cell.operator is not None:
                stated = declared[name].kind or ""
                self._found.note_impossible(graph, field, index, stated, cell.operator.schema, call)


def may_be(stated: Fact, graph: Graph, index: int, name: str, cell: Cell) -> bool:
    """Whether the operator of a node may give what is declared of an output, whatever its inputs."""
    return not stated.kind or cell.may_give(graph.node_outputs[index].index(name), stated.kind)


def _declarations(graph: Graph) -> Iterator[tuple[str, int, str]]:
    for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
        for index, name in enumerate(names):
            yield field, index, name


_MOST_JOINED: Final = 50_000
"""So many pairs of facts are remembered; then they are forgotten, which costs time only."""
