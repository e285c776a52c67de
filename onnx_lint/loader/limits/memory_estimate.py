# SPDX-License-Identifier: Apache-2.0
"""Estimates the memory that a message will need, before it is parsed.

An empty message takes two bytes of a file and hundreds in memory. So the estimate counts messages, and elements of
lists, and gives each of three kinds a fixed weight. It is linear and may be wrong by a factor of two.
docs/design.md has the measured memory of models of each kind, and `benchmarks/memory.py` measures it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.runs import RUN, records_of
from onnx_lint.loader.binary.strip_payloads import MAX_DEPTH, PIECE_BYTES, Skeleton
from onnx_lint.loader.limits.not_checked import MOST_OF_BYTE
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

OF_BYTE: Final = 5
"""Bytes of memory for each byte of the message."""

_OF_LISTED_BYTE: Final = 3
"""For each byte of a long list that stays in the file: rules read numbers into arrays, most of them of 32 bits."""
_OF_PACKED_BYTE: Final = 8
"""For each byte of such a list of packed integers, which may have one byte each."""

_OF_SCOPE: Final = 5_000
"""For a graph or function: its names, types and order are kept beside its parts."""
_SCOPES: Final = frozenset({"GraphProto", "FunctionProto"})

_OF_MESSAGE: Final = 1_000
_MESSAGES: Final = frozenset(
    {
        "AttributeProto",
        "MapProto",
        "NodeDeviceConfigurationProto",
        "NodeProto",
        "OptionalProto",
        "SequenceProto",
        "ShardingSpecProto",
        "SparseTensorProto",
        "TensorProto",
    }
)

_OF_PART: Final = 200
"""For any other message, and for each string or number of a list."""

_MOST_FORMS: Final = 2_048
"""The limit on the forms of nodes that are kept; the columns of nodes keep twice as many."""

_INPUT: Final = 0x0A
_OUTPUT: Final = 0x12
_NAME: Final = 0x1A
_TAGS_OF_NODE: Final = frozenset(field.number << 3 | WireType.LEN for field in wire.fields("NodeProto").values())
_ANNOTATIONS: Final = frozenset({0x32, 0x4A, 0x52})
"""The tags of doc_string, metadata_props and device_configurations."""

_PIECE_BYTES: Final = PIECE_BYTES + wire.MOST_SHORT_BYTES
"""The number of bytes that are counted at a time. Larger messages are split."""

_WORTHWHILE: Final = 256
"""A run of fewer bytes is not worth a new walk behind it."""


def needed_memory(skeleton: Skeleton, message: str, limit: int) -> int | None:
    """Return the estimate for the message called `message`; None if it does not exceed the limit.

    The first pass counts each node separately, and stops at the limit. If it reaches the limit, a second pass finds the
    nodes that differ only in names, as most nodes of a large model do: their attributes are counted once. A message
    that cannot be split is counted up to the fault.
    """
    if skeleton.size * MOST_OF_BYTE + _needed_by_lists(skeleton) <= limit:
        return None
    try:
        _estimate(_Estimate(limit), skeleton, message)
    except _LimitReachedError:
        exact = _Estimate(None)
        _estimate(exact, skeleton, message)
        return exact.bytes if exact.bytes > limit else None
    return None


def _needed_by_lists(skeleton: Skeleton) -> int:
    parts = [part for parts in skeleton.long_lists.values() for part in parts]
    return sum(
        part.length * (_OF_PACKED_BYTE if part.packed and part.field == "ints" else _OF_LISTED_BYTE) for part in parts
    )


def _estimate(estimate: _Estimate, skeleton: Skeleton, message: str) -> None:
    estimate.spend(_needed_by_lists(skeleton))
    for piece in skeleton.pieces():
        estimate.message(message, piece, 0)


class _LimitReachedError(Exception):
    """The first pass needs to count no more."""


class _Estimate:
    """Adds up bytes of memory, down to the innermost messages of one piece before the next piece."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        """The bytes at which to stop; None to count to the end, and nodes of one form once."""
        self.bytes = 0
        self.forms: dict[tuple[bytes, int, int], bool] = {}
        """The parts of counted nodes beside names, and whether they contain a graph, which each node has separately."""

    def add(self, name: str, field: wire.Field, count: int) -> None:
        """Add that many occurrences of a field of the message `name`."""
        if field.message in _SCOPES:
            weight = _OF_SCOPE
        elif field.message == "NodeProto" and self.limit is None:
            weight = _OF_PART
        elif field.message in _MESSAGES:
            weight = _OF_MESSAGE
        else:
            weight = _OF_PART if field.message is not None or field.repeated else 0
        self.spend(weight * count)

    def spend(self, size: int) -> None:
        self.bytes += size
        if self.limit is not None and self.bytes > self.limit:
            raise _LimitReachedError

    def message(self, name: str, content: bytes, depth: int) -> None:
        """Count one message."""
        if not depth:
            self.spend(OF_BYTE * len(content))
        if depth > MAX_DEPTH:
            return
        if len(content) > _PIECE_BYTES:
            self.large(name, content, depth)
        else:
            self.small(name, content, depth)

    def messages(self, name: str, contents: Iterable[bytes], depth: int) -> None:
        """Count messages of one kind. Small ones are parsed together: one behind the other they are one message."""
        if depth > MAX_DEPTH:
            return
        pending: list[bytes] = []
        size = 0
        for content in contents:
            if len(content) > _PIECE_BYTES:
                self.large(name, content, depth)
                continue
            pending.append(content)
            size += len(content)
            if size >= _PIECE_BYTES:
                self.small(name, b"".join(pending), depth)
                pending.clear()
                size = 0
        if pending:
            self.small(name, b"".join(pending), depth)

    def small(self, name: str, piece: bytes, depth: int) -> None:
        """Count the fields of consecutive messages."""
        try:
            merged = schema.columns(name).FromString(piece)
        except (DecodeError, UnicodeDecodeError) as error:
            schema.raise_lack_of_memory(error)
            self.one_by_one(name, piece, depth)
            return
        fields = wire.fields(name)
        for descriptor, values in merged.ListFields():
            field = fields[descriptor.number]
            self.add(name, field, len(values))
            if field.message is not None:
                self.messages(field.message, self.distinct(field.message, values), depth + 1)

    def distinct(self, message: str, values: Sequence[bytes]) -> Iterable[bytes]:
        """Return the messages to count: equal types once, and nodes of one form once."""
        if message == "TypeProto":
            return set(values)
        return self.distinct_nodes(values) if message == "NodeProto" and self.limit is None else filter(None, values)

    def distinct_nodes(self, values: Iterable[bytes]) -> Iterable[bytes]:
        for value in values:
            parts = _parts_of_node(value)
            if parts is None:
                self.spend(_OF_MESSAGE)
                yield value
                continue
            own, form = parts
            yield own
            holds_graphs = self.forms.get(form)
            if holds_graphs is None:
                if len(self.forms) >= _MOST_FORMS:
                    self.forms.clear()
                self.forms[form] = _holds_graphs(form[0])
            if holds_graphs is not False:
                self.spend(_OF_MESSAGE)
                yield form[0]

    def one_by_one(self, name: str, piece: bytes, depth: int) -> None:
        """Count the fields of messages that the parser rejects: a string is not UTF-8, or there is a worse fault."""
        fields = wire.fields(name)
        with suppress(WireError):  # the rest is not parsed either
            for number, wire_type, _, value, following in wire.records(
                BytesSource(piece), 0, len(piece), inside_groups=False
            ):
                field = fields.get(number)
                if field is not None and field.accepts(wire_type):
                    self.single(name, field, wire_type, piece[value:following], depth)

    def single(self, name: str, field: wire.Field, wire_type: int, content: bytes, depth: int) -> None:
        """Count one field, which may be a packed list."""
        self.add(name, field, 1 if wire_type == field.wire_type else _packed_count(field, content))
        if field.message is not None and content:
            if field.message == "NodeProto" and self.limit is None:
                self.spend(_OF_MESSAGE)
            self.message(field.message, content, depth + 1)

    def large(self, name: str, content: bytes, depth: int) -> None:
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
                        self.small(name, content[begun:tag], depth)
                        begun = following
                        if field is not None and wire_type == RUN:
                            self.add(name, field, _run_count(field, content, tag, following))
                        elif field is not None and field.accepts(wire_type):
                            self.single(name, field, wire_type, content[value:following], depth)
                        continue
                    if following - begun >= _PIECE_BYTES:
                        self.small(name, content[begun:following], depth)
                        begun = following
                    if wire_type == WireType.LEN:
                        most = min(end, begun + _PIECE_BYTES)
                        position, _ = wire.skip_short(source, following, most, content[tag], wire.MOST_SHORT_BYTES)
                        if position - following > _WORTHWHILE:
                            break
                        position = following
                position = wire.advanced(start, position)
        self.small(name, content[begun:], depth)


def _parts_of_node(data: bytes) -> tuple[bytes, tuple[bytes, int, int]] | None:
    """Return the parts of a node that are its own, and its form: all other parts, and the number of inputs and outputs.

    None if the columns of nodes do not read the node this way: see onnx_lint.ir.columns.nodes.
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


