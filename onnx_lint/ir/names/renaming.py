# SPDX-License-Identifier: Apache-2.0
"""Names that nothing has yet, and edits that give values other names, everywhere in a graph and the graphs in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.sharding import sharding_specs


class FreshNames:
    """Makes names that differ from all names in use, and from each other."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}
        """The last number that was appended to each name."""

    def like(self, name: str) -> str:
        """Return the name, with a number appended if the name is in use. The result is in use from now on."""
        found = name
        while found in self._taken:
            self._counts[name] = self._counts.get(name, 0) + 1
            found = f"{name}_{self._counts[name]}"
        self._taken.add(found)
        return found


def value_names(graphs: Iterable[Graph]) -> Iterator[str]:
    """Yield all names that graphs define, use or declare; most come several times."""
    for graph in graphs:
        yield from graph.positions
        yield from graph.output_names
        yield from graph.value_info_names
        for names in graph.node_inputs:
            yield from names


def can_be_renamed(graph: Graph, names: Mapping[str, str]) -> bool:
    """Return true if each of the names means one value of the graph, wherever the graph uses it.

    It does not if it is defined twice, or used before its definition, where it may mean a value of an outer graph. The
    same holds in a nested graph that gives the name to another value.
    """
    if graph.has_redefinitions:
        return False
    position = graph.positions
    for index in graph.early_uses:
        if any(name in names and position[name] >= index for name in graph.node_inputs[index]):
            return False
    if any(position[name] >= nested.position for nested in graph.nested for name in _uses(nested, names)):
        return False
    return all(_are_told_apart(nested, names) for nested in graph.nested)


def _are_told_apart(graph: Graph, names: Mapping[str, str]) -> bool:
    """Return true if each of the names means one value in a nested graph: that of the outer graph or one of its own."""
    outer = _of_outside(graph, names)
    own = {name: new for name, new in names.items() if name not in outer}
    if own and not can_be_renamed(graph, own):
        return False
    return not outer or all(_are_told_apart(nested, outer) for nested in graph.nested)


def _uses(graph: Graph, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the names among these that a nested graph takes from outside."""
    inner = _of_outside(graph, names)
    if inner:
        for inputs in graph.node_inputs:
            yield from (name for name in inputs if name in inner)
        for nested in graph.nested:
            yield from _uses(nested, inner)


def _of_outside(graph: Graph, names: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names among these that a nested graph does not define itself."""
    if graph.positions.keys().isdisjoint(names):
        return names
    return {name: new for name, new in names.items() if name not in graph.positions}


def renaming(graph: Graph, names: Mapping[str, str]) -> Iterator[Assign]:
    """Yield the edits that give values of a graph other names, in the graph and in those nested in it."""
    for field, stated in (
        ("input", graph.input_names),
        ("output", graph.output_names),
        ("initializer", graph.initializer_names),
        ("value_info", graph.value_info_names),
    ):
        for index, name in enumerate(stated):
            if name in names:
                is_bare = graph.is_function and field != "value_info"
                place = graph.at(field, index)
                yield Assign(place if is_bare else place.at("name"), names[name])
    for index, name in enumerate(graph.sparse_initializer_names):
        if name in names:
            yield Assign(graph.at("sparse_initializer", index).at("values").at("name"), names[name])
    yield from _of_nodes(graph, names)
    yield from _of_annotations(graph, names)
    for nested in graph.nested:
        inner = _of_outside(nested, names)
        if inner:
            yield from renaming(nested, inner)


def _of_nodes(graph: Graph, names: Mapping[str, str]) -> Iterator[Assign]:
    for field, operands in (("input", graph.node_inputs), ("output", graph.node_outputs)):
        for number, stated in enumerate(operands):
            for index, name in enumerate(stated):
                if name in names:
                    yield Assign(graph.at("node", number).at(field, index), names[name])
    for spec in sharding_specs(graph.nodes_with("device_configurations")):
        if spec.proto.tensor_name in names:
            yield Assign(spec.place.at("tensor_name"), names[spec.proto.tensor_name])


def _of_annotations(graph: Graph, names: Mapping[str, str]) -> Iterator[Assign]:
    for index, annotation in enumerate(() if graph.is_function else graph.proto.quantization_annotation):
        place = graph.at("quantization_annotation", index)
        if annotation.tensor_name in names:
            yield Assign(place.at("tensor_name"), names[annotation.tensor_name])
        for number, entry in enumerate(annotation.quant_parameter_tensor_names):
            if entry.value in names:
                yield Assign(place.at("quant_parameter_tensor_names", number).at("value"), names[entry.value])
