# SPDX-License-Identifier: Apache-2.0
"""The entries of a graph that declare the types and shapes of outputs and other values."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph


class DeclarationEntry(Record):
    """The declaration of an output or other value in a list of its graph."""

    graph: Graph
    field: str
    """The list with the declaration: `output` or `value_info`."""
    index: int

    @property
    def subject(self) -> str:
        """The name of the value."""
        return (self.graph.output_names if self.field == "output" else self.graph.value_info_names)[self.index]

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the declaration: each has at most one conflict."""
        return id(self.graph), self.field, self.index


def declarations_of(graph: Graph) -> Iterator[DeclarationEntry]:
    """Yield the declaration of each output, then those in value_info. The outputs of a function have no types."""
    if not graph.is_function:
        for index in range(len(graph.output_names)):
            yield DeclarationEntry(graph, "output", index)
    for index in range(len(graph.value_info_names)):
        yield DeclarationEntry(graph, "value_info", index)


def declaration_of(graph: Graph, name: str) -> DeclarationEntry | None:
    """Return the first declaration of a value as an output or in value_info; None if there is none."""
    for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
        if name in names and not (field == "output" and graph.is_function):
            return DeclarationEntry(graph, field, names.index(name))
    return None