def _holds_graphs(node: bytes) -> bool:
    """Return true if an attribute of a node holds graphs; also if that is unknown."""
    try:
        attributes = schema.columns("NodeProto").FromString(node).attribute
        merged = schema.columns("AttributeProto").FromString(b"".join(attributes))
    except (DecodeError, UnicodeDecodeError) as error:
        schema.raise_lack_of_memory(error)
        return True
    return bool(merged.g or merged.graphs)


def _packed_count(field: wire.Field, content: bytes) -> int:
    """Return the number of elements of a packed list."""
    size = wire.FIXED_BYTES.get(field.wire_type)
    return len(content) // size if size else len(content.translate(None, wire.CONTINUED_BYTES))


def _run_count(field: wire.Field, content: bytes, start: int, end: int) -> int:
    """Return the number of fields in a run from `start` to `end`, each with a tag of one byte."""
    if field.wire_type == WireType.LEN:
        return wire.skip_short(BytesSource(content), start, end, content[start], wire.MOST_SHORT_BYTES)[1]
    size = wire.FIXED_BYTES.get(field.wire_type)
    return (end - start) // (size + 1) if size else len(content[start:end].translate(None, wire.CONTINUED_BYTES)) // 2


# --- text

_OF_ELEMENT: Final = 50
"""For the text after a comma: in JSON each field has one."""
_OF_BLANK: Final = 170
"""The parser of text keeps its position at each blank of a line, until the text after the blanks."""
_BLANKS: Final = re.compile(r"(?<![^\S\n])[^\S\n]{1024,}+")


