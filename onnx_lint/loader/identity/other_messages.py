# SPDX-License-Identifier: Apache-2.0
"""Finds the messages of ONNX that a file may hold.

A message *fits* if it declares all fields in the file. It is *possible* if the content is plausible as well, and
*certain* if its own fields state all of its values. A file may fit, and possibly hold, several messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.binary.strip_payloads import (
    MessageTooLargeError,
    Skeleton,
    TooManyFieldsError,
    read_skeleton,
    whole,
)
from onnx_lint.loader.identity.foreign import format_by_fields
from onnx_lint.loader.identity.message_content import Match, is_name, match_of_content, match_of_large_tensor
from onnx_lint.loader.limits.memory_estimate import memory_if_exceeding
from onnx_lint.model import Fault, FaultKind
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

MAX_TRIED_BYTES: Final = 1 << 28
"""A message with more bytes, without the contents of its tensors, is not parsed only to recognize it."""

_MAX_BYTES_WITH_PAYLOADS: Final = 1 << 25
"""A message with fewer bytes is parsed with the contents of its tensors, since it has no large ones."""

_MAX_PAYLOAD_FIELDS: Final = 1 << 17
"""The limit on the fields that are examined to find the contents of tensors."""

_MAX_FIELDS: Final = 20_000
"""The limit on the fields that are examined to recognize the message."""

_MAX_NAME_BYTES: Final = 1 << 20
"""The limit on the bytes of a name that are examined."""

_MODEL_FIELDS: Final = frozenset({"ir_version", "graph", "training_info", "functions"})

DATA_KINDS: Final = ("TensorProto", "SparseTensorProto", "SequenceProto", "MapProto", "OptionalProto")
"""The messages of data files. If several are certain, the first one is meant: a sequence of one tensor and an optional
with that tensor are the same bytes."""


_NO_ONNX_MESSAGE: Final = "a Protocol Buffers message, but not an ONNX message"


def fault_of_other_message(source: Source) -> Fault | None:
    """Return the fault of a file with another message than ModelProto; None if it is meant to be a model."""
    foreign = _fault_of_foreign_format(source)
    if foreign is not None:
        return foreign
    if is_a_model(source):
        return None
    possible = _fault_of_possible_kinds(source)
    if possible is None and not _shows_model(source) and _is_split(source):
        return _fault(f"the file is {_NO_ONNX_MESSAGE}")
    return possible


def fault_of_unrecognized_data(source: Source) -> Fault:
    """Return the fault of a file for which `data_kind` returns None."""
    fault = _fault_of_foreign_format(source) or _fault_of_possible_kinds(source)
    if fault is not None:
        return fault
    what = _NO_ONNX_MESSAGE if _is_split(source) else "not a complete Protocol Buffers message"
    return _fault(f"the file is {what}; to check it as a tensor, use --proto TensorProto")


def _fault_of_foreign_format(source: Source) -> Fault | None:
    foreign = format_by_fields(source)
    return None if foreign is None else _fault(f"the file is {foreign}, not an ONNX model")


def _fault_of_possible_kinds(source: Source) -> Fault | None:
    found = possible_kinds(source)
    if not found:
        return None
    return _fault(f"the file is not a ModelProto, but may be {' or '.join(found)} (option --proto)")


def _fault(message: str) -> Fault:
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0)


def data_kind(source: Source) -> str | None:
    """Return the type of the message in a data file: a model, the first certain type, or the only possible one.

    If no type is possible and the fields of a model come before a fault, it is a damaged model. Otherwise None.
    """
    if is_a_model(source):
        return MODEL_KIND
    certain = _certain_kind(source)
    if certain is not None:
        return certain
    possible = [kind for kind in _fitting(source, DATA_KINDS) if _match(source, kind)]
    if len(possible) == 1:
        return possible[0]
    # Field 2 is the text `producer_name` in ModelProto, and the number `data_type` in TensorProto.
    is_damaged_model = not possible and _shows_model(source) and _begins_as(source, MODEL_KIND)
    return MODEL_KIND if is_damaged_model else None


def possible_kinds(source: Source) -> list[str]:
    """Return the messages other than a model that the file may hold."""
    others = (kind for kind in KINDS if kind != MODEL_KIND)
    return [kind for kind in _fitting(source, others) if _match(source, kind)]


def is_a_model(source: Source) -> bool:
    """Return true if the file has the fields of a model, or the content of a graph in the place of a model's graph."""
    if _fits(source, MODEL_KIND) and _shows_model(source):
        return True
    # Field 7 is `graph` in ModelProto, and `int64_data` in TensorProto, whose bytes may look like a graph.
    return _holds_graph(source) and _certain_kind(source) is None


