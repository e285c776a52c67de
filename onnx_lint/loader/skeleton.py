# SPDX-License-Identifier: Apache-2.0
"""Copies a serialized model without the large payloads of its tensors, which stay where they are.

Only what may hold a large payload is opened: a message smaller than PAYLOAD_BYTES is copied as it stands, so a graph
of many small nodes costs one step a node.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Payload
from onnx_lint.model.place import Key
from onnx_lint.model.tensor_data.runs import run_end
from onnx_lint.record import Record
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.source import Source

PAYLOAD_BYTES = 4096
"""Values of fewer bytes stay in the message; what is small is cheaper to copy than to keep apart."""

WHOLE_BYTES = 1 << 22
"""A file of at most this many bytes is parsed whole: walking it takes longer than copying its tensors."""

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

_VALUE_FIELDS = frozenset(
    {"raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data"}
)


class Skeleton(Record):
    """A serialized message without large payloads, and for each tensor that lost some, where they stand."""

    data: bytes
    payloads: dict[Key, tuple[Payload, ...]]


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


def read_skeleton(source: Source, max_bytes: int, max_fields: int, kind: str = "ModelProto") -> Skeleton:
    """Copy the model in `source`, or the message of another kind, without its large payloads.

    A left-out raw_data stays present and empty, a left-out typed field is absent. Raises WireError where the bytes
    cannot be split into fields, MessageTooLargeError where the copy would have more than `max_bytes` bytes, and
    TooManyFieldsError where more than `max_fields` fields would have to be looked at.
    """
    copier = _Copier(source, max_bytes, max_fields)
    if source.size <= WHOLE_BYTES:
        copier.copy(0, source.size)
        return Skeleton(b"".join(copier.pieces), {})
    copier.message(kind, 0, source.size, ())
    return Skeleton(b"".join(copier.pieces), copier.payloads)


class _Copier:
    """Collects the pieces of the copy; a length that changes is written once its message has been copied."""

    def __init__(self, source: Source, max_bytes: int, max_fields: int) -> None:
        self.source = source
        self.max_bytes = max_bytes
        self.fields_left = max_fields
        self.wanted = 0
        self.pieces: list[bytes] = []
        self.payloads: dict[Key, tuple[Payload, ...]] = {}
        self.counts: dict[Key, dict[int, int]] = {}
        """For each opened message the last index of each field, over all pieces in which the message is given."""

    def copy(self, start: int, end: int) -> int:
        if start >= end:
            return 0
        self.wanted += end - start
        if self.wanted > self.max_bytes:
            raise MessageTooLargeError(self.wanted)
        piece = self.source.read_at(start, end - start)
        if len(piece) < end - start:
            raise WireError("truncated", start + len(piece), "the file became shorter while it was read")
        self.pieces.append(piece)
        return end - start

    def message(self, message: str, start: int, end: int, key: Key) -> int:
        """Copy the fields from `start` to `end`; return how many bytes the copy has."""
        if len(key) > MAX_DEPTH:
            raise WireError("nesting", start, "messages are nested too deep")
        if message == "TensorProto":
            return self.tensor(start, end, key)
        counts = self.counts.setdefault(key, {})
        copied, pending = 0, start
        for field, tag, value, following in self.holders(message, start, end, counts):
            copied += self.copy(pending, tag)
            step = (field.name, counts[field.number] if field.repeated else None)
            copied += self.nested(field, value, following, (*key, step))
            pending = following
        return copied + self.copy(pending, end)

    def holders(
        self, message: str, start: int, end: int, counts: dict[int, int]
    ) -> Iterator[tuple[wire.Field, int, int, int]]:
        """The fields from `start` to `end` that may hold a large payload; `counts` has the last index of each field."""
        fields = wire.fields(message)
        position = start
        while position < end:
            small = 0
            rest = records_of(self.source, message, position, end, inside_groups=False)
            for number, wire_type, tag, value, following in rest:
                self.take(1)
                field = fields.get(number)
                if field is None or field.message not in _HOLDERS or wire_type != WireType.LEN:
                    continue
                counts[number] = counts.get(number, -1) + 1
                # A singular message may be given in pieces, which are one: what stands in a small piece counts as well.
                if not field.repeated or following - value >= PAYLOAD_BYTES:
                    yield field, tag, value, following
                    continue
                small += 1
                if small % _LONG_RUN == 0:
                    # Most of a large graph is small nodes; counting them in one loop takes a tenth of the time.
                    key = number << 3 | WireType.LEN
                    position, more = wire.skip_short(self.source, following, end, key, PAYLOAD_BYTES)
                    self.take(more)
                    counts[number] += more
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
        self.pieces.append(tag)
        hole = len(self.pieces)
        self.pieces.append(b"")
        assert field.message is not None
        length = self.message(field.message, start, end, key)
        self.pieces[hole] = wire.encode_varint(length)
        return len(tag) + len(self.pieces[hole]) + length

    def tensor(self, start: int, end: int, key: Key) -> int:
        fields = wire.fields("TensorProto")
        payloads: list[Payload] = list(self.payloads.get(key, ()))
        copied, pending = 0, start
        for number, wire_type, tag, value, following in records_of(
            self.source, "TensorProto", start, end, inside_groups=False
        ):
            self.take(1)
            field = fields.get(number)
            if field is None or field.name not in _VALUE_FIELDS or following - value < PAYLOAD_BYTES:
                continue
            copied += self.copy(pending, tag)
            packed = wire_type == WireType.LEN
            payloads.append(
                Payload(field.name, value if packed else tag, following - (value if packed else tag), packed)
            )
            if field.name == "raw_data":
                empty = wire.encode_varint(number << 3 | WireType.LEN) + b"\0"
                self.pieces.append(empty)
                copied += len(empty)
            pending = following
        if payloads:
            self.payloads[key] = tuple(payloads)
        return copied + self.copy(pending, end)


RUN = -1
"""Stands for the wire type of a run of records."""

_LONG_RUN = 32
"""After so many records in a row the rest of the run is looked for in bulk."""


_RUN_FIELDS = {
    "TensorProto": _VALUE_FIELDS - {"raw_data"},
    "AttributeProto": frozenset({"floats", "ints", "strings"}),
}
"""The lists that may have millions of elements, by message: a tree ensemble is written in the attributes of a node."""


def records_of(
    source: Source, message: str, start: int, end: int, *, inside_groups: bool = True
) -> Iterator[tuple[int, int, int, int, int]]:
    """The records of a message as `wire.records` gives them, with unpacked values of one long list in a row as one."""
    if message in _RUN_FIELDS:
        return _with_runs(source, message, start, end, inside_groups)
    return wire.records(source, start, end, inside_groups=inside_groups)


def _with_runs(
    source: Source, message: str, start: int, end: int, inside_groups: bool
) -> Iterator[tuple[int, int, int, int, int]]:
    run: tuple[int, int, int] | None = None
    records = 0
    fields, wanted = wire.fields(message), _RUN_FIELDS[message]
    position = start
    while True:
        for record in wire.records(source, position, end, inside_groups=inside_groups):
            number, wire_type, tag, _, position = record
            field = fields.get(number)
            # A packed list is one record as it is.
            single = field if field is not None and field.name in wanted and wire_type == field.wire_type else None
            if run is not None and (single is None or run[0] != number):
                yield run[0], RUN, run[1], run[1], run[2]
                run, records = None, 0
            if single is None:
                yield record
                continue
            records += 1
            following = run_end(source, position, end, single) if records % _LONG_RUN == 0 else position
            run = (number, tag if run is None else run[1], following)
            if following > position:
                position = following
                break
        else:
            break
    if run is not None:
        yield run[0], RUN, run[1], run[1], run[2]