def needed_memory_of_text(text: str, limit: int) -> int | None:
    """Return the most bytes that a text in either form needs with its parse; None if that is within the limit.

    Strings and comments are counted too, since the bound is found without tokens. The memory of the message is
    estimated after parsing, so the bound of a refused text includes it.
    """
    braces, commas = sum(map(text.count, "{<")), text.count(",")
    needed = OF_BYTE * len(text) * (1 if text.isascii() else _BYTES_OF_CHARACTER)
    needed += _OF_PART * (braces + text.count("["))
    needed += _OF_ELEMENT * commas
    needed += _OF_BLANK * max((len(blanks[0]) for blanks in _BLANKS.finditer(text)), default=0)
    if needed <= limit:
        return None
    is_plain_json = text.lstrip()[:1] == "{" and not ("\\u" in text and _ESCAPED_KEY.search(text))
    most = _most_of_json(text, commas) if is_plain_json else _most_of_message(text, braces, commas)
    return max(needed, most)


_JSON_KEYS: Final = re.compile(r'(?<!\\)"(\w++)"\s*+:\s*+(\{|null)?')
"""The keys of JSON, each with the beginning of its value."""

_ESCAPED_KEY: Final = re.compile(r'\\u[0-9a-fA-F]{4}\w*+"\s*+:')

_INDENTATION: Final = re.compile(r"\n\s*+")

_MOST_ADDED: Final = 8
"""An element of a list may take that many bytes more than its text: `0,` is a number of eight bytes."""


