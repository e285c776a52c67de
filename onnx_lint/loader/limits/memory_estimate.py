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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.columns.nodes import MAX_SHARED_BYTES, MAX_SHARED_NAMES
from onnx_lint.loader.binary.runs import RUN, records_of
from onnx_lint.loader.binary.strip_payloads import MAX_DEPTH, PIECE_BYTES, Skeleton
from onnx_lint.loader.limits.not_checked import MAX_MEMORY_PER_INPUT_BYTE
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

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

_PIECE_BYTES: Final = PIECE_BYTES + wire.MAX_SHORT_BYTES
"""The number of bytes that are counted at a time. Larger messages are split."""

_MIN_RUN_BYTES: Final = 256
"""The fields of a run with fewer bytes are read one by one, since a new walk begins after each run."""


def memory_if_exceeding(skeleton: Skeleton, message: str, limit: int, *, shares_forms: bool = False) -> int | None:
    """Return the bytes of memory that a message of the type `message` needs; None if they do not exceed the limit.

    A message that cannot be split is counted up to the fault. `shares_forms`: whether the loader parses equal forms of
    nodes, and equal types of values, only once. A message above the limit is then counted a second time, without what
    that saves.
    """
    lists = _needed_by_lists(skeleton)
    if skeleton.size * MAX_MEMORY_PER_INPUT_BYTE + lists <= limit:
        return None
    needed = _counted(_Estimate(), skeleton, message)
    if needed + lists > limit and shares_forms:
        with suppress(_NotSharedError):
            needed = min(needed, _counted(_Estimate(_SharedForms()), skeleton, message))
    return needed + lists if needed + lists > limit else None


def _counted(estimate: _Estimate, skeleton: Skeleton, message: str) -> int:
    for piece in skeleton.pieces():
        estimate.add_message(message, piece, 0)
    return estimate.bytes


def _needed_by_lists(skeleton: Skeleton) -> int:
    needed = 0
    for parts in skeleton.long_lists.values():
        for part in parts:
            is_packed = part.packed and part.field == "ints"
            needed += part.length * (_BYTES_PER_PACKED_BYTE if is_packed else _BYTES_PER_LISTED_BYTE)
    return needed


@cache
def _weights(message: str) -> Mapping[int, tuple[int, str | None]]:
    """Return by number the fields that count: the weight of an occurrence, and the message to look into."""
    found: dict[int, tuple[int, str | None]] = {}
    for number, field in wire.fields(message).items():
        weight_of_single = _BYTES_PER_SINGLE_MESSAGE if field.message else 0
        usual = _BYTES_PER_LIST_ENTRY if field.repeated else weight_of_single
        weight = _BYTES_PER_FIELD.get(f"{message}.{field.name}", _BYTES_PER_MESSAGE.get(field.message or "", usual))
        if weight:
            found[number] = weight, field.message if field.message and _has_parts(field.message) else None
    return found


def _has_parts(message: str) -> bool:
    """Return whether the message may hold more than numbers and strings: then the estimate looks into it."""
    return message in _BYTES_PER_MESSAGE or any(part.message or part.repeated for part in wire.fields(message).values())


_NO_WEIGHT: Final = 0, None


class _NotSharedError(Exception):
    """A node is encoded so that no later node of its graph is read as one with the same form."""


class _SharedForms:
    """Splits a node into its own fields and its form: operator and attributes, which other nodes may share.

    The conditions are those of onnx_lint.ir.columns.nodes, so that what counts as shared is shared.
    """

    def __init__(self) -> None:
        self._forms: dict[tuple[bytes, bytes], bool] = {}
        """The forms so far, and whether later nodes share the form: not if it holds a graph."""
        self._types: set[bytes] = set()

    def new_types(self, types: Iterable[bytes]) -> list[bytes]:
        """Return the types that no earlier value has: equal ones are one object, and are parsed once."""
        found = list(set(types) - self._types - {b""})
        self._types.update(found)
        return found

    def split(self, data: bytes) -> tuple[bytes, int]:
        """Return what a node does not share with an earlier one, and how much less it needs for what it shares.

        Raises _NotSharedError if the fields are not as the columns of nodes read them.
        """
        own, form, names = _own_and_form(data)
        if len(form) > MAX_SHARED_BYTES or len(names) > MAX_SHARED_NAMES:
            return data, 0
        key = form, names
        is_shared = self._forms.get(key)
        if is_shared is None:
            checked = _checked_fields(form)
            if not checked.is_canonical:
                raise _NotSharedError
            if len(self._forms) == _MAX_FORMS:
                self._forms.clear()
            self._forms[key] = not checked.holds_graphs
        if not is_shared:  # the first node with a form is counted in full
            return data, 0
        return own, _SAVED_PER_NAME * len(names) + _SAVED_PER_FORM_BYTE * len(form)


