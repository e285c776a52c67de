# SPDX-License-Identifier: Apache-2.0
"""Long lists of numbers and strings in attributes, which the loader leaves in the file like payloads of tensors.

A tree ensemble has ten lists of millions. An attribute with such a list is an `AttributeInFile`: its `ints`, `floats`
or `strings` are a `LongList` instead of the parsed field, which is read in bounded pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from onnx_lint import schema
from onnx_lint.common.record import EMPTY, replace
from onnx_lint.input.source import Source
from onnx_lint.ir.columns.attribute_kinds import AttributeKind, attribute_kind, utf8_fault
from onnx_lint.ir.columns.nodes import NodeForm, NodeTable
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.ir.tensors.strings import whole_records
from onnx_lint.ir.tensors.wire_values import count_entries, entry_pieces
from onnx_lint.schema import Proto, wire
from onnx_lint.schema.wire import WireError
from onnx_lint.wording import MAX_LISTED_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRINGS: Final = "strings"
_STRINGS_TAG: Final = wire.fields_by_name("AttributeProto")[_STRINGS].number << 3 | wire.WireType.LEN

_STRING_PIECE_BYTES: Final = 1 << 18
"""The bytes of strings that are parsed at a time; they take about ten times as many in memory."""

_LEAST_NUMBER: Final = -(1 << 31)
_GREATEST_NUMBER: Final = (1 << 31) - 1

_Part = TypeVar("_Part")


class LongList(Sequence[Any]):
    """A list of an attribute in the file. Its numbers or strings are those that the parser would return."""

    __slots__ = ("_cuts", "_last", "_length", "_parts", "_source", "field")

    def __init__(self, source: Source, parts: tuple[Payload, ...]) -> None:
        self.field = parts[0].field
        """`ints`, `floats` or `strings`."""
        self._source = source
        self._parts = parts
        self._length: int | None = None
        self._cuts: list[tuple[int, int]] | None = None
        """The positions and sizes of the pieces of strings. Kept, because about six rules read a list."""
        self._last: tuple[int, Sequence[Any]] = 0, ()
        """The piece with the element that was read last, and the index of its first element."""

    def __len__(self) -> int:
        if self._length is None:
            if self.field == _STRINGS:
                self._length = sum(map(len, self.pieces()))
            else:
                self._length = sum(count_entries(self._source, part) for part in self._parts)
        return self._length

    def __iter__(self) -> Iterator[Any]:
        for piece in self.pieces():
            yield from piece if self.field == _STRINGS else piece.tolist()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        wanted = index if index >= 0 else len(self) + index
        if wanted < 0:
            raise IndexError(index)
        start, piece = self._last
        if not start <= wanted < start + len(piece):
            start = 0
            for piece in self.pieces():
                if wanted < start + len(piece):
                    break
                start += len(piece)
            else:
                raise IndexError(index)
            self._last = start, piece
        value = piece[wanted - start]
        return value if self.field == _STRINGS else value.item()

    def pieces(self) -> Iterator[Any]:
        """Yield the list in pieces: arrays of numbers, lists of bytes."""
        if self.field == _STRINGS:
            yield from map(_strings_of, self._records())
            return
        for part in self._parts:
            yield from entry_pieces(self._source, part)

    def numbers(self) -> NDArray[Any]:
        """Return all numbers in one array; integers have 32 bits if all of them fit."""
        import numpy as np

        found = np.empty(len(self), np.float32 if self.field == "floats" else np.int32)
        start = 0
        for piece in self.pieces():
            is_wide = piece.dtype.kind == "i" and piece.size and found.dtype != np.int64
            if is_wide and not _LEAST_NUMBER <= piece.min() <= piece.max() <= _GREATEST_NUMBER:
                found = found.astype(np.int64)
            found[start : start + piece.size] = piece
            start += piece.size
        return found[:start]

    def is_text(self) -> bool:
        """Return whether all strings are UTF-8; true of numbers."""
        if self.field != _STRINGS:
            return True
        return all(
            records.isascii() or all(utf8_fault(each) is None for each in _strings_of(records))
            for records in self._records()
        )

    def _records(self) -> Iterator[bytes]:
        """Yield whole records of strings, in bounded pieces; a longer record is a separate piece."""
        if self._cuts is None:
            cuts = []
            for part in self._parts:
                for start, records in _record_pieces(self._source, part):
                    cuts.append((start, len(records)))
                    yield records
            self._cuts = cuts
            return
        for start, size in self._cuts:
            records = self._source.read_at(start, size)
            if len(records) < size:
                return  # the file has become shorter
            yield records

    @property
    def identity(self) -> bytes:
        """Bytes that no other list of the file has."""
        return repr(self._parts).encode()


def _strings_of(records: bytes) -> Sequence[bytes]:
    strings: Sequence[bytes] = schema.opened("AttributeProto", records).strings
    return strings


def _record_pieces(source: Source, part: Payload) -> Iterator[tuple[int, bytes]]:
    """Yield the position and the bytes of pieces of whole records of strings; a longer record is a separate piece."""
    position, end = part.offset, part.offset + part.length
    while position < end:
        window = source.read_at(position, min(_STRING_PIECE_BYTES, end - position))
        taken = whole_records(window, 0, _STRINGS_TAG)[1]
        if not taken:
            following = _end_of_record(source, position, end)
            window = source.read_at(position, following - position)
            taken = following - position
        if not taken or len(window) < taken:
            return  # the file has become shorter
        yield position, window[:taken]
        position = wire.advanced(position, position + taken)


def _end_of_record(source: Source, position: int, end: int) -> int:
    try:
        return next((following for *_, following in wire.records(source, position, end)), position)
    except WireError:
        return position  # the file has become shorter


def numbers_of(values: Any) -> NDArray[Any]:
    """Return the integers of `ints` of an attribute, parsed or in the file."""
    import numpy as np

    return values.numbers() if isinstance(values, LongList) else np.fromiter(values, np.int64, len(values))


def pieces_of(values: Sequence[_Part]) -> Iterable[Sequence[_Part]]:
    """Return the elements of a list of an attribute in bounded pieces; a parsed list is one piece."""
    if not isinstance(values, LongList):
        return (values,)
    return values.pieces() if values.field == _STRINGS else (piece.tolist() for piece in values.pieces())


def repeated_in(values: Sequence[int]) -> list[int]:
    """Return the indices of the first integers of a list that repeat an earlier one."""
    import numpy as np

    numbers = numbers_of(values)
    order = np.argsort(numbers, kind="stable")
    again = order[1:][numbers[order[1:]] == numbers[order[:-1]]]
    return [int(index) for index in np.sort(again)[:MAX_LISTED_ELEMENTS]]


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
        """Return bytes that no other attribute of the file has, and that cannot be parsed.

        Callers that compare attributes by their bytes need not know that this one is in the file.
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
        """The same of the node that is the file."""
        for key in (*long_lists, *(key[:-1] for key in payloads if len(key) > 1 and key[-1] == ("t", None))):
            node, (field, attribute) = key[:-1], key[-1]
            if field != "attribute" or attribute is None:
                continue  # the default of a parameter
            if not node:
                self._own_node.add(attribute)
            elif node[-1][1] is not None:
                self._nodes.setdefault(node[:-1], {}).setdefault(node[-1][1], set()).add(attribute)
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
