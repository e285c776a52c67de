# SPDX-License-Identifier: Apache-2.0
"""The nodes of ONNX Runtime that search for words and run graphs for each word, such as BeamSearch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.control_flow import attribute_name
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN
from onnx_lint.spec.operators.records import GraphForm, OperatorRecord, record_of
from onnx_lint.spec.operators.runtime_releases import CHANGED
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.model.model import Model
    from onnx_lint.spec.operators import OperatorSchema


class SearchNode(Record):
    """A node that searches for words."""

    node: Node
    schema: OperatorSchema
    forms: Mapping[str, tuple[GraphForm, ...]]
    """The inputs and outputs that each graph must have, by its attribute; empty if `model_type` is unknown."""
    graphs: Mapping[str, Graph]
    """The graphs by the names of their attributes."""
    numbers: Mapping[str, int]
    """The integers in attributes, with defaults. One that a parameter of a function replaces is left out."""

    @property
    def anchor(self) -> str:
        """The section of the published documents that describes the operator."""
        return f"ContribOperators.md#{RUNTIME_DOMAIN}.{self.node.op_type}"

    @property
    def subject(self) -> str | None:
        """The name by which baselines recognize the node: its own, or that of its first output."""
        return self.node.name or (self.node.outputs[0] if self.node.outputs else None)


def later_graphs(model: Model, release: str) -> Iterator[tuple[SearchNode, str]]:
    """Yield the searches with graphs that only releases after a known one accept, and such a graph in words."""
    for search in searches(model):
        for what in _later_graphs(search, release):
            yield search, what


def _later_graphs(search: SearchNode, release: str) -> Iterator[str]:
    releases = CHANGED.header["releases"]
    if release not in releases:
        return
    for name, graph in search.graphs.items():
        inputs = graph.input_names
        form = next((each for each in search.forms.get(name, ()) if _has_inputs_of(each, inputs)), None)
        since = form.since.items() if form is not None else ()
        for new_input, first in since:  # the name is empty for the number of inputs
            if releases.index(release) < releases.index(first) and (not new_input or new_input in inputs):
                what = f"input {new_input!r}" if new_input else counted(len(inputs), "input")
                yield f"{name!r} with {what}"


def _has_inputs_of(form: GraphForm, inputs: Sequence[str]) -> bool:
    """Return whether a graph has as many inputs as a form names, or the form is for any number."""
    return form.input_counts["else"] != "named" or len(form.inputs) == len(inputs)


def searches(model: Model) -> Iterator[SearchNode]:
    """Yield the nodes of a model whose records require something of the graphs in their attributes."""
    graphs_of: dict[tuple[Graph, int], dict[str, Graph]] = {}
    for graph in model.nested_graphs:
        if graph.parent is not None and graph.position < len(graph.parent.forms):
            form = graph.parent.forms[graph.position]
            record = record_of(form.op_type) if form.domain == RUNTIME_DOMAIN else None
            if record is not None and record.graphs:
                node = graph.parent.nodes[graph.position]
                found = graphs_of.setdefault((graph.parent, graph.position), {})
                found[attribute_name(node.attribute_protos, graph)] = graph
    for (parent, position), graphs in graphs_of.items():
        node = parent.nodes[position]
        record, schema = record_of(node.op_type), model.operators.operator(node).schema
        if record is not None and schema is not None:
            numbers = _numbers(node, record)
            yield SearchNode(node, schema, record.graphs.get(str(numbers.get("model_type")), {}), graphs, numbers)


def _numbers(node: Node, record: OperatorRecord) -> Mapping[str, int]:
    """Return the integers in attributes, see `SearchNode.numbers`."""
    found: dict[str, int] = dict(record.defaults)
    for each in node.attribute_protos:
        if each.ref_attr_name:
            found.pop(each.name, None)
        elif each.HasField("i"):
            found[each.name] = each.i
    return found