def _own_and_form(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the fields of a node that are its own, those of its form, and a byte for each of its inputs and outputs.

    Raises _NotSharedError if the fields are not in the order and the encoding of Protocol Buffers.
    """
    own: list[bytes] = []
    form: list[bytes] = []
    names = bytearray()
    position = tag = 0
    try:
        while position < len(data):
            start, before, tag = position, tag, data[position]  # each tag of a node is one byte
            length, position = wire.decode_varint(data, start + 1)
            has_shortest_length = position - start - 1 == max(1, (length.bit_length() + 6) // 7)  # seven bits a byte
            if tag < before or tag not in _TAGS_OF_NODE or not has_shortest_length:
                raise _NotSharedError
            position += length
            if tag <= _OUTPUT:
                names.append(tag if length else tag + 1)  # an omitted operand makes another form
            (form if tag in _TAGS_OF_FORM else own).append(data[start:position])
            if tag in _TAGS_OF_NESTED and not _checked_fields(own[-1]).is_canonical:
                raise _NotSharedError
    except (IndexError, OverflowError):
        raise _NotSharedError from None
    if position != len(data):
        raise _NotSharedError
    return b"".join(own), b"".join(form), bytes(names)


class _CheckedFields(Record):
    """The facts about some fields of a node that decide whether its form is shared."""

    is_canonical: bool
    """True if Protocol Buffers writes the fields with the same bytes."""
    holds_graphs: bool


def _checked_fields(data: bytes) -> _CheckedFields:
    try:
        node = schema.nodeless("NodeProto").FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        schema.raise_lack_of_memory(error)
        return _CheckedFields(is_canonical=False, holds_graphs=False)
    node.DiscardUnknownFields()
    # The parser reads types again, because they may be too deep.
    has_types = any(each.HasField("tp") or each.type_protos for each in node.attribute)
    holds_graphs = any(each.HasField("g") or each.graphs for each in node.attribute)
    return _CheckedFields(not has_types and node.SerializePartialToString() == data, holds_graphs)


_TAGS: Final = {field.name: field.number << 3 | WireType.LEN for field in wire.fields("NodeProto").values()}
_OUTPUT: Final = _TAGS["output"]
_TAGS_OF_NODE: Final = frozenset(_TAGS.values())
_TAGS_OF_FORM: Final = frozenset({_TAGS["op_type"], _TAGS["attribute"], _TAGS["domain"], _TAGS["overload"]})
_TAGS_OF_NESTED: Final = frozenset({_TAGS["metadata_props"], _TAGS["device_configurations"]})
_MAX_FORMS: Final = 2_048
"""The limit on remembered forms; the columns of nodes keep twice as many."""

_SAVED_PER_NODE: Final = 550
"""Bytes that a node saves whose form an earlier node has."""
_SAVED_PER_NAME: Final = 150
"""Bytes that such a node saves for each of its inputs and outputs."""
_SAVED_PER_FORM_BYTE: Final = 2
"""Bytes that such a node saves for each byte of its form."""
_BYTES_PER_SHARED_TYPE: Final = 20
"""Bytes for a type that an earlier value has as well."""


class _Estimate:
    """The sum of an estimate.

    `times`, in all methods: how often a message is counted. `depth`: how many messages are around it.
    """

    def __init__(self, shared: _SharedForms | None = None) -> None:
        self.bytes = 0
        self._shared = shared
        """The forms of the nodes so far; None to count every node in full."""

    def add_message(self, name: str, content: bytes, depth: int, times: int = 1) -> None:
        """Count one message. That of the file, at depth 0, includes the bytes of all messages in it."""
        if not depth:
            self.bytes += BYTES_PER_INPUT_BYTE * len(content)
        if depth > MAX_DEPTH:
            return  # the parser rejects it
        if len(content) > _PIECE_BYTES:
            self._add_large(name, content, depth, times)
        else:
            self._add_small(name, content, depth, times)

    def _add_messages(self, name: str, contents: Iterable[bytes], depth: int, times: int) -> None:
        """Count messages of one type. One parse counts small ones together: it merges concatenated messages."""
        if depth > MAX_DEPTH:
            return
        contents = list(contents)
        if sum(map(len, contents)) <= _PIECE_BYTES:
            if any(contents):
                self._add_small(name, b"".join(contents), depth, times)
            return
        pending: list[bytes] = []
        size = 0
        for content in contents:
            if len(content) > _PIECE_BYTES:
                self._add_large(name, content, depth, times)
                continue
            pending.append(content)
            size += len(content)
            if size >= _PIECE_BYTES:
                self._add_small(name, b"".join(pending), depth, times)
                pending.clear()
                size = 0
        if pending:
            self._add_small(name, b"".join(pending), depth, times)

    def _add_small(self, name: str, piece: bytes, depth: int, times: int) -> None:
        """Count the fields of consecutive messages."""
        check_deadline()
        try:
            merged = schema.columns(name).FromString(piece)
        except (DecodeError, UnicodeDecodeError) as error:
            schema.raise_lack_of_memory(error)
            self._add_one_by_one(name, piece, depth, times)
            return
        weights = _weights(name)
        for descriptor, values in merged.ListFields():
            weight, message = weights.get(descriptor.number, _NO_WEIGHT)
            if name == "ValueInfoProto" and message in _OFTEN_REPEATED and self._shared is not None:
                types = self._shared.new_types(values)
                known = len(values) - len(types)
                self.bytes += times * (weight * len(types) + _BYTES_PER_SHARED_TYPE * known)
                self._add_messages(message, types, depth + 1, times)
                continue
            self.bytes += weight * len(values) * times
            if message == "NodeProto":
                self._add_nodes(values, name, depth + 1, times)
            elif message in _OFTEN_REPEATED:
                self._add_equal_messages(message, values, depth + 1, times)
            elif message is not None:
                self._add_messages(message, filter(None, values), depth + 1, times)

    def _add_equal_messages(self, name: str, contents: Iterable[bytes], depth: int, times: int) -> None:
        """Count messages that may be equal: each is parsed once."""
        equal: dict[int, list[bytes]] = {}
        for content, count in Counter(contents).items():
            equal.setdefault(count, []).append(content)
        for count, each in equal.items():
            self._add_messages(name, each, depth, times * count)

    def _add_nodes(self, values: Iterable[bytes], within: str, depth: int, times: int) -> None:
        """Count the contents of nodes in a graph, or in a function."""
        times_of_contents = times * _FUNCTION_NODE_FACTOR if within == "FunctionProto" else times
        if self._shared is not None:
            parts = list(map(self._shared.split, values))
            values = [own for own, _ in parts]
            self.bytes -= sum([times * _SAVED_PER_NODE + times_of_contents * saved for _, saved in parts if saved])
        self._add_messages("NodeProto", filter(None, values), depth, times_of_contents)

    def _add_one_by_one(self, name: str, piece: bytes, depth: int, times: int) -> None:
        """Count the fields of messages that the parser rejects: a string is not UTF-8, or there is a worse fault."""
        if self._shared is not None:
            raise _NotSharedError
        fields = wire.fields(name)
        with suppress(WireError):  # the rest is not parsed either
            for number, wire_type, _, value, following in wire.records(
                BytesSource(piece), 0, len(piece), inside_groups=False
            ):
                field = fields.get(number)
                if field is not None and field.accepts(wire_type):
                    self._add_record(name, field, wire_type, piece[value:following], depth, times)

    def _add_record(self, name: str, field: wire.Field, wire_type: int, content: bytes, depth: int, times: int) -> None:
        """Count one field, which may be a packed list."""
        self._add_field(name, field, (1 if wire_type == field.wire_type else _packed_count(field, content)) * times)
        if field.message is not None and content:
            if field.message == "NodeProto":
                self._add_nodes([content], name, depth + 1, times)
            else:
                self.add_message(field.message, content, depth + 1, times)

    def _add_field(self, name: str, field: wire.Field, count: int) -> None:
        """Count occurrences of a field of the message `name`."""
        self.bytes += _weights(name).get(field.number, _NO_WEIGHT)[0] * count

    def _add_large(self, name: str, content: bytes, depth: int, times: int) -> None:
        """Count the fields of a large message: small ones together, and long lists in bulk."""
        fields = wire.fields(name)
        for piece in _pieces(name, content):
            if isinstance(piece, _SmallFields):
                self._add_small(name, content[piece.start : piece.end], depth, times)
                continue
            field = fields.get(piece.number)
            if field is not None and piece.wire_type == RUN:
                self._add_field(name, field, _run_count(field, content, piece.start, piece.end) * times)
            elif field is not None and field.accepts(piece.wire_type):
                self._add_record(name, field, piece.wire_type, content[piece.value : piece.end], depth, times)


class _SmallFields(Record):
    """A part of a large message with small fields of any number."""

    start: int
    end: int


class _LargeField(Record):
    """A large field of a message, or a run of equal small fields."""

    number: int
    wire_type: int
    """The wire type of the field; RUN for a run."""
    start: int
    """The position of the tag, the first one of a run."""
    value: int
    """The position of the value."""
    end: int


def _pieces(name: str, content: bytes) -> Iterator[_SmallFields | _LargeField]:
    """Yield the content of a large message: long runs and large fields by themselves, the small fields between them."""
    source, end = BytesSource(content), len(content)
    first_small = 0  # the start of the small fields that are not yet yielded
    position = 0
    with suppress(WireError):  # the rest is one piece
        while position < end:
            start = position
            for number, wire_type, tag, value, following in records_of(source, name, start, end):
                position = following
                if wire_type == RUN or following - tag > _PIECE_BYTES:
                    yield _SmallFields(first_small, tag)
                    yield _LargeField(number, wire_type, tag, value, following)
                    first_small = following
                    continue
                if following - first_small >= _PIECE_BYTES:
                    yield _SmallFields(first_small, following)
                    first_small = following
                if wire_type == WireType.LEN:
                    position = _end_of_run(source, content[tag], following, min(end, first_small + _PIECE_BYTES))
                    if position > following:
                        break  # the walk begins again after the run
            position = wire.advanced(start, position)  # raises WireError if nothing was read: no endless loop
    yield _SmallFields(first_small, end)


def _end_of_run(source: BytesSource, tag: int, start: int, most: int) -> int:
    """Return the end of the short fields with a tag from `start` on; `start` if skipping them is not worthwhile."""
    end, _ = wire.skip_short(source, start, most, tag, wire.MAX_SHORT_BYTES)
    return end if end - start > _MIN_RUN_BYTES else start


def _packed_count(field: wire.Field, content: bytes) -> int:
    """Return the number of elements of a packed list."""
    size = wire.FIXED_BYTES.get(field.wire_type)
    return len(content) // size if size else len(content.translate(None, wire.CONTINUED_BYTES))


def _run_count(field: wire.Field, content: bytes, start: int, end: int) -> int:
    """Return the number of fields in a run from `start` to `end`, each with a tag of one byte."""
    if field.wire_type == WireType.LEN:
        return wire.skip_short(BytesSource(content), start, end, content[start], wire.MAX_SHORT_BYTES)[1]
    size = wire.FIXED_BYTES.get(field.wire_type)
    return (end - start) // (size + 1) if size else len(content[start:end].translate(None, wire.CONTINUED_BYTES)) // 2
