# SPDX-License-Identifier: Apache-2.0
"""What graphs declare of their values, for rules about incomplete declarations and about training algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.inference.types.usual_types import traits_of
from onnx_lint.ir.graph import GraphKind
from onnx_lint.ir.parts import ValueInfo

if TYPE_CHECKING:
    from onnx_lint.ir.graph import Graph
    from onnx_lint.model.model import Model

ENDS: Final = ("input", "output")
"""The lists of what a graph takes and returns."""


def algorithms(model: Model) -> list[Graph]:
    """Return the training algorithms. The nodes of each see the values of the main graph."""
    return [graph for graph in model.training_graphs if graph.kind is GraphKind.ALGORITHM]


def empty_types(model: Model) -> Iterator[tuple[Graph, list[int]]]:
    """Yield each graph and function with the indices of its entries of value_info whose type is there, but empty."""
    for graph in model.graphs_with("value_info"):
        types = graph.value_infos["value_info"].types
        if b"" in types:
            without = (index for index, kind in enumerate(types) if not kind)
            found = [index for index in without if graph.message_at("value_info", index).HasField("type")]
            if found:
                yield graph, found


def bare_values(model: Model) -> Iterator[ValueInfo]:
    """Yield the inputs and outputs of the main graph and of algorithms that have no type or no shape."""
    for graph in (model.main_graph, *algorithms(model)):
        for role in ENDS:
            values = graph.value_infos[role]
            for index, kind in enumerate(values.types):
                if not traits_of(kind).has_rank:
                    yield ValueInfo(graph.message_at(role, index), graph.at(role, index), graph, role)
