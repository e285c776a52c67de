# SPDX-License-Identifier: Apache-2.0
"""Counts the elements of a serialized message before it is parsed, and what memory they will take up.

An empty message takes up two bytes of a file and hundreds in memory. What is small is counted by the parser of Protocol
Buffers, with messages left as bytes, level by level; what is large is split into pieces first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.loader.runs import RUN, records_of
from onnx_lint.loader.strip_payloads import MAX_DEPTH, Skeleton
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.source import BytesSource
from onnx_lint.spec.element_types import TYPED_FIELDS

FREE_BYTES: Final = 1 << 14
"""In so few bytes there cannot be more than the limit allows by default: nothing takes up a thousand times its size."""

_PIECE_BYTES: Final = 1 << 16
"""How many bytes are counted at a time; larger messages are looked at by themselves."""

_PAID_FOR: Final = 11
"""So many bytes of memory are expected for each byte: the bytes themselves, copies of them, and what they hold."""

_OF_MESSAGE: Final = 760
"""How many bytes of memory a message takes up by and large, with what rules keep of it."""

_OF_MESSAGES: Final = {
    "NodeProto": 400,
    "TensorProto": 2_000,
    "SparseTensorProto": 800,
    "AttributeProto": 1_000,
    "NodeDeviceConfigurationProto": 1_000,
    "GraphProto": 4_200,
    "FunctionProto": 4_200,
    "ShardingSpecProto": 1_000,
    "TypeProto": 560,
    "TypeProto.Tensor": 200,
    "TensorShapeProto": 200,
    "TensorShapeProto.Dimension": 220,
    "StringStringEntryProto": 400,
    "ValueInfoProto": 400,
}
"""Where it is known better: measured with files that hold nothing else, empty."""

_OF_STRING: Final = 300
_OF_NODE_STRING: Final = 100
"""A name in a node that has few of them, as in models that people make: most are there twice."""
_FEW_STRINGS: Final = 4
"""So many names of a node, by and large, take up no more than that."""
_OF_BYTES: Final = 110
_OF_NUMBER: Final = 33
_OF_VARINT: Final = 48
"""A number that may have one byte in the file, and has eight in each of the messages that hold it for a time."""
_OF_DIMENSION: Final = 90
_OF_VALUE: Final = 80
"""A value of a tensor, which may be left in the file instead."""


_OF_LEVEL: Final = 550
"""What a sequence, map or optional in the type of a value takes up, with the words for it."""
_FREE_LEVELS: Final = 3
_LEVELS: Final = (b"\x22", b"\x2a", b"\x4a")
"""The tags of sequence_type, map_type and optional_type; these bytes may be anything else as well."""

_CONTINUED: Final = bytes(range(0x80, 0x100))
"""All bytes of varints but the last ones."""


_WORTHWHILE: Final = 256
"""So many bytes of a row are to be passed over at once, or the walk is not begun anew behind them."""


class TooManyElementsError(Exception):
    """The elements of a message take up more memory than the limit allows."""

    def __init__(self, elements: int, size: int) -> None:
        super().__init__(elements)
        self.elements = elements
        """How many there are at least."""
        self.bytes = size
        """How many bytes of memory these take up."""


def count_elements(skeleton: Skeleton, message: str, most_bytes: int) -> None:
    """Count the elements of the message called `message` that the skeleton holds.

    Raises TooManyElementsError when they take up more than `most_bytes` bytes of memory beyond those that their own
    bytes pay for. What cannot be split is counted up to there.
    """
    count = _Count(most_bytes + _PAID_FOR * skeleton.size)
    for piece in skeleton.pieces():
        count.add(piece, message)


class _Count:
    def __init__(self, most_bytes: int) -> None:
        self.left = most_bytes
        self.elements = 0
        self.bytes = 0
        self.node_strings = 0
        """How many names of nodes may still come before there are more than a few for each node."""
        self.types: dict[bytes, int] = {}
        """The types that have been counted, as equal ones are parsed once, and what each value of them takes up."""

    def add(self, data: bytes, message: str) -> None:
        """Count what is in one piece, level by level: messages of one kind that are small are counted together."""
        found: dict[str, list[bytes]] = {message: [data]}
        for _ in range(MAX_DEPTH + 1):
            inner: dict[str, list[bytes]] = {}
            for name, contents in found.items():
                self.level(name, contents, inner)
            if not inner:
                break
            found = inner

    def level(self, name: str, contents: list[bytes], inner: dict[str, list[bytes]]) -> None:
        """Count the fields of these messages; what is in the messages among them is added to `inner`."""
        pending: list[bytes] = []
        size = 0
        for content in contents:
            if len(content) > _PIECE_BYTES:
                self.large(name, content, inner)
                continue
            pending.append(content)
            size += len(content)
            if size >= _PIECE_BYTES:
                self.small(name, b"".join(pending), inner)
                pending.clear()
                size = 0
        self.small(name, b"".join(pending), inner)

    def small(self, name: str, piece: bytes, inner: dict[str, list[bytes]]) -> None:
        """Count the fields of messages that stand one behind the other."""
        try:
            merged = schema.columns(name).FromString(piece)
        except (DecodeError, UnicodeDecodeError) as error:
            schema.raise_lack_of_memory(error)
            self.one_by_one(name, piece, inner)
            return
        fields = wire.fields(name)
        for descriptor, values in merged.ListFields():
            field = fields[descriptor.number]
            if field.message == "TypeProto" and name == "ValueInfoProto":
                values = self.distinct_types(values)
            self.take(name, field, len(values))
            if field.message is not None:
                inner.setdefault(field.message, []).extend(filter(None, values))

    def distinct_types(self, values: Iterable[bytes]) -> list[bytes]:
        """The types among these that are new; the values of all of them are counted by how deep their type nests."""
        found: list[bytes] = []
        for value, count in Counter(values).items():
            if value not in self.types:
                found.append(value)
                self.types[value] = _OF_LEVEL * max(sum(map(value.count, _LEVELS)) - _FREE_LEVELS, 0)
            self.spend(count * self.types[value])
        return found

    def one_by_one(self, name: str, piece: bytes, inner: dict[str, list[bytes]]) -> None:
        """Count the fields of what the parser does not take: a string is not UTF-8, or something worse."""
        fields = wire.fields(name)
        with suppress(WireError):  # what comes behind that is not parsed either
            for number, wire_type, _, value, following in wire.records(
                BytesSource(piece), 0, len(piece), inside_groups=False
            ):
                field = fields.get(number)
                if field is not None and field.accepts(wire_type):
                    self.single(name, field, wire_type, piece[value:following], inner)

    def single(
        self, name: str, field: wire.Field, wire_type: int, content: bytes, inner: dict[str, list[bytes]]
    ) -> None:
        """Count one field, which may be a packed list."""
        self.take(name, field, 1 if wire_type == field.wire_type else _packed_count(field, content))
        if field.message is not None and content:
            inner.setdefault(field.message, []).append(content)

    def large(self, name: str, content: bytes, inner: dict[str, list[bytes]]) -> None:
        """Count the fields of a large message: rows of small ones together, and long lists in bulk."""
        source, end, fields = BytesSource(content), len(content), wire.fields(name)
        begun = position = 0
        with suppress(WireError):
            while position < end:
                start = position
                for number, wire_type, tag, value, following in records_of(source, name, start, end):
                    field = fields.get(number)
                    position = following
                    if wire_type == RUN or following - tag > _PIECE_BYTES:
                        self.small(name, content[begun:tag], inner)
                        begun = following
                        if field is not None and wire_type == RUN:
                            self.take(name, field, _run_count(field, content, tag, following))
                        elif field is not None and field.accepts(wire_type):
                            self.single(name, field, wire_type, content[value:following], inner)
                        continue
                    if following - begun >= _PIECE_BYTES:
                        self.small(name, content[begun:following], inner)
                        begun = following
                    if wire_type == WireType.LEN:
                        most = min(end, begun + _PIECE_BYTES)
                        position, _ = wire.skip_short(source, following, most, content[tag], wire.MOST_SHORT_BYTES)
                        if position - following > _WORTHWHILE:
                            break
                        position = following
                position = wire.advanced(start, position)
        self.small(name, content[begun:], inner)

    def take(self, name: str, field: wire.Field, count: int) -> None:
        self.elements += count
        if field.message == "NodeProto":
            self.node_strings += _FEW_STRINGS * count
        elif name == "NodeProto" and field.is_string and field.repeated:
            few = min(count, self.node_strings)
            self.node_strings -= few
            self.spend(few * _OF_NODE_STRING)
            count -= few
        self.spend(count * _bytes_of(name, field))

    def spend(self, size: int) -> None:
        self.bytes += size
        self.left -= size
        if self.left < 0:
            raise TooManyElementsError(self.elements, self.bytes)


def _bytes_of(name: str, field: wire.Field) -> int:
    """How many bytes of memory one occurrence of the field takes up."""
    if field.message is not None:
        return _OF_MESSAGES.get(field.message, _OF_MESSAGE)
    if not field.repeated:
        return 0
    if field.is_string:
        return _OF_STRING
    if name == "TensorProto" and field.name in TYPED_FIELDS:
        return _OF_VALUE
    if field.wire_type == WireType.LEN:
        return _OF_BYTES
    if field.name == "dims":
        return _OF_DIMENSION
    return _OF_VARINT if field.wire_type == WireType.VARINT else _OF_NUMBER


def _packed_count(field: wire.Field, content: bytes) -> int:
    """How many numbers a packed list has."""
    size = wire.FIXED_BYTES.get(field.wire_type)
    return len(content) // size if size else len(content.translate(None, _CONTINUED))


def _run_count(field: wire.Field, content: bytes, start: int, end: int) -> int:
    """How many fields stand in a run from `start` to `end`, each of which has a tag of one byte."""
    if field.wire_type == WireType.LEN:
        return wire.skip_short(BytesSource(content), start, end, content[start], wire.MOST_SHORT_BYTES)[1]
    size = wire.FIXED_BYTES.get(field.wire_type)
    return (end - start) // (size + 1) if size else len(content[start:end].translate(None, _CONTINUED)) // 2
