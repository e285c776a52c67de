# SPDX-License-Identifier: Apache-2.0
"""Which TypeProtos of a model are equal: one pass over all of them, after which a question is asked once a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from onnx_lint.model.attribute_index import AttributeIndex
from onnx_lint.model.graph import Graph, Proto
from onnx_lint.model.views import Attribute, Type, ValueInfo
from onnx_lint.record import Record

Derived = TypeVar("Derived")

_ELEMENT_FIELDS = (
    ("sequence_type", "elem_type"),
    ("optional_type", "elem_type"),
    ("map_type", "value_type"),
)


def with_elements(holder: Type) -> Iterator[Type]:
    """The type, then its element (or map value) type, and so on inwards."""
    yield holder
    for kind, field in _ELEMENT_FIELDS:
        if holder.proto.HasField(kind) and getattr(holder.proto, kind).HasField(field):
            element = getattr(getattr(holder.proto, kind), field)
            place = holder.place.at(kind).at(field)
            yield from with_elements(Type(element, place, holder.owner, holder))


def describe_case(found: Type) -> str:
    """The type by its case, for messages: `the map type of input 'x'`, or `a map type in the type of input 'x'`."""
    case = str(found.kind).replace("_", " ")
    if found.parent is None:
        return f"the {case} of {found.owner.describe()}"
    return f"{'an' if case[0] == 'o' else 'a'} {case} in the type of {found.owner.describe()}"


def attribute_types(attribute: Attribute) -> Iterator[Type]:
    """The TypeProtos in the value of an attribute, without their elements."""
    if attribute.proto.HasField("tp"):
        yield Type(attribute.proto.tp, attribute.place.at("tp"), attribute, parent=None)
    for index, proto in enumerate(attribute.proto.type_protos):
        yield Type(proto, attribute.place.at("type_protos", index), attribute, parent=None)


class _Row(Record):
    """The value infos in one field of a graph."""

    graph: Graph
    role: str
    numbers: list[int]
    """For each value info the number of its type."""


class TypeIndex:
    """The distinct types of the value infos of `graphs`, and those in attributes; inner ones have no number."""

    def __init__(self, graphs: Iterable[Graph], attributes: AttributeIndex) -> None:
        self._distinct: list[Proto] = []
        self._rows: list[_Row] = []
        known: dict[bytes, int] = {}
        for graph in graphs:
            for role, values in graph.value_infos.items():
                if values.types:
                    for key in dict.fromkeys(values.types):
                        if key not in known:
                            known[key] = len(self._distinct)
                            self._distinct.append(getattr(graph.proto, role)[values.types.index(key)].type)
                    self._rows.append(_Row(graph, role, [known[key] for key in values.types]))
        self._numbers = {(row.graph, row.role): row.numbers for row in self._rows}
        found = attributes.where(lambda signature: "tp" in signature.fields or "type_protos" in signature.fields)
        self._in_attributes = [holder for attribute in found for holder in attribute_types(attribute)]

    def each(self, graph: Graph, role: str, derive: Callable[[Proto], Derived]) -> list[Derived]:
        """What `derive` makes of the TypeProto of each value info of a graph; asked once for each distinct one."""
        numbers = self._numbers.get((graph, role), [])
        derived = {number: derive(self._distinct[number]) for number in set(numbers)}
        return [derived[number] for number in numbers]

    def where(self, is_wanted: Callable[[Proto], bool]) -> Iterator[Type]:
        """The types of whose TypeProto that is true, element types included, in the order of Model.types().

        `is_wanted` is asked once for each distinct TypeProto of the value infos. An absent type is none.
        """
        wanted = {number for number, proto in enumerate(self._distinct) if _any_element(proto, is_wanted)}
        if wanted:
            for row in self._rows:
                if not wanted.isdisjoint(row.numbers):
                    yield from _wanted_elements(_located(row, wanted), is_wanted)
        yield from _wanted_elements(self._in_attributes, is_wanted)


def _any_element(proto: Proto, is_wanted: Callable[[Proto], bool]) -> bool:
    if is_wanted(proto):
        return True
    return any(
        getattr(proto, kind).HasField(field) and _any_element(getattr(getattr(proto, kind), field), is_wanted)
        for kind, field in _ELEMENT_FIELDS
        if proto.HasField(kind)
    )


def _located(row: _Row, wanted: set[int]) -> Iterator[Type]:
    protos = getattr(row.graph.proto, row.role)
    for index, number in enumerate(row.numbers):
        if number in wanted and protos[index].HasField("type"):
            place = row.graph.place.at(row.role, index)
            owner = ValueInfo(protos[index], place, row.graph, row.role)
            yield Type(owner.proto.type, place.at("type"), owner, parent=None)


def _wanted_elements(holders: Iterable[Type], is_wanted: Callable[[Proto], bool]) -> Iterator[Type]:
    for holder in holders:
        yield from (element for element in with_elements(holder) if is_wanted(element.proto))
