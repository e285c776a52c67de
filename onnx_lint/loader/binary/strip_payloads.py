# SPDX-License-Identifier: Apache-2.0
"""Copies a serialized model without the large payloads of its tensors, which stay where they are.

Only what may hold a large payload is opened: a message smaller than PAYLOAD_BYTES is copied as it stands, so a graph
of many small nodes costs one step a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.ir.places.place import Key
from onnx_lint.loader.binary.packed import check_packed
from onnx_lint.loader.binary.runs import LONG_RUN, RUN, records_of
from onnx_lint.model import Payload
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.spec.element_types import VALUE_FIELDS

_VALUE_FIELDS = frozenset(VALUE_FIELDS)

PAYLOAD_BYTES = 4096
"""Values of fewer bytes stay in the message; what is small is copied."""

WHOLE_BYTES = 1 << 22
"""A file of at most this many bytes is parsed whole, its tensors copied."""

PIECE_BYTES = 1 << 18
"""A larger message is parsed in pieces of about this size: what one needs in memory, the next one has again."""

_SPARE_BYTES: Final = 1 << 22
"""The size of a block that is asked for and given back, unused, before a message is gone through in pieces.

From then on the allocator of the GNU C library keeps some of what is freed, and makes the next piece from that. Else it
returns it after each piece, and all pages are new to the next one.
"""

_FIELDS_OF_PART = 1000
"""A further part of a graph that is singular counts as so many fields: each makes pieces, and no writer makes any."""

MAX_DEPTH = 100
"""How deep messages nest at most for Protocol Buffers to parse them."""

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
"""The messages in which a tensor can stand at some depth."""

Bytes = tuple[int, int] | bytes
"""Bytes of the copy: where they begin and end in the source, or, where they are none of the source, themselves."""


class Piece(Record):
    """Some fields of the message, or with the tag of a graph in it, `within`, some fields of that."""

    within: bytes
    content: tuple[Bytes, ...]


class Skeleton(Record):
    """A serialized message without large payloads, and for each tensor that lost some, where they stand."""

    source: Source
    copied: tuple[Piece, ...]
    payloads: dict[Key, tuple[Payload, ...]]
    is_merged: bool = False
    """Whether a graph that is singular is given more than once."""

    def pieces(self) -> Iterator[bytes]:
        """The copy in pieces, each a serialized message; whoever parses one after the other has merged them.

        Raises WireError where the file has become shorter.
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
        """How many bytes the copy has, but for the tags and lengths of graphs that are given in pieces."""
        parts = (part for piece in self.copied for part in piece.content)
        return sum(len(part) if isinstance(part, bytes) else part[1] - part[0] for part in parts)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was looked for that might be left out."""
        return self.copied == whole(self.source).copied

    @property
    def data(self) -> bytes:
        """The copy in one."""
        return b"".join(self.pieces())


def whole(source: Source) -> Skeleton:
    """The skeleton from which nothing is left out."""
    return Skeleton(source, (Piece(b"", ((0, source.size),)),), {})


class MessageTooLargeError(Exception):
    """There is more to copy than the limit allows."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size
        """How many bytes there are to copy at least."""


class TooManyFieldsError(Exception):
    """There are more fields to look at than the limit allows."""


TOO_MANY_FIELDS = "there are too many fields to look at one by one"
"""What is to be said of that."""


def read_skeleton(
    source: Source, max_bytes: int, max_fields: int, kind: str = "ModelProto", whole_bytes: int | None = None
) -> Skeleton:
    """Copy the model in `source`, or the message of another kind, without its large payloads.

    A left-out raw_data stays present and empty, a left-out typed field is absent. Raises WireError where the bytes
    cannot be split into fields, MessageTooLargeError where the copy would have more than `max_bytes` bytes, and
    TooManyFieldsError where more than `max_fields` fields would have to be looked at.
    """
    if source.size <= (WHOLE_BYTES if whole_bytes is None else whole_bytes):
        if source.size > max_bytes:
            raise MessageTooLargeError(source.size)
        return whole(source)
    bytes(_SPARE_BYTES)
    copier = _Copier(source, max_bytes, max_fields)
    copier.document(kind, 0, source.size)
    return Skeleton(source, tuple(copier.pieces), copier.payloads, copier.is_merged)


