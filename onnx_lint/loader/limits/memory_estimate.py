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


def memory_if_exceeding(skeleton: Skeleton, message_type: str, limit: int, *, shares_forms: bool = False) -> int | None:
    """Return the bytes of memory that a message of this type needs; None if they do not exceed the limit.

    A message that cannot be split is counted up to the fault. `shares_forms`: whether the loader parses equal forms of
    nodes, and equal types of values, only once. A message above the limit is then counted a second time, without what
    that saves.
    """
    lists = _needed_by_lists(skeleton)
    if skeleton.size * MAX_MEMORY_PER_INPUT_BYTE + lists <= limit:
        return None
    needed = _counted(_Estimate(), skeleton, message_type)
    if needed + lists > limit and shares_forms:
        with suppress(_NotSharedError):
            needed = min(needed, _counted(_Estimate(_SharedForms()), skeleton, message_type))
    return needed + lists if needed + lists > limit else None


def _counted(estimate: _Estimate, skeleton: Skeleton, message_type: str) -> int:
    for piece in skeleton.pieces():
        estimate.add_message(message_type, piece, 0)
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


class _NotSharedError(Exception):
    """Raised if the second estimate cannot be made.

    A message is encoded so that the loader may not parse equal forms once.
    """


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
        own, form, operands = _own_and_form(data)
        if len(form) > MAX_SHARED_BYTES or len(operands) > MAX_SHARED_NAMES:
            return data, 0
        key = form, operands
        is_shared = self._forms.get(key)
        if is_shared is None:
            checked = _checked_fields(form)
            if not checked.can_be_shared:
                raise _NotSharedError
            if len(self._forms) == _MAX_FORMS:
                self._forms.clear()
            self._forms[key] = not checked.holds_graphs
        if not is_shared:  # the first node with a form is counted in full
            return data, 0
        return own, _SAVED_PER_OPERAND * len(operands) + _SAVED_PER_FORM_BYTE * len(form)


