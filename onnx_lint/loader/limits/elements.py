# SPDX-License-Identifier: Apache-2.0
"""Counts the elements of a serialized message before it is parsed, and what memory they will take up.

An empty message takes up two bytes of a file and hundreds in memory. What is small is counted by the parser of Protocol
Buffers, with messages left as bytes, level by level; what is large is split into pieces first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.columns.nodes import MAX_SHARED_BYTES
from onnx_lint.loader.binary.runs import RUN, records_of
from onnx_lint.loader.binary.strip_payloads import MAX_DEPTH, PIECE_BYTES, Skeleton
from onnx_lint.loader.limits.element_weights import OF_SHARED_TENSORS, PAID_FOR, ElementBudget
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

_PIECE_BYTES: Final = PIECE_BYTES + wire.MOST_SHORT_BYTES
"""How many bytes are counted at a time: as many as a piece of a skeleton has (docs/performance.md: counted-pieces).

Larger messages are looked at by themselves.
"""

_CONTINUED: Final = bytes(range(0x80, 0x100))
"""All bytes of varints but the last ones."""


_OF_LEVEL: Final = 550
"""What a sequence, map or optional in the type of a value takes up, with the words for it."""
_FREE_LEVELS: Final = 3
_LEVELS: Final = (b"\x22", b"\x2a", b"\x4a")
"""The tags of sequence_type, map_type and optional_type; these bytes may be anything else as well."""

_OF_DISTINCT_IMPORT: Final = 2_600
"""What goes with each operator set that only one function imports: functions that import the same share operators."""

_OF_SHARED_TYPE: Final = 60
"""What a value takes up whose type another one has as well."""

_INPUT: Final = 0x0A
_OUTPUT: Final = 0x12
_TAGS_OF_NODE: Final = frozenset(field.number << 3 | WireType.LEN for field in wire.fields("NodeProto").values())
_NAME: Final = 0x1A
_ANNOTATIONS: Final = frozenset({0x32, 0x4A, 0x52})
"""The tags of doc_string, metadata_props and device_configurations."""
_MOST_FORMS: Final = 2_048
"""So many forms are remembered; the columns remember twice as many."""

_WORTHWHILE: Final = 256
"""So many bytes of a row are to be passed over at once, or the walk is not begun anew behind them."""


def count_elements(skeleton: Skeleton, message: str, most_bytes: int, *, shares_forms: bool = False) -> None:
    """Count the elements of the message called `message` that the skeleton holds.

    `shares_forms` takes the time to see which nodes differ in names alone, as most of a large model do: what else they
    have is there once.

    Raises TooManyElementsError when they take up more than `most_bytes` bytes of memory beyond those that their own
    bytes pay for. What cannot be split is counted up to there.
    """
    count = _Count(most_bytes + PAID_FOR * skeleton.size, shares_forms=shares_forms)
    for piece in skeleton.pieces():
        count.add(piece, message)


class _Count:
    def __init__(self, most_bytes: int, *, shares_forms: bool) -> None:
        self.budget = ElementBudget(most_bytes)
        self.shares_forms = shares_forms
        self.forms: dict[tuple[bytes, int, int], int | None] = {}
        """What nodes have beside names that have been counted, and what each further node of the form takes up.

        None where that is as much as the first one does.
        """
        self.imports: set[bytes] = set()
        """The operator sets that functions import."""
        self.types: dict[bytes, int] = {}
        """The types that have been counted, as equal ones are parsed once, and what each value of them takes up."""

        self.operands = 0
        """How many names of operands stand in nodes of forms that had been counted; they are taken with their piece."""
        self.names = 0
        """How many of these nodes have a name."""
        self.functions: set[int] = set()
        """What functions that have been counted have beside their names."""

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
        fields = wire.fields("NodeProto")
        self.budget.take("NodeProto", fields[_INPUT >> 3], self.operands)
        self.budget.take("NodeProto", fields[_NAME >> 3], self.names)
        self.operands = self.names = 0

    def level(self, name: str, contents: list[bytes], inner: dict[str, list[bytes]]) -> None:
        """Count the fields of these messages; what is in the messages among them is added to `inner`."""
        if sum(map(len, contents)) <= _PIECE_BYTES:
            self.small(name, b"".join(contents), inner)
            return
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
            self.budget.take(name, field, len(values))
            if field.message == "NodeProto":
                values = self.distinct_nodes(values) if self.shares_forms else self.nodes(values)
            elif field.message == "FunctionProto":
                values = self.distinct_functions(values)
            elif field.message == "OperatorSetIdProto" and name == "FunctionProto":
                new = set(values) - self.imports
                self.imports |= new
                self.budget.spend(len(new) * _OF_DISTINCT_IMPORT)
            if field.message is not None:
                inner.setdefault(field.message, []).extend(filter(None, values))

    def distinct_types(self, values: Iterable[bytes]) -> list[bytes]:
        """The types among these that are new; the values of all of them are counted by how deep their type nests."""
        found: list[bytes] = []
        for value, count in Counter(values).items():
            if value not in self.types:
                found.append(value)
                self.types[value] = _OF_LEVEL * max(sum(map(value.count, _LEVELS)) - _FREE_LEVELS, 0)
            self.budget.spend(count * (_OF_SHARED_TYPE + self.types[value]))
        return found

    def nodes(self, values: Sequence[bytes]) -> Sequence[bytes]:
        """The nodes, each of which is counted as if there were none like it."""
        self.budget.take_forms(len(values))
        return values

    def distinct_nodes(self, values: Iterable[bytes]) -> list[bytes]:
        """What is to be counted of these nodes: names, and what else there is of those that are new.

        Most nodes are of a form that has been counted: those are gone through in one loop without calls
        (docs/performance.md: counted-forms).
        """
        found: list[bytes] = []
        further_of = self.forms.get
        operands = names = 0
        for value in values:
            position = inputs = outputs = 0
            try:
                while value[position] == _INPUT:
                    length = value[position + 1]
                    if not 0 < length < 0x80:
                        raise IndexError
                    position += length + 2
                    inputs += 1
                while value[position] == _OUTPUT:
                    length = value[position + 1]
                    if not 0 < length < 0x80:
                        raise IndexError
                    position += length + 2
                    outputs += 1
                has_name = value[position] == _NAME
                if has_name:
                    length = value[position + 1]
                    if length >= 0x80:
                        raise IndexError
                    position += length + 2
                # What has an annotation is not among the forms, which have none.
                further = further_of((value[position:], inputs, outputs))
            except IndexError:
                further = None
            if further is None:
                self.distinct_node(value, found)
                continue
            operands += inputs + outputs
            names += has_name
            if further:
                self.budget.spend(further)
        self.operands += operands
        self.names += names
        return found

    def distinct_node(self, value: bytes, found: list[bytes]) -> None:
        """Add to `found` what is to be counted of a node, and note its form."""
        parts = _parts_of_node(value)
        if parts is None:
            self.budget.take_forms(1)
            found.append(value)
            return
        own, key = parts
        further = self.forms.get(key)
        if further is None:
            found.append(own + key[0])
        else:
            found.append(own)
            self.budget.spend(further)
        if key not in self.forms:
            self.budget.take_forms(1)
            if len(key[0]) <= MAX_SHARED_BYTES:
                if len(self.forms) >= _MOST_FORMS:
                    self.forms.clear()
                self.forms[key] = _bytes_of_further(key[0])

    def distinct_functions(self, values: Iterable[bytes]) -> list[bytes]:
        """What is to be counted of these functions: of one that differs from another in its name alone not the nodes.

        They are read into columns once, see `Function.twin`.
        """
        found: list[bytes] = []
        for value in values:
            try:
                function = schema.columns("FunctionProto").FromString(value)
            except (DecodeError, UnicodeDecodeError) as error:
                schema.raise_lack_of_memory(error)
                found.append(value)
                continue
            function.ClearField("name")
            # In a set of hashes, as contents take up memory themselves; whoever makes two equal gains nothing by it.
            key = hash(function.SerializePartialToString())
            if key in self.functions:
                function.ClearField("node")
                value = function.SerializePartialToString()
            self.functions.add(key)
            found.append(value)
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
        self.budget.take(name, field, 1 if wire_type == field.wire_type else _packed_count(field, content))
        if field.message == "NodeProto":
            self.budget.take_forms(1)
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
                            self.budget.take(name, field, _run_count(field, content, tag, following))
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


def _parts_of_node(data: bytes) -> tuple[bytes, tuple[bytes, int, int]] | None:
    """What a node has of its own, and what decides its form: all else, and how many inputs and outputs it has.

    None where the columns of nodes do not read the node so: see onnx_lint.ir.columns.nodes.
    """
    own: list[bytes] = []
    shared: list[bytes] = []
    inputs = outputs = position = tag = 0
    try:
        while position < len(data):
            start, before, tag = position, tag, data[position]
            if tag < before or tag not in _TAGS_OF_NODE:
                return None
            length, position = wire.decode_varint(data, start + 1)
            if not length and tag <= _OUTPUT:
                return None
            position += length
            inputs += tag == _INPUT
            outputs += tag == _OUTPUT
            (own if tag <= _NAME or tag in _ANNOTATIONS else shared).append(data[start:position])
    except (IndexError, OverflowError):
        return None
    return b"".join(own), (b"".join(shared), inputs, outputs)


def _bytes_of_further(node: bytes) -> int | None:
    """What each further node takes up that has such a rest, beside its names.

    None where an attribute holds a graph or a type, each of which is looked at in every node that has it.
    """
    try:
        attributes = schema.columns("NodeProto").FromString(node).attribute
        merged = schema.columns("AttributeProto").FromString(b"".join(attributes))
    except (DecodeError, UnicodeDecodeError) as error:
        schema.raise_lack_of_memory(error)
        return None
    fields = wire.fields("AttributeProto")
    messages = {fields[descriptor.number].message for descriptor, _ in merged.ListFields()} - {None}
    if not messages:
        return 0
    return OF_SHARED_TENSORS * (len(merged.t) + len(merged.tensors)) if messages == {"TensorProto"} else None


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
