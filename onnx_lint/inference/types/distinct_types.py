# SPDX-License-Identifier: Apache-2.0
"""An index of the distinct TypeProtos of a model, so that each is checked once, and most of them by one look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.inference.types.usual_types import traits_of
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.columns.attribute_kinds import AttributeKind
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Attribute, Type, ValueInfo
from onnx_lint.schema import Proto

_ELEMENT_FIELDS = (
    ("sequence_type", "elem_type"),
    ("optional_type", "elem_type"),
    ("map_type", "value_type"),
)


def with_elements(holder: Type) -> Iterator[Type]:
    """Yield the type, then its element (or map value) type, and so on inwards."""
    yield holder
    for kind, field in _ELEMENT_FIELDS:
        if holder.proto.HasField(kind) and getattr(holder.proto, kind).HasField(field):
            element = getattr(getattr(holder.proto, kind), field)
            place = holder.place.at(kind).at(field)
            yield from with_elements(Type(element, place, holder.owner, holder))


def describe_case(found: Type) -> str:
    """Return the type with its case, for messages:

    `the map type of input 'x'`, or `a map type in the type of input 'x'`.
    """
    case = str(found.kind).replace("_", " ")
    if found.parent is None:
        return f"the {case}{found.of_owner}"
    return f"{'an' if case[0] == 'o' else 'a'} {case} in the type{found.of_owner}"


def attribute_types(attribute: Attribute) -> Iterator[Type]:
    """Yield the TypeProtos in the value of an attribute, without their elements."""
    if attribute.proto.HasField("tp"):
        yield Type(attribute.proto.tp, attribute.place.at("tp"), attribute, parent=None)
    for index, proto in enumerate(attribute.proto.type_protos):
        yield Type(proto, attribute.place.at("type_protos", index), attribute, parent=None)


class TypeIndex:
    """The distinct types of the value infos of `graphs`, those in attributes, and that of a file that is one."""

    def __init__(self, graphs: Sequence[Graph], attributes: AttributeIndex, others: Sequence[Type]) -> None:
        self._of_value_infos = graphs
        self._attributes = attributes
        self._of_files = others

    @cached_property
    def has_unusual(self) -> bool:
        """True if a type is not usual, see onnx_lint.inference.types.usual_types: few rules check usual ones."""
        return self._are_elsewhere or not all(traits_of(kind).is_usual for kind in self._of_lists)

    @cached_property
    def has_odd_variables(self) -> bool:
        """True if a dimension variable may not be a C90 identifier."""
        return self._are_elsewhere or not all(traits_of(kind).has_plain_variables for kind in self._of_lists)

    @cached_property
    def _are_elsewhere(self) -> bool:
        return bool(self._of_files) or any(map(_holds_types, self._attributes.kinds))

    @cached_property
    def _of_lists(self) -> set[bytes]:
        """The distinct serialized TypeProtos of the value infos; empty for an absent one."""
        lists = [values.types for graph in self._of_value_infos for values in graph.value_infos.values()]
        return set[bytes]().union(*lists)

    @cached_property
    def _graphs(self) -> list[Graph]:
        return [graph for graph in self._of_value_infos if any(each.types for each in graph.value_infos.values())]

    @cached_property
    def _distinct(self) -> dict[bytes, list[Proto]]:
        """Each type with the types of its elements, by its serialized form."""
        found: dict[bytes, list[Proto]] = {}
        for graph in self._graphs:
            for values in graph.value_infos.values():
                for kind in set(values.types).difference(found):
                    found[kind] = list(_with_elements(schema.opened("TypeProto", kind)))
        return found

    @cached_property
    def _others(self) -> list[Type]:
        found = self._attributes.where(_holds_types)
        return [*(holder for attribute in found for holder in attribute_types(attribute)), *self._of_files]

    def where(self, is_wanted: Callable[[Proto], bool]) -> Iterator[Type]:
        """Yield the types for whose TypeProto `is_wanted` returns true, with element types, in the order of the graphs.

        `is_wanted` is called once for each distinct TypeProto of the value infos. An absent type is left out.
        """
        wanted = {kind for kind, parts in self._distinct.items() if any(map(is_wanted, parts))}
        if wanted:
            for graph in self._graphs:
                for role, values in graph.value_infos.items():
                    if not wanted.isdisjoint(values.types):
                        yield from _wanted_elements(_located(graph, role, wanted), is_wanted)
        yield from _wanted_elements(self._others, is_wanted)


def _holds_types(kind: AttributeKind) -> bool:
    return "tp" in kind.fields or "type_protos" in kind.fields


def _with_elements(proto: Proto) -> Iterator[Proto]:
    yield proto
    for kind, field in _ELEMENT_FIELDS:
        if proto.HasField(kind) and getattr(proto, kind).HasField(field):
            yield from _with_elements(getattr(getattr(proto, kind), field))


def _located(graph: Graph, role: str, wanted: set[bytes]) -> Iterator[Type]:
    for index, kind in enumerate(graph.value_infos[role].types):
        proto = graph.message_at(role, index) if kind in wanted else None
        if proto is not None and proto.HasField("type"):
            owner = ValueInfo(proto, graph.at(role, index), graph, role)
            yield Type(owner.proto.type, owner.place.at("type"), owner, parent=None)


def _wanted_elements(holders: Iterable[Type], is_wanted: Callable[[Proto], bool]) -> Iterator[Type]:
    for holder in holders:
        yield from (element for element in with_elements(holder) if is_wanted(element.proto))