def _own_and_form(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the fields of a node that are its own, those of its form, and a byte for each of its operands.

    The byte is the tag of the operand, and one more if it is omitted: that makes another form.

    Raises _NotSharedError if the fields are not in the order and the encoding of Protocol Buffers.
    """
    own: list[bytes] = []
    form: list[bytes] = []
    operands = bytearray()
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
                operands.append(tag if length else tag + _OMITTED)
            (form if tag in _TAGS_OF_FORM else own).append(data[start:position])
            if tag in _TAGS_OF_NESTED and not _checked_fields(own[-1]).can_be_shared:
                raise _NotSharedError
    except (IndexError, OverflowError):
        raise _NotSharedError from None
    if position != len(data):
        raise _NotSharedError
    return b"".join(own), b"".join(form), bytes(operands)


class _CheckedFields(Record):
    """The facts about some fields of a node that decide whether its form is shared."""

    can_be_shared: bool
    """True if the loader parses equal fields once: they have no types, and are encoded as Protocol Buffers does it."""
    holds_graphs: bool


def _checked_fields(data: bytes) -> _CheckedFields:
    try:
        node = schema.nodeless("NodeProto").FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        schema.raise_lack_of_memory(error)
        return _CheckedFields(can_be_shared=False, holds_graphs=False)
    node.DiscardUnknownFields()
    # The parser reads types again, because they may be too deep.
    has_types = any(each.HasField("tp") or each.type_protos for each in node.attribute)
    holds_graphs = any(each.HasField("g") or each.graphs for each in node.attribute)
    return _CheckedFields(not has_types and node.SerializePartialToString() == data, holds_graphs)


_TAGS: Final = {field.name: field.number << 3 | WireType.LEN for field in wire.fields("NodeProto").values()}
_OUTPUT: Final = _TAGS["output"]
_OMITTED: Final = 1
"""Added to the tag of an omitted input or output; the tags of present ones differ by more."""
_TAGS_OF_NODE: Final = frozenset(_TAGS.values())
_TAGS_OF_FORM: Final = frozenset({_TAGS["op_type"], _TAGS["attribute"], _TAGS["domain"], _TAGS["overload"]})
_TAGS_OF_NESTED: Final = frozenset({_TAGS["metadata_props"], _TAGS["device_configurations"]})
_MAX_FORMS: Final = 2_048
"""The limit on remembered forms; the columns of nodes keep twice as many."""

_SAVED_PER_NODE: Final = 550
"""Bytes that a node saves whose form an earlier node has."""
_SAVED_PER_OPERAND: Final = 150
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

    def add_message(self, message_type: str, content: bytes, depth: int, times: int = 1) -> None:
        """Count one message. That of the file, at depth 0, includes the bytes of all messages in it."""
        if not depth:
            self.bytes += BYTES_PER_INPUT_BYTE * len(content)
        if depth > MAX_DEPTH:
            return  # the parser rejects it
        if len(content) > _PIECE_BYTES:
            self._add_large(message_type, content, depth, times)
        else:
            self._add_small(message_type, content, depth, times)

    def _add_messages(self, message_type: str, contents: Iterable[bytes], depth: int, times: int) -> None:
        """Count messages of one type. Small ones are parsed at once: the parser merges concatenated messages."""
        if depth > MAX_DEPTH:
            return
        contents = list(contents)
        # Nearly all lists are small, and one join has less to do than the loop for each of their elements.
        if sum(map(len, contents)) <= _PIECE_BYTES:
            if any(contents):
                self._add_small(message_type, b"".join(contents), depth, times)
            return
        pending: list[bytes] = []
        size = 0
        for content in contents:
            if len(content) > _PIECE_BYTES:
                self._add_large(message_type, content, depth, times)
                continue
            pending.append(content)
            size += len(content)
            if size >= _PIECE_BYTES:
                self._add_small(message_type, b"".join(pending), depth, times)
                pending.clear()
                size = 0
        if pending:
            self._add_small(message_type, b"".join(pending), depth, times)

    def _add_small(self, message_type: str, piece: bytes, depth: int, times: int) -> None:
        """Count the fields of consecutive messages."""
        check_deadline()
        try:
            merged = schema.columns(message_type).FromString(piece)
        except (DecodeError, UnicodeDecodeError) as error:
            schema.raise_lack_of_memory(error)
            self._add_one_by_one(message_type, piece, depth, times)
            return
        weights = _weights(message_type)
        for descriptor, values in merged.ListFields():
            weight = weights.get(descriptor.number, _NO_WEIGHT)
            inner_type = weight.inner_type
            if message_type == "ValueInfoProto" and inner_type in _OFTEN_REPEATED and self._shared is not None:
                types = self._shared.new_types(values)
                known = len(values) - len(types)
                self.bytes += times * (weight.bytes * len(types) + _BYTES_PER_SHARED_TYPE * known)
                self._add_messages(inner_type, types, depth + 1, times)
                continue
            self.bytes += weight.bytes * len(values) * times
            if inner_type == "NodeProto":
                self._add_nodes(values, message_type, depth + 1, times)
            elif inner_type in _OFTEN_REPEATED:
                self._add_equal_messages(inner_type, values, depth + 1, times)
            elif inner_type is not None:
                self._add_messages(inner_type, filter(None, values), depth + 1, times)

    def _add_equal_messages(self, message_type: str, contents: Iterable[bytes], depth: int, times: int) -> None:
        """Count messages that may be equal: each is parsed once."""
        equal: dict[int, list[bytes]] = {}
        for content, count in Counter(contents).items():
            equal.setdefault(count, []).append(content)
        for count, each in equal.items():
            self._add_messages(message_type, each, depth, times * count)

    def _add_nodes(self, values: Iterable[bytes], graph_type: str, depth: int, times: int) -> None:
        """Count the contents of nodes in a graph, or in a function."""
        times_of_contents = times * _FUNCTION_NODE_FACTOR if graph_type == "FunctionProto" else times
        if self._shared is not None:
            parts = list(map(self._shared.split, values))
            values = [own for own, _ in parts]
            self.bytes -= sum([times * _SAVED_PER_NODE + times_of_contents * saved for _, saved in parts if saved])
        self._add_messages("NodeProto", filter(None, values), depth, times_of_contents)

    def _add_one_by_one(self, message_type: str, piece: bytes, depth: int, times: int) -> None:
        """Count the fields of messages that the parser rejects: a string is not UTF-8, or there is a worse fault."""
        if self._shared is not None:
            raise _NotSharedError
        fields = wire.fields(message_type)
        with suppress(WireError):  # the rest is not parsed either
            for number, wire_type, _, value, following in wire.records(
                BytesSource(piece), 0, len(piece), inside_groups=False
            ):
                field = fields.get(number)
                if field is not None and field.accepts(wire_type):
                    self._add_record(message_type, field, wire_type, piece[value:following], depth, times)

    def _add_record(
        self, message_type: str, field: wire.Field, wire_type: int, content: bytes, depth: int, times: int
    ) -> None:
        """Count one field, which may be a packed list."""
        self._add_field(
            message_type, field, (1 if wire_type == field.wire_type else _packed_count(field, content)) * times
        )
        if field.message is not None and content:
            if field.message == "NodeProto":
                self._add_nodes([content], message_type, depth + 1, times)
            else:
                self.add_message(field.message, content, depth + 1, times)

    def _add_field(self, message_type: str, field: wire.Field, count: int) -> None:
        """Count occurrences of a field of the message `message_type`."""
        self.bytes += _weights(message_type).get(field.number, _NO_WEIGHT).bytes * count

    def _add_large(self, message_type: str, content: bytes, depth: int, times: int) -> None:
        """Count the fields of a large message: small ones together, and long lists in bulk."""
        fields = wire.fields(message_type)
        for piece in _pieces(message_type, content):
            if isinstance(piece, _SmallFields):
                self._add_small(message_type, content[piece.start : piece.end], depth, times)
                continue
            field = fields.get(piece.number)
            if field is not None and piece.wire_type == RUN:
                self._add_field(message_type, field, _run_count(field, content, piece.start, piece.end) * times)
            elif field is not None and field.accepts(piece.wire_type):
                self._add_record(message_type, field, piece.wire_type, content[piece.value : piece.end], depth, times)


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


def _pieces(message_type: str, content: bytes) -> Iterator[_SmallFields | _LargeField]:
    """Yield the content of a large message: long runs and large fields by themselves, the small fields between them."""
    source, end = BytesSource(content), len(content)
    first_small = 0  # the start of the small fields that are not yet yielded
    position = 0
    with suppress(WireError):  # the rest is one piece
        while position < end:
            start = position
            for number, wire_type, tag_at, value_at, next_at in records_of(source, message_type, start, end):
                position = next_at
                if wire_type == RUN or next_at - tag_at > _PIECE_BYTES:
                    yield _SmallFields(first_small, tag_at)
                    yield _LargeField(number, wire_type, tag_at, value_at, next_at)
                    first_small = next_at
                    continue
                if next_at - first_small >= _PIECE_BYTES:
                    yield _SmallFields(first_small, next_at)
                    first_small = next_at
                if wire_type == WireType.LEN:
                    position = _end_of_run(source, content[tag_at], next_at, min(end, first_small + _PIECE_BYTES))
                    if position > next_at:
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
    if size:
        return (end - start) // (size + 1)
    # Two bytes of each field are not continued: the tag, and the last one of the number.
    return len(content[start:end].translate(None, wire.CONTINUED_BYTES)) // 2
