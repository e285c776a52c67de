# SPDX-License-Identifier: Apache-2.0
"""Estimates the memory that a message will need, before it is parsed.

An empty message takes two bytes of a file and hundreds in memory. So the estimate is a sum of fixed weights: for each
byte, each message, and each element of a list. Contents of nodes of functions count twice. If the sum exceeds the
limit, and the loader parses equal forms of nodes once, a second estimate leaves out what this saves.

The weights are measured, so that the estimate is an upper bound for hostile files: test_memory_estimate.py in
tests/loader/limits compares it with the peak for every repeated field of the schema. docs/design.md has the measured
memory of honest models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.runs import RUN
from onnx_lint.loader.binary.strip_payloads import MAX_DEPTH, Skeleton
from onnx_lint.loader.limits.large_messages import MAX_PIECE_BYTES, SmallFields, packed_count, pieces_of, run_count
from onnx_lint.loader.limits.not_checked import MAX_MEMORY_PER_INPUT_BYTE
from onnx_lint.loader.limits.shared_forms import NotSharedError, SharedForms
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError

BYTES_PER_INPUT_BYTE: Final = 5
"""Bytes of memory for each byte of the message."""

_BYTES_PER_LISTED_BYTE: Final = 3
"""Bytes for each byte of a long list that stays in the file: rules read numbers into arrays, most of 32 bits."""
_BYTES_PER_PACKED_BYTE: Final = 8
"""Bytes for each byte of a long list of packed integers, which may have one byte each."""

_BYTES_PER_MESSAGE: Final[Mapping[str, int]] = MappingProxyType(
    {
        "AttributeProto": 900,
        "FunctionProto": 4_200,
        "GraphProto": 4_000,
        "NodeProto": 1_150,
        "OperatorSetIdProto": 400,
        "SparseTensorProto": 1_000,
        "StringStringEntryProto": 400,
        "TensorProto": 1_000,
        "TensorShapeProto.Dimension": 260,
        "TypeProto": 250,
        "ValueInfoProto": 350,
    }
)
"""Bytes for each message of this type."""
_BYTES_PER_LIST_ENTRY: Final = 300
"""Bytes for each entry of any other list: a message, a string or a number."""
_BYTES_PER_SINGLE_MESSAGE: Final = 100
"""Bytes for each message of any other type outside of lists. Most are parts of types."""
_BYTES_PER_FIELD: Final[Mapping[str, int]] = MappingProxyType(
    {
        "AttributeProto.floats": 60,
        "AttributeProto.ints": 50,
        "AttributeProto.tensors": 1_300,
        "AttributeProto.type_protos": 450,
        "FunctionProto.attribute": 350,
        "FunctionProto.input": 600,
        "GraphProto.initializer": 660,
        "GraphProto.input": 500,
        "ModelProto.metadata_props": 850,
        "NodeProto.domain": 700,
        "NodeProto.input": 360,
        "NodeProto.output": 360,
        "NodeProto.overload": 300,
        "SparseTensorProto.dims": 130,
        "TensorAnnotation.quant_parameter_tensor_names": 700,
        "TensorProto.dims": 110,
    }
)
"""Bytes for each value of this field, in place of those of its message or list entry."""

_FUNCTION_NODE_FACTOR: Final = 2
"""The factor for the contents of nodes of functions: the walks over their bodies keep more of them."""

_OFTEN_REPEATED: Final = frozenset({"AttributeProto", "TypeProto"})
"""Types of messages that repeat in large models. The estimate parses equal messages once, and counts each."""


def memory_if_exceeding(skeleton: Skeleton, message_type: str, limit: int, *, shares_forms: bool = False) -> int | None:
    """Return the bytes of memory that a message of this type needs; None if they do not exceed the limit.

    A message that cannot be split is counted up to the fault. `shares_forms`: whether the loader parses equal forms of
    nodes, and equal types of values, only once. A message above the limit is then counted a second time, without what
    that saves.
    """
    lists = _needed_by_lists(skeleton)
    if skeleton.size * MAX_MEMORY_PER_INPUT_BYTE + lists <= limit:
        return None
    needed = _estimated(_Estimate(), skeleton, message_type)
    if needed + lists > limit and shares_forms:
        with suppress(NotSharedError):
            needed = min(needed, _estimated(_Estimate(SharedForms()), skeleton, message_type))
    return needed + lists if needed + lists > limit else None


def _estimated(estimate: _Estimate, skeleton: Skeleton, message_type: str) -> int:
    for piece in skeleton.pieces():
        estimate.add_file(message_type, piece)
    return estimate.bytes


def _needed_by_lists(skeleton: Skeleton) -> int:
    needed = 0
    for parts in skeleton.long_lists.values():
        for part in parts:
            is_packed = part.packed and part.field == "ints"
            needed += part.length * (_BYTES_PER_PACKED_BYTE if is_packed else _BYTES_PER_LISTED_BYTE)
    return needed


class _FieldWeight(Record):
    """What a field of a message adds to the estimate."""

    bytes: int
    """Bytes for each value."""
    inner_type: str | None
    """The type of the message in it, if that is parsed as well."""


_NO_WEIGHT: Final = _FieldWeight(0, None)


@cache
def _weights(message_type: str) -> Mapping[int, _FieldWeight]:
    """Return the weights of the fields of a message that have one, by number."""
    found: dict[int, _FieldWeight] = {}
    for number, field in wire.fields(message_type).items():
        weight_of_single = _BYTES_PER_SINGLE_MESSAGE if field.message else 0
        usual = _BYTES_PER_LIST_ENTRY if field.repeated else weight_of_single
        of_message = _BYTES_PER_MESSAGE.get(field.message or "", usual)
        weight = _BYTES_PER_FIELD.get(f"{message_type}.{field.name}", of_message)
        if weight:
            is_parsed = field.message is not None and _is_parsed(field.message)
            found[number] = _FieldWeight(weight, field.message if is_parsed else None)
    return found


def _is_parsed(message_type: str) -> bool:
    """Return whether the estimate parses messages of this type: those with fields that have weights.

    Those with a weight of their own are parsed as well, such as dimensions. A fault in one, such as a string that is
    not UTF-8, means that no forms are shared.
    """
    has_weights = any(field.message or field.repeated for field in wire.fields(message_type).values())
    return has_weights or message_type in _BYTES_PER_MESSAGE


_SAVED_PER_NODE: Final = 550
"""Bytes that a node saves whose form an earlier node has."""
_BYTES_PER_SHARED_TYPE: Final = 20
"""Bytes for a type that an earlier value has as well."""


class _CountedMessages(Record):
    """Messages of one type, and how they are counted."""

    type: str
    depth: int = 0
    """How many messages are around each of them."""
    times: int = 1
    """How often each of them is counted."""

    def inside(self, message_type: str, factor: int = 1) -> _CountedMessages:
        """Return the messages of a field, each counted `factor` times for each message around it."""
        return _CountedMessages(message_type, self.depth + 1, self.times * factor)

    def repeated(self, count: int) -> _CountedMessages:
        """Return these messages if each is there `count` times."""
        return _CountedMessages(self.type, self.depth, self.times * count)


class _Estimate:
    """The sum of an estimate."""

    def __init__(self, shared: SharedForms | None = None) -> None:
        self.bytes = 0
        self._shared = shared
        """The forms of the nodes so far; None to count every node in full."""

    def add_file(self, message_type: str, content: bytes) -> None:
        """Count the message of the file, or a piece of it, with the bytes of all messages in it."""
        self.bytes += BYTES_PER_INPUT_BYTE * len(content)
        self._add_message(_CountedMessages(message_type), content)

    def _add_message(self, kind: _CountedMessages, content: bytes) -> None:
        if kind.depth > MAX_DEPTH:
            return  # the parser rejects it
        if len(content) > MAX_PIECE_BYTES:
            self._add_large(kind, content)
        else:
            self._add_small(kind, content)

    def _add_messages(self, kind: _CountedMessages, contents: Iterable[bytes]) -> None:
        """Count messages of one type. Small ones are parsed at once: the parser merges concatenated messages."""
        if kind.depth > MAX_DEPTH:
            return
        contents = list(contents)
        # Nearly all lists are small, and one join has less to do than the loop for each of their elements.
        if sum(map(len, contents)) <= MAX_PIECE_BYTES:
            if any(contents):
                self._add_small(kind, b"".join(contents))
            return
        pending: list[bytes] = []
        size = 0
        for content in contents:
            if len(content) > MAX_PIECE_BYTES:
                self._add_large(kind, content)
                continue
            pending.append(content)
            size += len(content)
            if size >= MAX_PIECE_BYTES:
                self._add_small(kind, b"".join(pending))
                pending.clear()
                size = 0
        if pending:
            self._add_small(kind, b"".join(pending))

    def _add_small(self, kind: _CountedMessages, piece: bytes) -> None:
        """Count the fields of consecutive messages."""
        check_deadline()
        try:
            merged = schema.columns(kind.type).FromString(piece)
        except (DecodeError, UnicodeDecodeError) as error:
            schema.raise_lack_of_memory(error)
            self._add_one_by_one(kind, piece)
            return
        weights = _weights(kind.type)
        for descriptor, values in merged.ListFields():
            weight = weights.get(descriptor.number, _NO_WEIGHT)
            inner_type = weight.inner_type
            if kind.type == "ValueInfoProto" and inner_type == "TypeProto" and self._shared is not None:
                self._add_shared_types(kind, values, weight.bytes, self._shared)
                continue
            self.bytes += weight.bytes * len(values) * kind.times
            if inner_type == "NodeProto":
                self._add_nodes(kind, values)
            elif inner_type in _OFTEN_REPEATED:
                self._add_equal_messages(kind.inside(inner_type), values)
            elif inner_type is not None:
                self._add_messages(kind.inside(inner_type), filter(None, values))

    def _add_shared_types(
        self, values: _CountedMessages, types: Sequence[bytes], bytes_per_type: int, shared: SharedForms
    ) -> None:
        """Count the types of values: in full only those that no earlier value has."""
        new = shared.new_types(types)
        known = len(types) - len(new)
        self.bytes += values.times * (bytes_per_type * len(new) + _BYTES_PER_SHARED_TYPE * known)
        self._add_messages(values.inside("TypeProto"), new)

    def _add_equal_messages(self, kind: _CountedMessages, contents: Iterable[bytes]) -> None:
        """Count messages that may be equal: each is parsed once."""
        equal: dict[int, list[bytes]] = {}
        for content, count in Counter(contents).items():
            equal.setdefault(count, []).append(content)
        for count, each in equal.items():
            self._add_messages(kind.repeated(count), each)

    def _add_nodes(self, graph: _CountedMessages, values: Iterable[bytes]) -> None:
        """Count the contents of nodes in a graph, or in a function."""
        nodes = graph.inside("NodeProto", _FUNCTION_NODE_FACTOR if graph.type == "FunctionProto" else 1)
        if self._shared is not None:
            split = list(map(self._shared.split, values))
            values = [each.own for each in split]
            saved = [each.saved_bytes for each in split if each.is_shared]
            self.bytes -= graph.times * _SAVED_PER_NODE * len(saved) + nodes.times * sum(saved)
        self._add_messages(nodes, filter(None, values))

    def _add_one_by_one(self, kind: _CountedMessages, piece: bytes) -> None:
        """Count the fields of messages that the parser rejects: a string is not UTF-8, or there is a worse fault."""
        if self._shared is not None:
            raise NotSharedError
        fields = wire.fields(kind.type)
        with suppress(WireError):  # the rest is not parsed either
            for number, wire_type, _, value, following in wire.records(
                BytesSource(piece), 0, len(piece), inside_groups=False
            ):
                field = fields.get(number)
                if field is not None and field.accepts(wire_type):
                    self._add_record(kind, field, wire_type, piece[value:following])

    def _add_record(self, kind: _CountedMessages, field: wire.Field, wire_type: int, content: bytes) -> None:
        """Count one field, which may be a packed list."""
        self._add_field(kind, field, 1 if wire_type == field.wire_type else packed_count(field, content))
        if field.message is not None and content:
            if field.message == "NodeProto":
                self._add_nodes(kind, [content])
            else:
                self._add_message(kind.inside(field.message), content)

    def _add_field(self, kind: _CountedMessages, field: wire.Field, count: int) -> None:
        """Count occurrences of a field."""
        self.bytes += _weights(kind.type).get(field.number, _NO_WEIGHT).bytes * count * kind.times

    def _add_large(self, kind: _CountedMessages, content: bytes) -> None:
        """Count the fields of a large message: small ones together, and long lists in bulk."""
        fields = wire.fields(kind.type)
        for piece in pieces_of(kind.type, content):
            if isinstance(piece, SmallFields):
                self._add_small(kind, content[piece.start : piece.end])
                continue
            field = fields.get(piece.number)
            if field is not None and piece.wire_type == RUN:
                self._add_field(kind, field, run_count(field, content, piece.start, piece.end))
            elif field is not None and field.accepts(piece.wire_type):
                self._add_record(kind, field, piece.wire_type, content[piece.value : piece.end])