def _certain_kind(source: Source) -> str | None:
    """Return the first message of DATA_KINDS that is certain; None if none is."""
    return next((kind for kind in _fitting(source, DATA_KINDS) if _match(source, kind) is Match.CERTAIN), None)


def _fitting(source: Source, kinds: Iterable[str]) -> Iterator[str]:
    """Yield the messages that the file fits."""
    return (kind for kind in kinds if _fits(source, kind))


def _holds_graph(source: Source) -> bool:
    """Return whether the file has a field `graph` with the content of a graph.

    A graph with unknown fields is one if its first node has an operator.
    """
    graph = _first(source, 0, source.size, MODEL_KIND, "graph")
    if graph is None:
        return False
    return _fits(source, "GraphProto", *graph) or _begins_with_node(source, *graph)


def _begins_with_node(source: Source, start: int, end: int) -> bool:
    """Return true if the first node of a graph has an operator."""
    node = _first(source, start, end, "GraphProto", "node")
    operator = _first(source, *node, "NodeProto", "op_type") if node is not None else None
    if operator is None:
        return False
    name = source.read_at(operator[0], min(operator[1] - operator[0], _MAX_NAME_BYTES))
    return is_name(name.decode("utf-8", "surrogateescape"))


def _first(source: Source, start: int, end: int, message: str, field: str) -> tuple[int, int] | None:
    """Return where the first value of a field that is not empty begins and ends; None if no early field has one."""
    wanted = wire.fields_by_name(message)[field]
    try:
        for number, wire_type, _, value, following in islice(wire.records(source, start, end), _MAX_FIELDS):
            if number == wanted.number and wire_type == wanted.wire_type and following > value:
                return value, following
    except WireError:
        pass  # the rest of a damaged message is ignored
    return None


def _fits(source: Source, message: str, start: int = 0, end: int | None = None) -> bool:
    """Return true if `message` declares each field from `start` to `end`, with its wire type."""
    try:
        return _declares_fields(source, message, start, source.size if end is None else end)
    except WireError:
        return False


def _begins_as(source: Source, message: str) -> bool:
    """Return true if `message` declares the fields of the file, or those before bytes that cannot be split."""
    try:
        return _declares_fields(source, message, 0, source.size)
    except WireError:
        return True


def _declares_fields(source: Source, message: str, start: int, end: int) -> bool:
    """Return whether `message` declares each field. Raises WireError if the bytes cannot be split into fields.

    In a long message the first fields decide: they are enough to recognize it, and several messages are tried.
    """
    fields = wire.fields(message)
    for number, wire_type, *_ in islice(wire.records(source, start, end), _MAX_FIELDS):
        known = fields.get(number)
        if known is None or not known.accepts(wire_type):
            return False
    return True


def _shows_model(source: Source) -> bool:
    """Return true if there is a field that identifies a model."""
    fields = wire.fields(MODEL_KIND)
    try:
        for number, wire_type, *_ in islice(wire.records(source, 0, source.size), _MAX_FIELDS):
            known = fields.get(number)
            if known is not None and known.name in _MODEL_FIELDS and known.accepts(wire_type):
                return True
    except WireError:
        pass  # the rest of a damaged message is ignored
    return False


def _is_split(source: Source) -> bool:
    """Return true if the file can be split into fields, none of them a group.

    No writer of ONNX uses groups, but random bytes often look like one.
    """
    try:
        records = islice(wire.records(source, 0, source.size), _MAX_FIELDS)
        return not any(wire_type in (WireType.START_GROUP, WireType.END_GROUP) for _, wire_type, *_ in records)
    except WireError:
        return False


def _match(source: Source, kind: str) -> Match:
    """Return how the content of the file matches a message that it fits.

    Unknown fields at any depth match none. A message that is too large to be parsed is possible, but not certain.
    """
    try:
        skeleton = _skeleton(source, kind)
        if memory_if_exceeding(skeleton, kind, DEFAULT_LIMITS.memory) is not None:
            return Match.POSSIBLE
        proto = schema.message(kind).FromString(skeleton.data)
    except TooManyFieldsError:
        return Match.POSSIBLE
    except (DecodeError, UnicodeDecodeError, WireError, MessageTooLargeError):
        return Match.NONE
    size = proto.ByteSize()
    proto.DiscardUnknownFields()
    if proto.ByteSize() != size:
        return Match.NONE
    payloads = skeleton.payloads.get(ROOT.key)
    if payloads is not None:
        return match_of_large_tensor(proto, payloads)
    return match_of_content(proto, kind)


def _skeleton(source: Source, kind: str) -> Skeleton:
    if source.size <= _MAX_BYTES_WITH_PAYLOADS:
        return whole(source)
    return read_skeleton(source, MAX_TRIED_BYTES, _MAX_PAYLOAD_FIELDS, kind)