class _Copier:
    """Collects what is copied; a length that changes is written once its message has been copied."""

    def __init__(self, source: Source, max_bytes: int, max_fields: int) -> None:
        self.source = source
        self.max_bytes = max_bytes
        self.fields_left = max_fields
        self.wanted = 0
        self.pieces: list[Piece] = []
        self.content: list[Bytes] = []
        """What the next piece has so far."""
        self.begun = 0
        """What was wanted when that began."""
        self.is_merged = False
        self.payloads: dict[Key, tuple[Payload, ...]] = {}
        self.counts: dict[Key, dict[int, int]] = {}
        """For each opened message the last index of each field, over all pieces in which the message is given."""

    def copy(self, start: int, end: int) -> int:
        if start >= end:
            return 0
        self.wanted += end - start
        if self.wanted > self.max_bytes:
            raise MessageTooLargeError(self.wanted)
        self.content.append((start, end))
        return end - start

    def end_piece(self, within: bytes) -> None:
        self.pieces.append(Piece(within, tuple(self.content)))
        self.content.clear()
        self.begun = self.wanted

    def document(self, message: str, start: int, end: int, key: Key = (), within: bytes = b"") -> None:
        """Copy the fields of the file, or of the graph with the tag `within` in it, in pieces."""
        if message == "TensorProto":
            self.tensor(start, end, key)
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
                    self.take(_FIELDS_OF_PART)
                graph = wire.encode_varint(field.number << 3 | WireType.LEN)
                self.document(field.message, value, following, ((field.name, None),), graph)
            elif field is not None:
                self.nested(field, value, following, key)
            pending = following
            if self.wanted - self.begun >= PIECE_BYTES:
                self.end_piece(within)
        self.copy(pending, end)
        self.end_piece(within)

    def message(self, message: str, start: int, end: int, key: Key) -> int:
        """Copy the fields from `start` to `end`; return how many bytes the copy has."""
        if len(key) > MAX_DEPTH:
            raise WireError("nesting", start, "messages are nested too deep")
        if message == "TensorProto":
            return self.tensor(start, end, key)
        counts = self.counts.setdefault(key, {})
        copied, pending = 0, start
        for field, tag, value, following in self.holders(message, start, end, counts):
            if field is None:
                continue
            copied += self.copy(pending, tag)
            copied += self.nested(field, value, following, key)
            pending = following
        return copied + self.copy(pending, end)

    def holders(
        self, message: str, start: int, end: int, counts: dict[int, int]
    ) -> Iterator[tuple[wire.Field | None, int, int, int]]:
        """The fields from `start` to `end` that may hold a large payload; `counts` has the last index of each field.

        With None for the field come places in a long run of others, where a piece of the copy may end.
        """
        fields = wire.fields(message)
        position = start
        while position < end:
            small = 0
            rest = records_of(self.source, message, position, end, inside_groups=False)
            for number, wire_type, tag, value, following in rest:
                self.take(1)
                field = fields.get(number)
                if field is None or field.message is None or wire_type != WireType.LEN:
                    continue
                is_holder = field.message in _HOLDERS
                if is_holder:
                    counts[number] = counts.get(number, -1) + 1
                    # A singular message may be given in parts, which are one: what stands in a small one counts, too.
                    if not field.repeated or following - value >= PAYLOAD_BYTES:
                        yield field, tag, value, following
                        continue
                small += 1
                if small % LONG_RUN == 0:
                    # Most of a large graph is small nodes (docs/performance.md: small-nodes).
                    key = number << 3 | WireType.LEN
                    most = PAYLOAD_BYTES if is_holder else wire.MOST_SHORT_BYTES
                    limit = min(end, following + PIECE_BYTES)
                    after, more = wire.skip_short(self.source, following, limit, key, most)
                    position = wire.advanced(position, after)
                    self.take(more)
                    if is_holder:
                        counts[number] += more
                    yield None, position, position, position
                    break
            else:
                return

    def take(self, fields: int) -> None:
        """Count fields that are looked at."""
        self.fields_left -= fields
        if self.fields_left < 0:
            raise TooManyFieldsError

    def nested(self, field: wire.Field, start: int, end: int, key: Key) -> int:
        tag = wire.encode_varint(field.number << 3 | WireType.LEN)
        hole = len(self.content)
        self.content.append(b"")
        assert field.message is not None
        step = (field.name, self.counts[key][field.number] if field.repeated else None)
        length = self.message(field.message, start, end, (*key, step))
        head = tag + wire.encode_varint(length)
        self.content[hole] = head
        return len(head) + length

    def tensor(self, start: int, end: int, key: Key) -> int:
        payloads: list[Payload] = list(self.payloads.get(key, ()))
        values = self.values(start, end)
        # All parts of a list stay in the file, in their order, where one of them is large.
        large = {field.name for field, _, _, value, following in values if following - value >= PAYLOAD_BYTES}
        copied, pending = 0, start
        for field, wire_type, tag, value, following in values:
            is_small = following - value < PAYLOAD_BYTES
            if field.name not in large or (is_small and len(payloads) >= _MOST_PARTS):
                continue
            copied += self.copy(pending, tag)
            packed = wire_type == WireType.LEN
            if packed and field.packable:
                check_packed(self.source, field, value, following)  # which nobody else will look into
            payloads.append(
                Payload(field.name, value if packed else tag, following - (value if packed else tag), packed)
            )
            if field.name == "raw_data":
                empty = wire.encode_varint(field.number << 3 | WireType.LEN) + b"\0"
                self.content.append(empty)
                copied += len(empty)
            pending = following
        if payloads:
            self.payloads[key] = tuple(payloads)
        return copied + self.copy(pending, end)

    def values(self, start: int, end: int) -> list[tuple[wire.Field, int, int, int, int]]:
        """The records of a tensor that hold values, and are of a wire type that parsers take for them."""
        fields = wire.fields("TensorProto")
        found: list[tuple[wire.Field, int, int, int, int]] = []
        for number, wire_type, tag, value, following in records_of(
            self.source, "TensorProto", start, end, inside_groups=False
        ):
            self.take(1)
            field = fields.get(number)
            if field is None or field.name not in _VALUE_FIELDS or not (wire_type == RUN or field.accepts(wire_type)):
                continue
            if len(found) < _MOST_PARTS or following - value >= PAYLOAD_BYTES:
                found.append((field, wire_type, tag, value, following))
        return found


_MOST_PARTS: Final = 1_000
"""Of a list that is given in more parts the small ones stay in the message, since a part takes up memory as well."""
