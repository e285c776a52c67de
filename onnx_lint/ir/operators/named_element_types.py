# SPDX-License-Identifier: Apache-2.0
"""The element types that integer attributes of nodes name, such as `to` of Cast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from onnx_lint.common.record import Record
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema
from onnx_lint.spec.operators.attribute_values import holds_element_type
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.ir.operators.bound_nodes import BoundNodes


class NamedElementType(Record):
    """An attribute that names an element type."""

    number: int
    """The element type in TensorProto.DataType."""
    place: Place
    """The attribute of the node, or of the call of a function or its default that gives the value."""
    words: str

    def describe(self) -> str:
        """Return the attribute as messages name it."""
        return self.words


def named_element_types(
    operators: Operators, bound: Iterable[BoundNodes], numbers: Set[int]
) -> Iterator[NamedElementType]:
    """Yield the attributes that name one of these element types, graph by graph, then those given by calls."""
    wanted: dict[Graph, dict[NodeForm, list[int]]] = {}
    for alike in operators.verified_nodes:
        schema = alike.schema
        if not any(holds_element_type(schema, name) for name, _ in alike.attributes):
            continue
        for graph, forms in alike.forms.items():
            for form in forms:
                found = _naming(schema, form, numbers)
                if found:
                    wanted.setdefault(graph, {})[form] = found
    for graph, named in wanted.items():
        for node in graph.nodes_of(named.keys()):
            for index in named[node.form]:
                attribute = node.form.attributes[index]
                words = f"attribute {quote(attribute.name)} of {node.describe()}"
                yield NamedElementType(attribute.i, node.place.at("attribute", index), words)
    yield from _given_by_calls(bound, numbers)


def _naming(schema: OperatorSchema, form: NodeForm, numbers: Set[int]) -> list[int]:
    """Return which attributes of nodes of a form name one of the element types."""
    return [
        index
        for index, attribute in enumerate(form.attributes)
        if attribute.type == ATTRIBUTE_TYPE_CODES["INT"]
        and not attribute.ref_attr_name
        and attribute.i in numbers
        and holds_element_type(schema, attribute.name)
    ]


def _given_by_calls(bound: Iterable[BoundNodes], numbers: Set[int]) -> Iterator[NamedElementType]:
    reported: set[Place] = set()
    for nodes in bound:
        for index in _naming(nodes.schema, nodes.bound, numbers):
            attribute = nodes.bound.attributes[index]
            source = nodes.sources.get(attribute.name)
            if source is not None and source.place not in reported:
                reported.add(source.place)
                node = nodes.nodes[0]
                words = f"attribute {quote(attribute.name)} of {node.describe()}, {source.describe()}"
                yield NamedElementType(attribute.i, source.place, words)
