# SPDX-License-Identifier: Apache-2.0
"""Fixes that delete nodes or initializers, and let the nodes that used their values read equal ones."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.uses import annotated_names
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.sharding import sharding_specs
from onnx_lint.wording import quote

Read = tuple[int, Place]
"""The index of a node of the graph, and the place of an input that reads a value: of the node, or in its subgraphs."""


class _NeededError(Exception):
    """Raised if a value cannot be deleted, because something needs its name."""

    def __init__(self, user: str, name: str) -> None:
        super().__init__(f"{user} needs the name {quote(name)}")


_OUTPUT: Final = "an output of the graph"
_OTHERS: Final = "a subgraph, an annotation or a sharding specification"
"""What may need the names of `_Mentions.others`."""


class _Substitution(Record):
    """The replacement of a value by an equal one: the name that disappears, and the edits."""

    removed: str
    edits: list[Edit]


class _Mentions:
    """Where a graph, and the graphs nested in it, mention the values that the graph defines or sees."""

    def __init__(self, graph: Graph) -> None:
        self.outputs = set(graph.output_names)
        self.reads: dict[str, list[Read]] = {}
        self.declarations: dict[str, list[Place]] = {}
        self.others: set[str] = set(annotated_names(graph))
        """The names that are mentioned elsewhere, or mean another value in a nested graph."""
        for number, names in enumerate(graph.node_inputs):
            for index, name in enumerate(names):
                if name:
                    self.reads.setdefault(name, []).append((number, graph.at("node", number).at("input", index)))
        for index, name in enumerate(graph.value_info_names):
            self.declarations.setdefault(name, []).append(graph.at("value_info", index))
        for spec in sharding_specs(graph.nodes_with("device_configurations")):
            self.others.add(spec.proto.tensor_name)
        for nested in graph.nested:
            self._add(nested, _Mentions(nested))
        self._graph = graph
        self._counts: dict[int, int] = {}

    def count(self, number: int) -> int:
        """Return the number of reads of the outputs of a node."""
        if number not in self._counts:
            self._counts[number] = sum(len(self.reads.get(name, ())) for name in self._graph.node_outputs[number])
        return self._counts[number]

    @cached_property
    def producers(self) -> dict[str, Place]:
        """The places of the outputs of nodes, by their names."""
        rows = enumerate(self._graph.node_outputs)
        return {
            name: self._graph.at("node", number).at("output", index)
            for number, names in rows
            for index, name in enumerate(names)
        }

    def deletion(
        self, defined: set[str], replacements: Mapping[str, str], nodes: Sequence[int]
    ) -> tuple[set[str], list[Edit]]:
        """Return the names that disappear if nodes are deleted, and the edits by which other nodes read replacements.

        Raises _NeededError if something needs one of the names. `defined`: the names that the nodes define.
        `replacements`: for each of these that is used, the name of an equal value.
        """
        deleted = frozenset(nodes)
        removed, edits = defined.difference(replacements), list[Edit]()
        for name in sorted(removed):
            if any(number not in deleted for number, _ in self.reads.get(name, ())):
                raise _NeededError("another node", name)
        for name, other in replacements.items():
            found = self.substitution(name, other, deleted)
            removed.add(found.removed)
            edits += found.edits
        for name in sorted(removed):
            if name in self.others or name in self.outputs:
                raise _NeededError(_OTHERS if name in self.others else _OUTPUT, name)
        return removed, edits

    def substitution(self, name: str, other: str, nodes: Container[int]) -> _Substitution:
        """Return the edits after which `other` is read in place of `name`, which is deleted.

        Raises _NeededError if the name must stay. `nodes`: the deleted nodes. An output of the graph keeps its name, so
        `other` takes it.
        """
        for each in (name, other):
            if each in self.others:
                raise _NeededError(_OTHERS, each)
        if name not in self.outputs:
            return _Substitution(name, self._reading(name, other, nodes))
        producer = self._graph.positions.get(other, -1)
        if producer < 0 or producer in nodes or other in self.outputs:
            raise _NeededError(_OUTPUT, name)
        return _Substitution(other, [Assign(self.producers[other], name), *self._reading(other, name, nodes)])

    def _reading(self, name: str, other: str, nodes: Container[int]) -> list[Edit]:
        """Return the edits by which the nodes that are not deleted read `other` in place of `name`."""
        return [Assign(place, other) for number, place in self.reads.get(name, ()) if number not in nodes]

    def _add(self, nested: Graph, inner: _Mentions) -> None:
        own = nested.positions
        self.others.update(inner.others, own, (name for name in nested.output_names if name not in own))
        for name, reads in inner.reads.items():
            if name not in own:
                self.reads.setdefault(name, []).extend((nested.position, place) for _, place in reads)
        for name, places in inner.declarations.items():
            if name not in own:
                self.declarations.setdefault(name, []).extend(places)


class Removals:
    """Makes the fixes for the graphs of one model. Where a name may mean two values, it makes none.

    They are safe if no value is of a 16-bit floating-point type. On a CPU, ONNX Runtime computes with these in 32 bits,
    and which results it rounds to 16 bits depends on the nodes around them.
    """

    def __init__(self, graphs: Iterable[Graph], kind_of: Callable[[str, Graph], str | None]) -> None:
        """`graphs`: all graphs of a model whose names are all defined, and before their use; none to make no fix.

        `kind_of`: returns the type of a value that a graph sees; None if it is unknown.
        """
        self._kind_of = kind_of
        graphs = list(graphs)
        self._is_possible = bool(graphs) and not any(graph.has_redefinitions for graph in graphs)
        self._mentions: dict[Graph, _Mentions] = {}

    def fix(
        self,
        message: str,
        graph: Graph,
        nodes: Sequence[int] = (),
        replacements: Mapping[str, str] | None = None,
        *,
        initializer: tuple[str, Place] | None = None,
        is_safe: bool = True,
    ) -> Fix | str:
        """Return the fix that deletes nodes, or an initializer, and their declarations; or why there is none.

        `initializer`: its name, and its place. `replacements`: for each value that is deleted and used, the name of an
        equal value that stays. An output of the graph keeps its name: the equal value takes it.
        """
        if graph.is_file:
            return "the file has only a part of a model, and the rest may need the name"
        if not self._is_possible:
            return "the model has training information, or names that are undefined, out of order or defined twice"
        mentions, replacements = self._mentions_in(graph), replacements or {}
        defined = {name for number in nodes for name in graph.node_outputs[number] if name}
        deleted = [Delete(graph.at("node", number)) for number in nodes]
        if initializer is not None:
            name, place = initializer
            defined.add(name)
            deleted.append(Delete(place))
        try:
            removed, substitutions = mentions.deletion(defined, replacements, nodes)
        except _NeededError as error:
            return str(error)
        declared = [place for name in sorted(removed) for place in mentions.declarations.get(name, ())]
        touched = defined.union(*(graph.node_inputs[number] for number in nodes), replacements.values()) - {""}
        is_safe = is_safe and not self._has_small_floats(touched, graph)
        return Fix(message, (*deleted, *substitutions, *map(Delete, declared)), is_safe, removes=frozenset(removed))

    def _has_small_floats(self, names: Iterable[str], graph: Graph) -> bool:
        """Return whether one of the values may be of a 16-bit floating-point type."""
        kinds = [self._kind_of(name, graph) for name in names]
        return any(kind is None or "float16" in kind for kind in kinds)  # float16 and bfloat16

    def unused_with_producers(self, graph: Graph, number: int) -> list[int]:
        """Return an unused node, and every node whose outputs only these nodes read, directly or through others."""
        if not self._is_possible:
            return [number]
        mentions, other_reads = self._mentions_in(graph), dict[int, int]()
        found = [number]
        for reader in found:  # the list grows meanwhile
            for name in graph.node_inputs[reader]:
                producer = graph.positions.get(name, -1)
                if producer >= 0:
                    other_reads[producer] = other_reads.get(producer, mentions.count(producer)) - 1
                    if not other_reads[producer] and mentions.outputs.isdisjoint(graph.node_outputs[producer]):
                        found.append(producer)
        return sorted(found)

    def _mentions_in(self, graph: Graph) -> _Mentions:
        if graph not in self._mentions:
            self._mentions[graph] = _Mentions(graph)
        return self._mentions[graph]
