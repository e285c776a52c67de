# SPDX-License-Identifier: Apache-2.0
"""An index of the kinds of attributes in a model, so that a question is answered once for each kind.

A graph of a hundred thousand nodes has a handful of kinds, and most questions depend only on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from onnx_lint.common.record import Record
from onnx_lint.ir.columns.attribute_kinds import AttributeKind, attribute_kind
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Attribute

Asked = Callable[[AttributeKind], bool]
"""A question about a kind of attribute."""


class _GraphAttributes(Record):
    """The attributes of the nodes of one graph, and those outside of nodes."""

    graph: Graph
    others: list[AttributeKind]


class AttributeIndex:
    """The kinds of attributes in the graphs that were added, and the attributes of each kind."""

    def __init__(self) -> None:
        self._kinds: set[AttributeKind] = set()
        self._holding_graphs: set[AttributeKind] = set()
        self._forms: set[NodeForm] = set()
        self._holders: set[NodeForm] = set()
        """Those of the forms that have an attribute which holds graphs."""
        self._rows: list[_GraphAttributes] = []

    def add(self, graph: Graph) -> list[Attribute]:
        """Take in the attributes of the graph's nodes, and those in no node; not those of nested graphs.

        Returns the attributes that hold graphs.
        """
        row = _GraphAttributes(graph, list(map(attribute_kind, graph.attribute_protos)))
        self._rows.append(row)
        # Functions repeat a few forms; only the first node of a form is examined.
        new = graph.form_counts.keys() - self._forms
        if new or row.others:
            self._forms |= new
            kinds = set(row.others).union(*map(kinds_of, new))
            self._kinds |= kinds
            holding = set(filter(_holds_graphs, kinds))
            if holding:
                self._holding_graphs |= holding
                self._holders |= _with_any(new, holding)
        if self._holders.isdisjoint(graph.form_counts) and not row.others:
            return []
        return list(_located(row, self._holding_graphs, self._holders))

    def where(self, is_wanted: Asked) -> Iterator[Attribute]:
        """Yield the attributes for whose kind `is_wanted` returns true, in the order of the graphs.

        It is called once for each distinct kind.
        """
        wanted = set(filter(is_wanted, self._kinds))
        if wanted:
            forms = _with_any(self._forms, wanted)
            for row in self._rows:
                yield from _located(row, wanted, forms)

    @property
    def kinds(self) -> Iterable[AttributeKind]:
        """The distinct kinds."""
        return self._kinds

    def count(self, is_wanted: Asked) -> int:
        """Return the number of attributes for whose kind `is_wanted` returns true."""
        wanted = set(filter(is_wanted, self._kinds))
        forms = {form: sum(map(wanted.__contains__, kinds_of(form))) for form in self._forms}
        counts = (row.graph.form_counts.items() for row in self._rows)
        of_nodes = sum(count * forms[form] for items in counts for form, count in items if form in forms)
        return of_nodes + sum(kind in wanted for row in self._rows for kind in row.others)


def kinds_of(form: NodeForm) -> tuple[AttributeKind, ...]:
    """Return the kinds of the attributes of a form, which keeps them."""
    if form.attribute_kinds is None:
        earlier = form.differs_from
        form.attribute_kinds = tuple(map(attribute_kind, form.attributes)) if earlier is None else kinds_of(earlier)
    return form.attribute_kinds


def _holds_graphs(kind: AttributeKind) -> bool:
    # By the fields, not the type: a graph under a wrong type is a graph as well.
    return "g" in kind.fields or "graphs" in kind.fields


def _with_any(forms: Iterable[NodeForm], wanted: set[AttributeKind]) -> set[NodeForm]:
    return {form for form in forms if not wanted.isdisjoint(kinds_of(form))}


def _located(row: _GraphAttributes, wanted: set[AttributeKind], forms: set[NodeForm]) -> Iterator[Attribute]:
    graph = row.graph
    if not forms.isdisjoint(graph.form_counts):
        for number, form in enumerate(graph.forms):
            if form in forms:
                node = graph.nodes[number]
                place = node.place
                for index, kind in enumerate(kinds_of(form)):
                    if kind in wanted:
                        yield Attribute(form.attributes[index], place.at("attribute", index), graph, node)
    for index, kind in enumerate(row.others):
        if kind in wanted:
            yield Attribute(graph.attribute_protos[index], graph.at("attribute_proto", index), graph, None)
