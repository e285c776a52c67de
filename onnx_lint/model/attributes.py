# SPDX-License-Identifier: Apache-2.0
"""Which attributes of a model hold what: a question is asked once for each distinct signature.

A graph of a hundred thousand nodes has a handful of signatures, and most questions are answered by them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from onnx_lint.model.columns.attribute_kinds import AttributeSignature, signature_of
from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.graph import Graph
from onnx_lint.model.parts import Attribute
from onnx_lint.record import Record

Asked = Callable[[AttributeSignature], bool]
"""A question about a signature."""


class _Row(Record):
    """The attributes of the nodes of one graph, and the defaults of a function's attribute parameters."""

    graph: Graph
    defaults: list[AttributeSignature]


class AttributeIndex:
    """The signatures of the attributes of the graphs that were added, and which attributes have them."""

    def __init__(self) -> None:
        self._signatures: set[AttributeSignature] = set()
        self._holding_graphs: set[AttributeSignature] = set()
        self._forms: set[NodeForm] = set()
        self._rows: list[_Row] = []

    def add(self, graph: Graph) -> list[Attribute]:
        """Take in the attributes of the graph's nodes, and a function's defaults; not those of nested graphs.

        Returns the attributes that hold graphs.
        """
        row = _Row(graph, list(map(signature_of, graph.proto.attribute_proto)) if graph.is_function else [])
        self._rows.append(row)
        # Functions repeat a few forms, and of all of them only the first is looked at.
        new = graph.form_counts.keys() - self._forms
        if new or row.defaults:
            self._forms |= new
            self._signatures.update(row.defaults, *map(_signatures, new))
            self._holding_graphs = set(filter(_holds_graphs, self._signatures))
        if not self._holding_graphs:
            return []
        return list(_located(row, self._holding_graphs, _with_any(graph.form_counts, self._holding_graphs)))

    def where(self, is_wanted: Asked) -> Iterator[Attribute]:
        """The attributes of whose signature `is_wanted` is true, in the order of the graphs.

        It is asked once for each distinct signature.
        """
        wanted = set(filter(is_wanted, self._signatures))
        if wanted:
            forms = _with_any(self._forms, wanted)
            for row in self._rows:
                yield from _located(row, wanted, forms)

    @property
    def signatures(self) -> Iterable[AttributeSignature]:
        """The distinct signatures."""
        return self._signatures

    def count(self, is_wanted: Asked) -> int:
        """How many attributes have a signature of which `is_wanted` is true."""
        wanted = set(filter(is_wanted, self._signatures))
        if not wanted:
            return 0
        forms = {form: sum(map(wanted.__contains__, _signatures(form))) for form in self._forms}
        counts = (row.graph.form_counts.items() for row in self._rows)
        of_nodes = sum(count * forms[form] for items in counts for form, count in items if form in forms)
        return of_nodes + sum(signature in wanted for row in self._rows for signature in row.defaults)


def _signatures(form: NodeForm) -> tuple[AttributeSignature, ...]:
    if form.signatures is None:
        form.signatures = tuple(map(signature_of, form.attributes))
    return form.signatures


def _holds_graphs(signature: AttributeSignature) -> bool:
    # Asked of the fields, not of the type: a graph under a wrong type is still there.
    return "g" in signature.fields or "graphs" in signature.fields


def _with_any(forms: Iterable[NodeForm], wanted: set[AttributeSignature]) -> set[NodeForm]:
    return {form for form in forms if not wanted.isdisjoint(_signatures(form))}


def _located(row: _Row, wanted: set[AttributeSignature], forms: set[NodeForm]) -> Iterator[Attribute]:
    graph = row.graph
    if not forms.isdisjoint(graph.form_counts):
        for number, form in enumerate(graph.forms):
            if form in forms:
                node = graph.nodes[number]
                place = node.place
                for index, signature in enumerate(_signatures(form)):
                    if signature in wanted:
                        yield Attribute(form.attributes[index], place.at("attribute", index), graph, node)
    for index, signature in enumerate(row.defaults):
        if signature in wanted:
            place = graph.place.at("attribute_proto", index)
            yield Attribute(graph.proto.attribute_proto[index], place, graph, None)
