# SPDX-License-Identifier: Apache-2.0
"""Copies a serialized model without large payloads of tensors and long lists of attributes, which stay in the file.

Only messages that may hold a large payload are opened: a message smaller than PAYLOAD_BYTES is copied unchanged, so a
graph of many small nodes costs one step for each node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.input.source import Source
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.loader.binary.packed import check_packed
from onnx_lint.loader.binary.runs import LONG_RUN, RUN, records_of
from onnx_lint.model import Payload
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.spec.element_types import INDEX_TYPES, VALUE_FIELDS

_VALUE_FIELDS = frozenset(VALUE_FIELDS)

PAYLOAD_BYTES = 4096
"""Values of fewer bytes are copied with their message."""

INTEGER_BYTES: Final = 12 << 10
"""The same for integers that may decide shapes: 1,024 of them in any encoding are known in a file of any size."""

LONG_LIST_BYTES = 1 << 18
"""A list of numbers or strings in an attribute of a node stays in the file from this size on."""

WHOLE_BYTES = 1 << 22
"""A file of at most this many bytes is parsed whole, its tensors copied."""

PIECE_BYTES = 1 << 18
"""A larger message is parsed in pieces of about this size, so that each piece can use the memory of the one before."""

_SPARE_BYTES: Final = 1 << 22
"""The size of a block that is allocated and freed, unused, before a message is parsed in pieces.

From then on the allocator of the GNU C library keeps some of the freed memory, and uses it for the next piece.
Otherwise it returns it after each piece, and all pages are new to the next one.
"""

_FIELDS_OF_PART = 1000
"""The number of fields that each further part of a singular graph counts as.

Each part becomes a piece of its own. No writer makes such parts.
"""

MAX_DEPTH = 100
"""The limit of Protocol Buffers on the nesting of messages."""

_HOLDERS = frozenset(
    {
        "AttributeProto",
        "FunctionProto",
        "GraphProto",
        "MapProto",
        "NodeProto",
        "OptionalProto",
        "SequenceProto",
        "SparseTensorProto",
        "TensorProto",
        "TrainingInfoProto",
    }
)
"""The messages that may contain a tensor at some depth."""

Bytes = tuple[int, int] | bytes
"""Bytes of the copy: their begin and end in the source, or the bytes themselves if they are not in the source."""


_ValueRecord = tuple[wire.Field, int, int, int, int]
"""A record of a tensor with values: its field, wire type, and the starts of the tag, the value and the next record."""


class Piece(Record):
    """Some fields of the message. If `within` is the tag of a graph in the message, they are fields of that graph."""

    within: bytes
    content: tuple[Bytes, ...]


class Skeleton(Record):
    """A serialized message without large payloads, and for each tensor the places of its payloads."""

    source: Source
    copied: tuple[Piece, ...]
    payloads: dict[PlaceKey, tuple[Payload, ...]]
    long_lists: Mapping[PlaceKey, tuple[Payload, ...]] = EMPTY
    """The places of the lists that were left out, for each attribute."""
    is_merged: bool = False
    """True if a singular graph occurs more than once."""

    def pieces(self) -> Iterator[bytes]:
        """Yield the copy in pieces, each a serialized message; parsing one after the other merges them.

        Raises WireError if the file has become shorter.
        """
        for piece in self.copied:
            content = b"".join(part if isinstance(part, bytes) else self._read(*part) for part in piece.content)
            yield piece.within + wire.encode_varint(len(content)) + content if piece.within else content

    def _read(self, start: int, end: int) -> bytes:
        read = self.source.read_at(start, end - start)
        if len(read) < end - start:
            raise WireError("truncated", start + len(read), "the file became shorter while it was read")
        return read

    @property
    def size(self) -> int:
        """The number of bytes of the copy, without the tags and lengths of graphs in pieces."""
        parts = (part for piece in self.copied for part in piece.content)
        return sum(len(part) if isinstance(part, bytes) else part[1] - part[0] for part in parts)

    @property
    def is_whole(self) -> bool:
        """True if there was no search for payloads."""
        return self.copied == whole(self.source).copied

    @property
    def data(self) -> bytes:
        """The whole copy."""
        return b"".join(self.pieces())


def whole(source: Source) -> Skeleton:
    """Return a skeleton that copies the whole source, payloads included."""
    return Skeleton(source, (Piece(b"", ((0, source.size),)),), {})


class MessageTooLargeError(Exception):
    """There is more to copy than the limit allows."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size
        """The least number of bytes to copy."""


