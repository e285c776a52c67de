# SPDX-License-Identifier: Apache-2.0
"""The uses of names in the graphs of a model: which values anything uses, and which nodes an output needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from operator import attrgetter
from typing import Final

from onnx_lint.ir.graph import Graph, GraphKind, Node, Nodes
from onnx_lint.schema import Proto

InputsOf = Callable[[Graph], Sequence[Sequence[str]]]
"""Returns the inputs of each node of a graph, or only the inputs that count as uses."""

_ALL_INPUTS: Final[InputsOf] = attrgetter("node_inputs")


class ValueUses:
    """The uses of the values of each graph, by its own nodes, by the graphs nested in it, and as its outputs."""

    def __init__(self, graphs: Sequence[Graph], training: Iterable[Proto], inputs_of: InputsOf = _ALL_INPUTS) -> None:
        """`graphs`: each before those nested in it. `training`: the training information with its bindings.

        `inputs_of`: the inputs by which an output needs other nodes.
        """
        self._used: dict[Graph, set[str]] = {}
        self._needed: dict[Graph, bytearray] = {}
        bound = {name for info in training for name in _names_in_bindings(info)}
        own: dict[Graph, set[str]] = {graph: set() for graph in graphs}
        needed: dict[Graph, dict[int, set[str]]] = {graph: {} for graph in graphs}
        for graph in reversed(graphs):
            used = own[graph].union(*graph.node_inputs, graph.output_names, annotated_names(graph))
            used.discard("")
            if graph.kind is GraphKind.MAIN:
                used |= bound
            self._used[graph] = used
            flags, beyond = _needed_nodes(graph, inputs_of(graph), needed[graph])
            self._needed[graph] = flags
            if graph.parent is not None and graph.parent in own:
                own[graph.parent] |= used - graph.positions.keys()
                # A training algorithm does not belong to a node: it uses values whatever the outputs need.
                place = graph.position if graph.kind is GraphKind.NESTED else _ALWAYS
                needed[graph.parent].setdefault(place, set()).update(beyond)

    def used_in(self, graph: Graph) -> Set[str]:
        """Return the names that something uses in the graph or in a graph nested in it."""
        return self._used[graph]

    def unneeded_nodes(self, graph: Graph) -> Nodes:
        """Return the nodes that no output of the graph needs. A node without outputs counts as needed."""
        return Nodes(graph, [index for index, is_needed in enumerate(self._needed[graph]) if not is_needed])

    def is_needed(self, node: Node) -> bool:
        """Return whether an output of the graph needs a node, and the nodes around it. One without outputs is not."""
        places = [(node.graph, node.index), *node.graph.scopes()]
        # The default of an attribute comes after the nodes of its function, any of which may refer to it.
        known = ((self._needed.get(graph, b""), index) for graph, index in places)
        flags = [needed[index] for needed, index in known if index < len(needed)]
        return any(node.outputs) and all(flags)


_ALWAYS = -1
"""The number for uses that do not depend on a node being needed."""


def _needed_nodes(
    graph: Graph, inputs: Sequence[Sequence[str]], nested: dict[int, set[str]]
) -> tuple[bytearray, set[str]]:
    """Return for each node whether an output needs it, and the names that the needed nodes use from outside.

    `inputs`: the inputs of each node that count as uses. `nested`: the names that the graphs in the attributes of a
    node use, by the index of the node.
    """
    outputs, positions = graph.node_outputs, graph.positions
    count = len(inputs)
    flags = bytearray(count)
    beyond: set[str] = set()
    pending: list[int] = []

    def use(names: Iterable[str]) -> None:
        for name in names:
            position = positions.get(name)
            if position is None:
                beyond.add(name)
            elif position >= 0 and not flags[position]:
                flags[position] = True
                pending.append(position)

    for index, names in enumerate(outputs):
        if not any(names):
            flags[index] = True
            pending.append(index)
    use(graph.output_names)
    use(nested.get(_ALWAYS, ()))
    use(nested.get(count, ()))  # the default of a function's attribute: a graph that any node may refer to
    while pending:
        index = pending.pop()
        use(inputs[index])
        use(nested.get(index, ()))
    beyond.discard("")
    return flags, beyond


def annotated_names(graph: Graph) -> Iterator[str]:
    """Yield the names in the quantization annotations of a graph."""
    for annotation in () if graph.is_function or graph.is_file else graph.proto.quantization_annotation:
        yield annotation.tensor_name
        yield from (entry.value for entry in annotation.quant_parameter_tensor_names)


def _names_in_bindings(info: Proto) -> Iterator[str]:
    for entry in (*info.initialization_binding, *info.update_binding):
        yield entry.key
        yield entry.value
