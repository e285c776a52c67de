# SPDX-License-Identifier: Apache-2.0
"""Fixes that delete nodes or initializers. Nodes that used their values then read equal ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.uses import annotated_names
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.sharding import sharding_specs
from onnx_lint.wording import quote

_OUTPUT: Final = "an output of the graph"


def _needed_by(user: str, name: str) -> str:
    return f"{user} needs the name {quote(name)}"


class _Read(Record):
    """An input that reads a value: of a node of the graph, or of a node in the subgraphs of that node."""

    node: int
    place: Place


class _Deletion(Record):
    """The nodes, or the initializer, that a fix deletes from a graph."""

    places: Sequence[Place]
    names: frozenset[str]
    """The names of the values that they define."""
    nodes: frozenset[int] = frozenset()
    """The indices of the nodes."""


class _Substitution(Record):
    """The replacement of a value by an equal one: the name that disappears, and the edits.

    If `y` of `y = Identity(a)` is deleted, its readers read `a`, and the name `y` disappears. An output of the graph
    keeps its name: if `y` is one, the node that produces `a` produces `y`, and the name `a` disappears.
    """

    removed: str
    edits: list[Edit]


class _Mentions:
    """Where a graph, and the graphs nested in it, mention the values that the graph defines or sees."""

    def __init__(self, graph: Graph) -> None:
        self.outputs = set(graph.output_names)
        self.reads: dict[str, list[_Read]] = {}
        self.declarations: dict[str, list[Place]] = {}
        self.name_users: dict[str, str] = dict.fromkeys(annotated_names(graph), "an annotation")
        """The names that no fix may remove, each with what needs it: it mentions the name, or gives it another meaning.

        Inputs of nodes, outputs of the graph and entries of value_info are not among them.
        """
        for node, names in enumerate(graph.node_inputs):
            for index, name in enumerate(names):
                if name:
                    self.reads.setdefault(name, []).append(_Read(node, graph.at("node", node).at("input", index)))
        for index, name in enumerate(graph.value_info_names):
            self.declarations.setdefault(name, []).append(graph.at("value_info", index))
        for spec in sharding_specs(graph.nodes_with("device_configurations")):
            self.name_users[spec.proto.tensor_name] = "a sharding specification"
        for nested in graph.nested:
            self._add(nested, _Mentions(nested))
        self._graph = graph
        self._read_counts: dict[int, int] = {}

    def read_count(self, node: int) -> int:
        """Return the number of reads of the outputs of a node."""
        if node not in self._read_counts:
            self._read_counts[node] = sum(len(self.reads.get(name, ())) for name in self._graph.node_outputs[node])
        return self._read_counts[node]

    @cached_property
    def producers(self) -> dict[str, Place]:
        """The places of the outputs of nodes, by their names."""
        return {
            name: self._graph.at("node", node).at("output", index)
            for node, names in enumerate(self._graph.node_outputs)
            for index, name in enumerate(names)
        }

    def must_keep_outputs_of(self, node: int) -> bool:
        """Return whether something besides other nodes needs the name of an output of the node."""
        names = self._graph.node_outputs[node]
        return not (self.outputs.isdisjoint(names) and self.name_users.keys().isdisjoint(names))

    def objection(self, deletion: _Deletion, replacements: Mapping[str, str]) -> str | None:
        """Return the first reason why the nodes or the initializer cannot be deleted; None if they can."""
        removed = sorted(deletion.names.difference(replacements))
        for name in removed:
            if any(read.node not in deletion.nodes for read in self.reads.get(name, ())):
                return _needed_by("another node", name)
        for replaced, replacement in replacements.items():
            for name in (replaced, replacement):
                if name in self.name_users:
                    return _needed_by(self.name_users[name], name)
            if replaced in self.outputs and not self._may_rename(replacement, deletion.nodes):
                return _needed_by(_OUTPUT, replaced)
        for name in removed:
            if name in self.name_users or name in self.outputs:
                return _needed_by(self.name_users.get(name, _OUTPUT), name)
        return None

    def _may_rename(self, name: str, deleted: Set[int]) -> bool:
        """Return whether a node that is not deleted defines the value, and callers of the graph do not see its name."""
        producer = self._graph.producer_of(name)
        return producer is not None and producer not in deleted and name not in self.outputs

    def substitution(self, replaced: str, replacement: str, deleted: Set[int]) -> _Substitution:
        """Return the edits after which nodes that are not deleted use `replacement` in place of `replaced`.

        There must be no `objection`: a node then produces the replacement of an output of the graph.
        """
        if replaced not in self.outputs:
            return _Substitution(replaced, self._renamed_reads(replaced, replacement, deleted))
        renaming = Assign(self.producers[replacement], replaced)
        return _Substitution(replacement, [renaming, *self._renamed_reads(replacement, replaced, deleted)])

    def _renamed_reads(self, old: str, new: str, deleted: Set[int]) -> list[Edit]:
        """Return the edits by which nodes that are not deleted read the name `new` in place of `old`."""
        return [Assign(read.place, new) for read in self.reads.get(old, ()) if read.node not in deleted]

    def _add(self, nested: Graph, inner: _Mentions) -> None:
        own = nested.positions
        self.name_users.update(inner.name_users)
        self.name_users.update(dict.fromkeys(own, "a subgraph"))
        self.name_users.update((name, "a subgraph") for name in nested.output_names if name not in own)
        for name, reads in inner.reads.items():
            if name not in own:
                self.reads.setdefault(name, []).extend(_Read(nested.position, read.place) for read in reads)
        for name, places in inner.declarations.items():
            if name not in own:
                self.declarations.setdefault(name, []).extend(places)


class Removals:
    """Makes the fixes for the graphs of one model. Where a name may mean two values, it makes none.

    They are safe if no value is of a 16-bit floating-point type. On a CPU, ONNX Runtime computes with these in 32 bits,
    and which results it rounds to 16 bits depends on the nodes around them.
    """

    def __init__(
        self, graphs: Iterable[Graph], kind_of: Callable[[str, Graph], str | None], *, is_possible: bool
    ) -> None:
        """`graphs`: all graphs of a model. `kind_of`: returns the type of a value that a graph sees; None if unknown.

        `is_possible`: False if the model has training information, or names that are undefined or used too early.
        """
        self._kind_of = kind_of
        self._is_possible = is_possible and not any(graph.has_redefinitions for graph in graphs)
        self._mentions: dict[Graph, _Mentions] = {}

    def delete_nodes(
        self,
        message: str,
        graph: Graph,
        nodes: Sequence[int],
        replacements: Mapping[str, str] = EMPTY,
        *,
        is_safe: bool = True,
    ) -> Fix | str:
        """Return the fix that deletes nodes and the declarations of their outputs, or why there is none.

        `replacements`: for each value that is deleted and used, the name of an equal value that stays. An output of the
        graph keeps its name: the equal value takes it.
        """
        names = frozenset(name for node in nodes for name in graph.node_outputs[node] if name)
        deletion = _Deletion([graph.at("node", node) for node in nodes], names, frozenset(nodes))
        return self._fix(message, graph, deletion, replacements, is_safe=is_safe)

    def delete_initializer(
        self, message: str, graph: Graph, name: str, place: Place, replacements: Mapping[str, str] = EMPTY
    ) -> Fix | str:
        """Return the fix that deletes an initializer and its declarations, or why there is none.

        `replacements`: see `delete_nodes`.
        """
        return self._fix(message, graph, _Deletion([place], frozenset({name})), replacements, is_safe=True)

    def _fix(
        self, message: str, graph: Graph, deletion: _Deletion, replacements: Mapping[str, str], *, is_safe: bool
    ) -> Fix | str:
        if graph.is_file:
            return "the file has only a part of a model, and the rest may need the name"
        if not self._is_possible:
            return "the model has training information, or names that are undefined, out of order or defined twice"
        mentions = self._mentions_in(graph)
        objection = mentions.objection(deletion, replacements)
        if objection is not None:
            return objection
        substitutions = [mentions.substitution(*names, deletion.nodes) for names in replacements.items()]
        removed = deletion.names.difference(replacements).union(each.removed for each in substitutions)
        edits: list[Edit] = [Delete(place) for place in deletion.places]
        for each in substitutions:
            edits += each.edits
        for name in sorted(removed):
            edits += map(Delete, mentions.declarations.get(name, ()))
        read = (graph.node_inputs[node] for node in deletion.nodes)
        touched = deletion.names.union(*read, replacements.values()) - {""}
        is_safe = is_safe and not self._has_small_floats(touched, graph)
        return Fix(message, tuple(edits), is_safe, removes=removed)

    def _has_small_floats(self, names: Iterable[str], graph: Graph) -> bool:
        """Return whether one of the values may be of a 16-bit floating-point type."""
        kinds = [self._kind_of(name, graph) for name in names]
        return any(kind is None or "float16" in kind for kind in kinds)  # float16 and bfloat16

    def unused_with_producers(self, graph: Graph, unused: int) -> list[int]:
        """Return an unused node, and every node whose outputs only these nodes need, directly or through others."""
        if not self._is_possible:
            return [unused]
        mentions = self._mentions_in(graph)
        other_reads: dict[int, int] = {}
        found, pending = [unused], [unused]
        while pending:
            for name in graph.node_inputs[pending.pop()]:
                producer = graph.producer_of(name)
                if producer is None:
                    continue
                other_reads[producer] = other_reads.get(producer, mentions.read_count(producer)) - 1
                if not other_reads[producer] and not mentions.must_keep_outputs_of(producer):
                    found.append(producer)
                    pending.append(producer)
        return sorted(found)

    def _mentions_in(self, graph: Graph) -> _Mentions:
        if graph not in self._mentions:
            self._mentions[graph] = _Mentions(graph)
        return self._mentions[graph]
