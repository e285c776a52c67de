# SPDX-License-Identifier: Apache-2.0
"""The types that a graph states: of its inputs, of its initializers, and of its other values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from onnx_lint.model.graph import Graph
from onnx_lint.model.types.distinct_types import TypeIndex
from onnx_lint.model.types.type_string import ValueType, from_proto, tensor_of


def declared_inputs(graph: Graph, supplied: tuple[ValueType | None, ...] | None) -> dict[str, ValueType | None]:
    """The types of the inputs; those of a subgraph are what the operator supplies, or else what is declared.

    Where the two contradict each other nothing is known.
    """
    types: dict[str, ValueType | None] = {}
    for index, value in enumerate(graph.proto.input):
        kind = from_proto(value.type)
        given = supplied[index] if supplied is not None and index < len(supplied) else None
        types[value.name] = (given or kind) if kind is None or given in (None, kind) else None
    types.pop("", None)
    return types


def initializer_types(graph: Graph) -> Iterator[tuple[str, ValueType | None]]:
    """The types of the initializers. A sparse one is another way to write a tensor, and operators meet it as one."""
    held = graph.initializers
    if not held.names and not graph.sparse_initializer_names:
        return iter(())
    names = [*held.names, *graph.sparse_initializer_names]
    codes = [*held.element_types, *[sparse.values.data_type for sparse in graph.proto.sparse_initializer]]
    kinds = {code: tensor_of(code) for code in set(codes)}
    pairs = zip(names, map(kinds.__getitem__, codes), strict=True)
    return (pair for pair in pairs if pair[0]) if "" in names else pairs


def declared_values(types: TypeIndex, graph: Graph) -> Mapping[str, ValueType]:
    """The types that outputs and value_info declare, but for names of which they say two different things."""
    names = [*graph.value_info_names, *graph.output_names]
    kinds = [kind for role in ("value_info", "output") for kind in types.each(graph, role, from_proto)]
    found = dict(zip(names, kinds, strict=True))
    if len(found) < len(names) or None in found.values() or "" in found:
        return _unambiguous(zip(names, kinds, strict=True))
    return cast("Mapping[str, ValueType]", found)


def _unambiguous(declarations: Iterable[tuple[str, ValueType | None]]) -> dict[str, ValueType]:
    types: dict[str, ValueType] = {}
    ambiguous = {""}
    for name, kind in declarations:
        if kind is not None and types.setdefault(name, kind) != kind:
            ambiguous.add(name)
    return {name: kind for name, kind in types.items() if name not in ambiguous}