class TooManyFieldsError(Exception):
    """There are more fields to look at than the limit allows."""


def read_skeleton(
    source: Source, max_bytes: int, max_fields: int, kind: str = "ModelProto", whole_bytes: int | None = None
) -> Skeleton:
    """Copy the model in `source`, or the message of another kind, without its large payloads.

    A left-out raw_data stays present and empty, a left-out typed field or list is absent. Raises WireError where the
    bytes cannot be split into fields, MessageTooLargeError where the copy would have more than `max_bytes` bytes, and
    TooManyFieldsError where more than `max_fields` fields would have to be looked at.
    """
    if source.size <= (WHOLE_BYTES if whole_bytes is None else whole_bytes):
        if source.size > max_bytes:
            raise MessageTooLargeError(source.size)
        return whole(source)
    bytes(_SPARE_BYTES)
    copier = _Copier(source, max_bytes, max_fields)
    copier.copy_document(kind, 0, source.size)
    return Skeleton(source, tuple(copier.pieces), copier.payloads, copier.long_lists, copier.is_merged)


class _Copier:
    """Collects the bytes to copy; a length that changes is written after its message has been copied."""

    def __init__(self, source: Source, max_bytes: int, max_fields: int) -> None:
        self.source = source
        self.max_bytes = max_bytes
        self.fields_left = max_fields
        self.size = 0
        """The number of bytes to copy so far."""
        self.pieces: list[Piece] = []
        self.content: list[Bytes] = []
        """The bytes of the next piece so far."""
        self.size_before_piece = 0
        """`size` when the piece began."""
        self.is_merged = False
        self.payloads: dict[PlaceKey, tuple[Payload, ...]] = {}
        self.long_lists: dict[PlaceKey, tuple[Payload, ...]] = {}
        self.counts: dict[PlaceKey, dict[int, int]] = {}
        """For each opened message the last index of each field, over all pieces in which the message is given."""

    def copy(self, start: int, end: int) -> int:
        """Copy the bytes from `start` to `end`; return how many these are."""
        if start >= end:
            return 0
        self.size += end - start
        if self.size > self.max_bytes:
            raise MessageTooLargeError(self.size)
        self.content.append((start, end))
        return end - start

    def end_piece(self, within: bytes) -> None:
        self.pieces.append(Piece(within, tuple(self.content)))
        self.content.clear()
        self.size_before_piece = self.size

    def copy_document(self, message: str, start: int, end: int, key: PlaceKey = (), within: bytes = b"") -> None:
        """Copy the fields of the file, or of the graph with the tag `within` in it, in pieces."""
        if message == "TensorProto":
            self.copy_tensor(start, end, key)
            self.end_piece(within)
            return
        counts = self.counts.setdefault(key, {})
        pending = start
        for field, tag, value, following in self.holders(message, start, end, counts):
            self.copy(pending, tag)
            if field is not None and field.message == "GraphProto" and not field.repeated and not key:
                self.end_piece(within)
                if counts[field.number] > 0:
                    self.is_merged = True
                    self.count_fields(_FIELDS_OF_PART)
                graph = wire.encode_varint(field.number << 3 | WireType.LEN)
                self.copy_document(field.message, value, following, ((field.name, None),), graph)
            elif field is not None:
                self.copy_nested(field, value, following, key)
            pending = following
            if self.size - self.size_before_piece >= PIECE_BYTES:
                self.end_piece(within)
        self.copy(pending, end)
        self.end_piece(within)

    def copy_message(self, message: str, start: int, end: int, key: PlaceKey) -> int:
        """Copy the fields from `start` to `end`; return how many bytes the copy has."""
        check_deadline()
        if len(key) > MAX_DEPTH:
            raise WireError("nesting", start, "messages are nested too deep")
        if message == "TensorProto":
            return self.copy_tensor(start, end, key)
        if key[-1][0] == "attribute" and end - start >= LONG_LIST_BYTES:
            lists = self.records_of_long_lists(start, end)
            if lists:
                return self.copy_without_lists(lists, start, end, key)
        counts = self.counts.setdefault(key, {})
        copied, pending = 0, start
        for field, tag, value, following in self.holders(message, start, end, counts):
            if field is None:
                continue
            copied += self.copy(pending, tag)
            copied += self.copy_nested(field, value, following, key)
            pending = following
        return copied + self.copy(pending, end)

    def holders(
        self, message: str, start: int, end: int, counts: dict[int, int]
    ) -> Iterator[tuple[wire.Field | None, int, int, int]]:
        """Yield the fields from `start` to `end` that may hold a large payload; count each field in `counts`.

        An item without a field is a position in a long run of other fields. A piece of the copy may end there.
        """
        fields = wire.fields(message)
        position = start
        while position < end:
            small = 0
            rest = records_of(self.source, message, position, end, inside_groups=False)
            for number, wire_type, tag, value, following in rest:
                self.count_fields(1)
                field = fields.get(number)
                if field is None or field.message is None or wire_type != WireType.LEN:
                    continue
                is_holder = field.message in _HOLDERS
                if is_holder:
                    counts[number] = counts.get(number, -1) + 1
                    # A singular message may be given in parts, which are merged: a small part may continue a large one.
                    if not field.repeated or following - value >= PAYLOAD_BYTES:
                        yield field, tag, value, following
                        continue
                small += 1
                if small % LONG_RUN == 0:
                    # Most of a large graph is small nodes (docs/performance.md: small-nodes).
                    key = number << 3 | WireType.LEN
                    most = PAYLOAD_BYTES if is_holder else wire.MAX_SHORT_BYTES
                    limit = min(end, following + PIECE_BYTES)
                    after, more = wire.skip_short(self.source, following, limit, key, most)
                    position = wire.advanced(position, after)
                    self.count_fields(more)
                    if is_holder:
                        counts[number] += more
                    yield None, position, position, position
                    break
            else:
                return

    def count_fields(self, fields: int) -> None:
        """Count fields that are looked at."""
        self.fields_left -= fields
        if self.fields_left < 0:
            raise TooManyFieldsError

    def copy_nested(self, field: wire.Field, start: int, end: int, key: PlaceKey) -> int:
        """Copy a field that is a message, with the length that its copy has; return how many bytes these are."""
        tag = wire.encode_varint(field.number << 3 | WireType.LEN)
        hole = len(self.content)
        self.content.append(b"")
        assert field.message is not None
        step = (field.name, self.counts[key][field.number] if field.repeated else None)
        length = self.copy_message(field.message, start, end, (*key, step))
        head = tag + wire.encode_varint(length)
        self.content[hole] = head
        return len(head) + length

    def records_of_long_lists(self, start: int, end: int) -> list[tuple[wire.Field, int, int, int, int]]:
        """Return the records of the long lists of an attribute: all records of each list, in their order.

        The result is empty if the attribute also holds a tensor or graph, or its lists have many parts. No writer makes
        such attributes, so they are parsed as a whole.
        """
        fields = wire.fields("AttributeProto")
        found: list[tuple[wire.Field, int, int, int, int]] = []
        sizes: dict[str, int] = {}
        for number, wire_type, tag, value, following in records_of(
            self.source, "AttributeProto", start, end, inside_groups=False
        ):
            self.count_fields(1)
            field = fields.get(number)
            if field is not None and field.message in _HOLDERS and wire_type == WireType.LEN:
                return []
            if field is None or field.name not in _LISTS or not (wire_type == RUN or field.accepts(wire_type)):
                continue
            found.append((field, wire_type, tag, value, following))
            sizes[field.name] = sizes.get(field.name, 0) + following - tag
            if len(found) > _MAX_PARTS:
                return []
        return [each for each in found if sizes[each[0].name] >= LONG_LIST_BYTES]

    def copy_without_lists(
        self, lists: list[tuple[wire.Field, int, int, int, int]], start: int, end: int, key: PlaceKey
    ) -> int:
        """Copy an attribute without these lists."""
        copied, pending = 0, start
        parts: list[Payload] = []
        for field, wire_type, tag, value, following in lists:
            copied += self.copy(pending, tag)
            packed = field.packable and wire_type == WireType.LEN
            if packed:
                check_packed(self.source, field, value, following)  # nothing else checks its content
            first = value if packed else tag
            parts.append(Payload(field.name, first, following - first, packed))
            pending = following
        self.long_lists[key] = tuple(parts)
        return copied + self.copy(pending, end)

    def copy_tensor(self, start: int, end: int, key: PlaceKey) -> int:
        """Copy a tensor without its large values; return how many bytes the copy has."""
        values, is_integer = self.records_of_values(start, end)
        least = INTEGER_BYTES if is_integer else PAYLOAD_BYTES
        # All values stay in the file if some are large: no reader of the message may take the others for the tensor's.
        if key not in self.payloads and not any(following - value >= least for *_, value, following in values):
            return self.copy(start, end)
        copied, pending = self.leave_values(values, start, key)
        return copied + self.copy(pending, end)

    def leave_values(self, values: Iterable[_ValueRecord], start: int, key: PlaceKey) -> tuple[int, int]:
        """Copy what is before and between the values of a tensor, and note where these are in the file.

        Returns how many bytes the copy has, and the end of the last value.
        """
        known = self.payloads.get(key, ())
        raw = [payload for payload in known if payload.field == "raw_data"]
        lists = [payload for payload in known if payload.field != "raw_data"]
        copied, pending = 0, start
        for field, wire_type, tag, value, following in values:
            if following - value < PAYLOAD_BYTES and len(lists) >= _MAX_PARTS:
                continue
            copied += self.copy(pending, tag)
            packed = wire_type == WireType.LEN
            first = value if packed else tag
            payload = Payload(field.name, first, following - first, packed)
            if field.name == "raw_data":
                empty = wire.encode_varint(field.number << 3 | WireType.LEN) + b"\0"
                self.content.append(empty)
                copied += len(empty)
                raw = [payload] if payload.length else []  # the last one counts
            else:
                if packed and field.packable:
                    check_packed(self.source, field, value, following)  # nothing else checks its content
                lists.append(payload)
            pending = following
        self.payloads[key] = (*lists, *raw)
        if not self.payloads[key]:
            del self.payloads[key]
        return copied, pending

    def records_of_values(self, start: int, end: int) -> tuple[list[_ValueRecord], bool]:
        """Return the records of a tensor that hold values, and whether they are integers that may decide shapes.

        The records have a wire type that parsers accept for them.
        """
        fields = wire.fields("TensorProto")
        found: list[_ValueRecord] = []
        is_integer = False
        for number, wire_type, tag, value, following in records_of(
            self.source, "TensorProto", start, end, inside_groups=False
        ):
            self.count_fields(1)
            field = fields.get(number)
            if field is not None and field.name == "data_type" and wire_type == WireType.VARINT:
                is_integer = self.varint_at(value, following) in INDEX_TYPES
            if field is None or field.name not in _VALUE_FIELDS or not (wire_type == RUN or field.accepts(wire_type)):
                continue
            if len(found) < _MAX_PARTS or following - value >= PAYLOAD_BYTES:
                found.append((field, wire_type, tag, value, following))
        return found, is_integer

    def varint_at(self, start: int, end: int) -> int:
        """Return the number that the bytes of a varint encode."""
        try:
            return wire.decode_varint(self.source.read_at(start, end - start), 0)[0]
        except IndexError:
            raise WireError("truncated", start, "the file became shorter while it was read") from None


_LISTS: Final = frozenset({"floats", "ints", "strings"})
"""The lists of an attribute that may be long."""

_MAX_PARTS: Final = 1_000
"""In a list with more parts the small ones stay in the message, since each part takes memory as well."""