def _most_of_json(text: str, commas: int) -> int:
    """Return the greatest estimate that the message of a JSON text can have.

    The keys show most of what it holds. A text that only seems to have them does not parse.
    """
    keys = Counter(map(methodcaller("group", 1, 2), _JSON_KEYS.finditer(text)))
    single = sum(count for (_, begin), count in keys.items() if begin == "{")
    elements = max(commas - keys.total() + text.count("[") + single + 1, 0)
    others = marks = scopes = 0
    for (key, begin), count in keys.items():
        name = key.replace("_", "").lower()
        if begin == "{":
            # The type of a value info, and the value info itself.
            others += count * (2 if name == "type" else name in _TYPE_KEYS)
            scopes += count * (name in _SCOPE_KEYS)
        elif begin is None:
            others += count * (name in _PART_KEYS)
            marks += count * (name in _MARKS)
    messages = max(text.count("{") - others, 0)
    if any(key in _SCOPE_LISTS for key, _ in keys):
        scopes = max(messages - marks, scopes)
    written = len(text.encode()) - sum(len(blanks[0]) for blanks in _INDENTATION.finditer(text))
    return (
        OF_BYTE * (written + _MOST_ADDED * elements)
        + _OF_PART * (elements + others)
        + _OF_MESSAGE * messages
        + (_OF_SCOPE - _OF_MESSAGE) * min(scopes, messages)
    )


_TYPE_KEYS: Final = frozenset(
    {"elemtype", "maptype", "optionaltype", "sequencetype", "shape", "sparsetensortype", "tensortype", "valuetype"}
)
"""Keys whose objects are no graph, function or one of _MESSAGES, in lower case."""

_PART_KEYS: Final = frozenset({"dimparam", "dimvalue", "key", "version"})
"""Keys that only other objects of that kind have, each one of them."""

_MARKS: Final = frozenset({"datatype", "optype", "type"})
"""Keys that no graph or function has, each object one of them at most."""

_SCOPE_KEYS: Final = frozenset({"algorithm", "g", "graph", "initialization"})
_SCOPE_LISTS: Final = frozenset({"functions", "graphs"})


_TEXT_FIELDS: Final = re.compile(r"\b(\w++)\s*+(?::\s*+([{<\[]?)|([{<\[]))")
"""The names of fields in text, each with the bracket that opens its value."""


def _most_of_message(text: str, braces: int, commas: int) -> int:
    """Return the greatest estimate that the message of a text can have.

    What strings and comments seem to hold only adds to it. In JSON an escape may hide the name of a field.
    """
    fields = Counter(map(methodcaller("group", 1, 2, 3), _TEXT_FIELDS.finditer(text)))
    scopes = min(braces, commas + sum(1 for _ in _SCOPE_NAMES.finditer(text)))
    if "\\u" in text or text.lstrip()[:1] == "{":
        scopes, fields = braces, Counter({("", "", ""): text.count(":")})
    parts = scalars = short = 0
    for (name, bracket, other), count in fields.items():
        opening = bracket or other
        if opening in ("{", "<"):
            parts += count * (name in _TEXT_PARTS)
        elif not opening:
            scalars += count * (name not in SINGLE_FIELDS)
            short += count * (len(name) <= _SHORT)
    elements = commas + text.count("[")
    messages = max(braces - parts, 0)
    written = len(text.encode()) - sum(len(blanks[0]) for blanks in _INDENTATION.finditer(text))
    added = _MOST_ADDED * elements + _OF_NEGATIVE * text.count("-") + _OF_HEADER * (braces + short)
    return (
        OF_BYTE * (written + added)
        + _OF_PART * (elements + scalars + parts)
        + _OF_MESSAGE * messages
        + (_OF_SCOPE - _OF_MESSAGE) * min(scopes, messages)
    )


_SHORT: Final = 2
_OF_HEADER: Final = 3
"""The tag and length of a message, or the tag of a field with a short name, may take that many bytes more than text."""
_OF_NEGATIVE: Final = 9
"""A negative number takes ten bytes."""

_TEXT_PARTS: Final = frozenset({"dim", "input", "opset_import", "output", "shape", "tensor_type", "type", "value_info"})
"""Messages in text that are no graph, function or one of _MESSAGES."""

SINGLE_FIELDS: Final = frozenset(
    {
        *("data_type", "dim_param", "dim_value", "doc_string", "domain", "elem_type", "f", "i", "key", "name"),
        *("op_type", "raw_data", "s", "type", "version"),
    }
)
"""Names of fields that no message repeats."""

_SCOPE_NAMES: Final = re.compile(r"\b(?:algorithm|functions|g|graph|graphs|initialization)\b")
"""The fields that hold graphs and functions. Elements of a list share the name before it."""

_BYTES_OF_CHARACTER: Final = 4
"""A text with one character outside of ASCII may take that many bytes for each character."""
