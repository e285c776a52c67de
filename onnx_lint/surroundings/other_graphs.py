# SPDX-License-Identifier: Apache-2.0
"""The nodes of other graphs in a picture: what makes a captured value, and what captures one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph, GraphKind
from onnx_lint.model import Model
from onnx_lint.model.model import has_inferred_shapes
from onnx_lint.report.pictures import PictureBox, PictureValue
from onnx_lint.surroundings.edges import CapturedNames, short
from onnx_lint.surroundings.of_findings import type_of
from onnx_lint.wording import quote


class OtherPart(Record):
    """A node of another graph, or a value of it that no node makes."""

    graph: Graph
    node: int | None
    value: str = ""
    """The value that leaves it in the picture, if any."""
    mark: str = ""

    def box(self, model: Model) -> PictureBox:
        """Return the box of the part, which says in which graph it is."""
        where = words_of(self.graph)
        values = self._leaving(model)
        if self.node is None:
            definition = self.graph.definition_of(self.value)
            title = "value" if definition is None else definition.field.replace("_", " ")
            return PictureBox("outer", title, values=values, mark=self.mark, graph=where)
        node = self.graph.nodes[self.node]
        title, name = short(node.op_type), short(node.name)
        return PictureBox("outer", title, name, self.node, values=values, mark=self.mark, graph=where)

    def _leaving(self, model: Model) -> tuple[PictureValue, ...]:
        if not self.value:
            return ()
        known = type_of(model.value_flow.fact_of(self.value, self.graph)) if has_inferred_shapes(model) else ""
        return (PictureValue(short(self.value), short(known), mark=self.mark),)


def words_of(graph: Graph) -> str:
    """Return where a graph is: the attribute and the node that have it, or the name of a function."""
    if graph.parent is None or graph.kind is not GraphKind.NESTED:
        return short("in the main graph" if graph.kind is GraphKind.MAIN else f"in {graph.describe()}")
    if graph.position >= len(graph.parent.nodes):  # the default graph of an attribute
        return short(f"in {graph.describe()}")
    node = graph.parent.nodes[graph.position]
    index = next((index for field, index in reversed(graph.place.key) if field == "attribute"), None)
    attributes = node.attribute_protos
    attribute = attributes[index].name if index is not None and index < len(attributes) else "the graph"
    return short(f"in {attribute} of {quote(node.name) if node.name else f'{node.op_type} {node.index}'}")


def readers_inside(graph: Graph, name: str, most: int, captured: CapturedNames) -> list[OtherPart]:
    """Return the first nodes in nested graphs that read a value of the graph."""
    return list(islice(_readers_inside(graph, name, captured), most))


def _readers_inside(graph: Graph, name: str, captured: CapturedNames) -> Iterator[OtherPart]:
    for nested in graph.nested:
        if name in captured.read_by(nested):
            readers = (index for index, names in enumerate(nested.node_inputs) if name in names)
            yield from (OtherPart(nested, index) for index in readers)
            yield from _readers_inside(nested, name, captured)
