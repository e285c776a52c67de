# SPDX-License-Identifier: Apache-2.0
"""Attributes, and nodes with them, of which the loader left long lists or values of tensors in the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.common.record import EMPTY, replace
from onnx_lint.input.source import Source
from onnx_lint.ir.columns.attribute_kinds import AttributeKind, attribute_kind
from onnx_lint.ir.columns.nodes import NodeForm, NodeTable
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.long_lists import LongList
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.ir.tensors.wire_values import entry_pieces
from onnx_lint.schema import Proto, wire


class AttributeInFile:
    """An AttributeProto with lists, or the values of its tensor, that the loader left in the file."""

    __slots__ = ("_lists", "_proto", "source", "tensor_payloads")

    def __init__(
        self, proto: Proto, lists: Mapping[str, LongList], source: Source, tensor_payloads: tuple[Payload, ...]
    ) -> None:
        self._proto = proto
        self._lists = lists
        self.source = source
        self.tensor_payloads = tensor_payloads
        """The places of the values of `t`."""

    def __getattr__(self, field: str) -> Any:
        return self._lists[field] if field in self._lists else getattr(self._proto, field)

    def ListFields(self) -> list[tuple[Any, Any]]:  # noqa: N802 - the name that Protocol Buffers gives it
        """Return the fields that are set, those in the file too."""
        by_name = self._proto.DESCRIPTOR.fields_by_name
        fields = [*self._proto.ListFields(), *((by_name[name], values) for name, values in self._lists.items())]
        return sorted(fields, key=lambda each: each[0].number)

    def SerializePartialToString(self) -> bytes:  # noqa: N802 - as above
        """Return bytes that only equal attributes have: the parsed fields, and where the other ones are in the file.

        They compare attributes, as the bytes of parsed ones do. They cannot be parsed.
        """
        parts = b"".join(each.identity for each in self._lists.values()) + repr(self.tensor_payloads).encode()
        return schema.serialized(self._proto) + parts

    @property
    def kind(self) -> AttributeKind:
        """The kind of the attribute."""
        kind = attribute_kind(self._proto)
        if not self._lists:
            return kind
        numbers = {name: field.number for name, field in wire.fields_by_name("AttributeProto").items()}
        return replace(
            kind,
            fields=tuple(sorted({*kind.fields, *self._lists}, key=numbers.__getitem__)),
            is_text=kind.is_text and all(each.is_text() for each in self._lists.values()),
            may_be_nan=kind.may_be_nan or "floats" in self._lists,
        )


def raw_data_of(attribute: Proto) -> bytes:
    """Return the bytes of `raw_data` of the tensor of an attribute, in the message or in the file."""
    payloads = getattr(attribute, "tensor_payloads", ())
    last = next((each for each in reversed(payloads) if each.field == "raw_data"), None)
    raw: bytes = attribute.t.raw_data
    return raw if raw or last is None else attribute.source.read_at(last.offset, last.length)


def entries_of(attribute: Proto, field: str | None) -> Iterator[Any]:
    """Yield the entries of a numeric field of a tensor in an attribute, in the message or in the file.

    Nothing for None.
    """
    if field is None:
        return
    yield getattr(attribute.t, field)
    for payload in getattr(attribute, "tensor_payloads", ()):
        if payload.field == field:
            yield from entry_pieces(attribute.source, payload)


class NodeInFile:
    """A NodeProto with the attributes of its form, which include the lists in the file."""

    __slots__ = ("_proto", "attribute")

    def __init__(self, proto: Proto, attributes: Sequence[Proto]) -> None:
        self._proto = proto
        self.attribute = attributes

    def __getattr__(self, field: str) -> Any:
        return getattr(self._proto, field)


_READING_TENSORS: Final = "ai.onnx.ml"
"""The only domain whose rules read tensors in attributes as they read lists."""

_TENSOR: Final = ("t", None)
"""The last part of the key of the tensor of an attribute."""


class LeftInFile:
    """The parts of attributes of nodes that the loader left in the file."""

    def __init__(
        self,
        source: Source,
        long_lists: Mapping[PlaceKey, tuple[Payload, ...]],
        payloads: Mapping[PlaceKey, tuple[Payload, ...]],
    ) -> None:
        self._source = source
        self._long_lists = long_lists
        self._payloads = payloads
        self._nodes: dict[PlaceKey, dict[int, set[int]]] = {}
        """For each place of a graph its nodes, by index, with the indices of the attributes that are not complete."""
        self._own_node: set[int] = set()
        """The indices of these attributes if the file is a node."""
        with_tensors = [key[:-1] for key in payloads if len(key) > 1 and key[-1] == _TENSOR]
        for key in (*long_lists, *with_tensors):
            holder, (field, attribute) = key[:-1], key[-1]
            if field != "attribute" or attribute is None:
                continue  # the default of a parameter
            if not holder:
                self._own_node.add(attribute)
                continue
            graph, (_, node) = holder[:-1], holder[-1]
            if node is not None:
                self._nodes.setdefault(graph, {}).setdefault(node, set()).add(attribute)
        self._top = {key[0] for key in self._nodes if key}

    def omits_from_function(self, function: int) -> bool:
        """Return whether anything is left out of the function with this index."""
        return ("functions", function) in self._top

    def complete_forms(self, graph: Graph, table: NodeTable) -> None:
        """Give nodes with incomplete attributes forms of their own, which include the parts in the file."""
        nodes = {0: self._own_node} if graph.is_file and self._own_node else self._nodes.get(graph.place.key, EMPTY)
        for index, omitted in nodes.items():
            if index >= len(table.forms):
                continue
            form = table.forms[index]
            place = graph.at("node", index).key
            keys = {each: (*place, ("attribute", each)) for each in omitted}
            if form.domain != _READING_TENSORS and not any(key in self._long_lists for key in keys.values()):
                continue
            attributes = [
                each if number not in keys else self._attribute(each, keys[number])
                for number, each in enumerate(form.attributes)
            ]
            own = NodeForm(
                form.op_type, form.domain, form.inputs, form.outputs, overload=form.overload, attributes=attributes
            )
            own.attribute_kinds = tuple(
                each.kind if isinstance(each, AttributeInFile) else attribute_kind(each) for each in attributes
            )
            own.known_faults = {}
            table.forms[index] = own

    def complete_message(self, key: PlaceKey, kind: str, proto: Proto) -> Proto:
        """Return the message at a place; a node with lists in the file has these as well."""
        if kind != "NodeProto":
            return proto
        index = key[-1][1] if key else None
        omitted: Collection[int] = self._own_node
        if index is not None:
            omitted = self._nodes.get(key[:-1], {}).get(index, ())
        if not any((*key, ("attribute", each)) in self._long_lists for each in omitted):
            return proto
        attributes = [
            each if number not in omitted else self._attribute(each, (*key, ("attribute", number)))
            for number, each in enumerate(proto.attribute)
        ]
        return NodeInFile(proto, attributes)

    def _attribute(self, proto: Proto, key: PlaceKey) -> AttributeInFile:
        parts: dict[str, list[Payload]] = {}
        for part in self._long_lists.get(key, ()):
            parts.setdefault(part.field, []).append(part)
        lists = {field: LongList(self._source, tuple(found)) for field, found in parts.items()}
        return AttributeInFile(proto, lists, self._source, self._payloads.get((*key, ("t", None)), ()))
