# SPDX-License-Identifier: Apache-2.0
"""Finds the messages of ONNX that a file may hold.

A message *fits* if it declares all fields in the file. It is *possible* if the content is plausible as well, and
*certain* if its own fields state all of its values. A file may fit, and possibly hold, several messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from enum import IntEnum
from itertools import islice
from types import MappingProxyType
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import Source
from onnx_lint.ir.documents.kinds import KINDS, MAGIC, MODEL_KIND
from onnx_lint.ir.documents.value_types import KINDS as VALUE_KINDS
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.binary.strip_payloads import (
    MessageTooLargeError,
    Skeleton,
    TooManyFieldsError,
    read_skeleton,
    whole,
)
from onnx_lint.loader.identity.foreign import format_by_fields
from onnx_lint.loader.limits.memory_estimate import memory_if_exceeding
from onnx_lint.model import Fault, FaultKind, Payload, Proto
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.spec.element_types import ELEMENT_TYPES, MAP_KEYS, VALUE_FIELDS, DataType, ElementType

MAX_TRIED_BYTES: Final = 1 << 28
"""A message with more bytes, without the contents of its tensors, is not parsed only to recognize it."""

_MAX_ELEMENTS: Final = 1 << 63
"""The limit of `_element_count`. No file can have so many elements."""

_MAX_BYTES_WITH_PAYLOADS: Final = 1 << 25
"""A message with fewer bytes is parsed with the contents of its tensors, since it has no large ones."""

_MAX_PAYLOAD_FIELDS: Final = 1 << 17
"""The limit on the fields that are examined to find the contents of tensors."""

_MAX_FIELDS: Final = 20_000
"""The limit on the fields that are examined to recognize the message."""

_MAX_NAME_BYTES: Final = 1 << 20
"""The limit on the bytes of a name that are examined."""

_MAX_ITEMS: Final = 1000
"""The limit on the items of a list that are examined."""

_MODEL_FIELDS: Final = frozenset({"ir_version", "graph", "training_info", "functions"})

_DATA_FIELDS: Final = frozenset(VALUE_FIELDS)

DATA_KINDS: Final = ("TensorProto", "SparseTensorProto", "SequenceProto", "MapProto", "OptionalProto")
"""The messages of data files. If several are certain, the first one is meant: a sequence of one tensor and an optional
with that tensor are the same bytes."""


class _Match(IntEnum):
    """How the content of a file matches a message."""

    NONE = 0
    POSSIBLE = 1
    CERTAIN = 2


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
    fitting = (kind for kind in DATA_KINDS if _fits(source, kind))
    possible = [kind for kind in fitting if _match(source, kind)]
    if len(possible) == 1:
        return possible[0]
    # Field 2 is the text `producer_name` in ModelProto, and the number `data_type` in TensorProto.
    is_damaged_model = not possible and _shows_model(source) and _fits(source, MODEL_KIND, is_cut=True)
    return MODEL_KIND if is_damaged_model else None


def possible_kinds(source: Source) -> list[str]:
    """Return the messages other than a model that the file may hold."""
    fitting = [kind for kind in KINDS if kind != MODEL_KIND and _fits(source, kind)]
    return [kind for kind in fitting if _match(source, kind)]


def is_a_model(source: Source) -> bool:
    """Return true if the file has the fields of a model, or the content of a graph in the place of a model's graph."""
    if _fits(source, MODEL_KIND) and _shows_model(source):
        return True
    # Field 7 is `graph` in ModelProto, and `int64_data` in TensorProto, whose bytes may look like a graph.
    return _holds_graph(source) and _certain_kind(source) is None


def _certain_kind(source: Source) -> str | None:
    """Return the first message of DATA_KINDS that is certain; None if none is."""
    fitting = (kind for kind in DATA_KINDS if _fits(source, kind))
    return next((kind for kind in fitting if _match(source, kind) is _Match.CERTAIN), None)


def _holds_graph(source: Source) -> bool:
    """Return whether the file has a field `graph` with the content of a graph.

    A graph with unknown fields counts if its first node has an operator.
    """
    graph = wire.fields_by_name(MODEL_KIND)["graph"]
    try:
        for number, wire_type, _, value, following in wire.records(source, 0, source.size):
            if number == graph.number and wire_type == graph.wire_type and following > value:
                return _fits(source, "GraphProto", value, following) or _begins_with_node(source, value, following)
    except WireError:
        pass  # the rest of a damaged message is ignored
    return False


def _begins_with_node(source: Source, start: int, end: int) -> bool:
    """Return true if the first node of a graph has an operator."""
    node = _first(source, start, end, "GraphProto", "node")
    operator = _first(source, *node, "NodeProto", "op_type") if node is not None else None
    if operator is None:
        return False
    name = source.read_at(operator[0], min(operator[1] - operator[0], _MAX_NAME_BYTES))
    return _is_name(name.decode("utf-8", "surrogateescape"))


def _first(source: Source, start: int, end: int, message: str, field: str) -> tuple[int, int] | None:
    """Return where the first value of a field begins and ends; None if there is none among the first fields."""
    wanted = wire.fields_by_name(message)[field]
    try:
        for number, wire_type, _, value, following in islice(wire.records(source, start, end), _MAX_FIELDS):
            if number == wanted.number and wire_type == wanted.wire_type:
                return value, following
    except WireError:
        pass  # the rest of a damaged message is ignored
    return None


def _fits(source: Source, message: str, start: int = 0, end: int | None = None, *, is_cut: bool = False) -> bool:
    """Return true if `message` declares each field from `start` to `end`, with its wire type.

    `is_cut`: the fields before bytes that cannot be split are enough.

    In a long message the first fields decide: they are enough to recognize it, and several messages are tried.
    """
    fields = wire.fields(message)
    records = wire.records(source, start, source.size if end is None else end)
    try:
        for number, wire_type, *_ in islice(records, _MAX_FIELDS):
            known = fields.get(number)
            if known is None or not known.accepts(wire_type):
                return False
    except WireError:
        return is_cut
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


def _match(source: Source, kind: str) -> _Match:
    """Return how the content of the file matches a message that it fits.

    Unknown fields at any depth match none. A message that is too large to be parsed is possible, but not certain.
    """
    try:
        skeleton = _skeleton(source, kind)
        if memory_if_exceeding(skeleton, kind, DEFAULT_LIMITS.memory) is not None:
            return _Match.POSSIBLE
        proto = schema.message(kind).FromString(skeleton.data)
    except TooManyFieldsError:
        return _Match.POSSIBLE
    except (DecodeError, UnicodeDecodeError, WireError, MessageTooLargeError):
        return _Match.NONE
    size = proto.ByteSize()
    proto.DiscardUnknownFields()
    if proto.ByteSize() != size:
        return _Match.NONE
    payloads = skeleton.payloads.get(())
    if payloads is not None:
        return _match_of_large_tensor(proto, payloads)
    if not _PLAUSIBILITY_TESTS[kind](proto):
        return _Match.NONE
    is_certain = _CERTAINTY_TESTS.get(kind)
    return _Match.CERTAIN if is_certain is not None and is_certain(proto) else _Match.POSSIBLE


def _skeleton(source: Source, kind: str) -> Skeleton:
    if source.size <= _MAX_BYTES_WITH_PAYLOADS:
        return whole(source)
    return read_skeleton(source, MAX_TRIED_BYTES, _MAX_PAYLOAD_FIELDS, kind)


def _element_count(dimensions: Iterable[int]) -> int:
    """Return the product of dimensions, cut at the largest count in a file: there may be a million large dimensions."""
    count = 1
    for dimension in dimensions:
        count *= dimension
        if count == 0 or count > _MAX_ELEMENTS:
            break
    return count


def _match_of_large_tensor(tensor: Proto, payloads: Sequence[Payload]) -> _Match:
    """Return how a tensor matches whose values stay in the file. They must be in the field of its type."""
    if not _is_plausible_tensor(tensor):
        return _Match.NONE
    element_type = ELEMENT_TYPES.get(tensor.data_type)
    fields = {payload.field for payload in payloads}
    if element_type is None:
        return _Match.POSSIBLE if fields == {"raw_data"} else _Match.NONE
    if not fields <= {"raw_data", element_type.field}:
        return _Match.NONE
    length = sum(payload.length for payload in payloads)
    elements = _element_count(tensor.dims)
    return _Match.CERTAIN if _may_have_length(fields, element_type, elements, length) else _Match.POSSIBLE


def _may_have_length(fields: Set[str], element_type: ElementType, elements: int, length: int) -> bool:
    """Return whether values in these fields may have this length in bytes."""
    if fields == {"raw_data"}:
        return length == element_type.bytes_of(elements)
    entries = element_type.entries_of(elements)
    # A number takes ten bytes at most, and a tag if it is unpacked.
    is_enough = element_type.name == "string" or length <= 11 * entries
    return fields == {element_type.field} and entries <= length and is_enough


# --- the content that makes a message plausible. Few conditions, so that a faulty message is still recognized


def _is_name(text: str) -> bool:
    return bool(text) and text.isprintable()


def _any_and_all(items: Iterable[Proto], test: Callable[[Proto], bool]) -> bool:
    """Return true if there are items, and the first of them pass the test."""
    found = [test(item) for item in islice(items, _MAX_ITEMS)]
    return bool(found) and all(found)


def _is_plausible_node(proto: Proto) -> bool:
    return _is_name(proto.op_type) and all(name.isprintable() for name in (*proto.input, *proto.output))


def _is_plausible_graph(proto: Proto) -> bool:
    tests = (
        (proto.node, _is_plausible_node),
        (proto.initializer, _is_plausible_tensor),
        (proto.input, _is_plausible_value_info),
        (proto.output, _is_plausible_value_info),
    )
    return proto.name.isprintable() and any(_any_and_all(items, test) for items, test in tests)


def _is_plausible_function(proto: Proto) -> bool:
    return _is_name(proto.name) and _any_and_all(proto.node, _is_plausible_node)


def _is_plausible_attribute(proto: Proto) -> bool:
    values = sum(field.name not in {"name", "type", "doc_string"} for field, _ in proto.ListFields())
    return _is_name(proto.name) and (proto.type > 0 or values > 0) and values <= 1


def _is_plausible_tensor(proto: Proto) -> bool:
    """Return true for a tensor that is plausible: its data are in the field of its element type, or it states none."""
    given = _data_fields(proto)
    element_type = ELEMENT_TYPES.get(proto.data_type)
    if element_type is None:
        return "raw_data" in given and not proto.data_type
    is_external = proto.data_location == proto.EXTERNAL or bool(proto.external_data)
    if not (given or proto.dims or is_external):
        return False
    is_in_field = not given or not given.isdisjoint({"raw_data", element_type.field})
    return is_in_field and all(dimension >= 0 for dimension in proto.dims)


def _data_fields(tensor: Proto) -> set[str]:
    return {field.name for field, _ in tensor.ListFields() if field.name in _DATA_FIELDS}


def _is_plausible_sparse_tensor(proto: Proto) -> bool:
    return _is_plausible_tensor(proto.values) or _is_plausible_tensor(proto.indices)


def _is_plausible_type(proto: Proto) -> bool:
    match proto.WhichOneof("value"):
        case "tensor_type" | "sparse_tensor_type" as kind:
            return bool(getattr(proto, kind).elem_type in ELEMENT_TYPES)
        case "sequence_type" | "optional_type" as kind:
            return _is_plausible_type(getattr(proto, kind).elem_type)
        case "map_type":
            return _is_plausible_type(proto.map_type.value_type)
        case kind:
            return kind is not None


def _is_plausible_value_info(proto: Proto) -> bool:
    return _is_name(proto.name) and _is_plausible_type(proto.type)


def _is_plausible_operator_set(proto: Proto) -> bool:
    return proto.magic == MAGIC or _any_and_all(proto.operator, lambda operator: _is_name(operator.op_type))


def _is_plausible_sequence(proto: Proto) -> bool:
    return bool(1 <= proto.elem_type <= len(VALUE_KINDS) and proto.name.isprintable())


def _is_plausible_map(proto: Proto) -> bool:
    return bool(proto.key_type in MAP_KEYS and proto.name.isprintable())


def _is_plausible_optional(proto: Proto) -> bool:
    is_kind = proto.HasField("elem_type") and 0 <= proto.elem_type <= len(VALUE_KINDS)
    return bool(is_kind and proto.name.isprintable())


_PLAUSIBILITY_TESTS: Final[Mapping[str, Callable[[Proto], bool]]] = MappingProxyType(
    {
        "OperatorSetProto": _is_plausible_operator_set,
        "FunctionProto": _is_plausible_function,
        "GraphProto": _is_plausible_graph,
        "NodeProto": _is_plausible_node,
        "AttributeProto": _is_plausible_attribute,
        "TensorProto": _is_plausible_tensor,
        "SparseTensorProto": _is_plausible_sparse_tensor,
        "ValueInfoProto": _is_plausible_value_info,
        "TypeProto": _is_plausible_type,
        "SequenceProto": _is_plausible_sequence,
        "MapProto": _is_plausible_map,
        "OptionalProto": _is_plausible_optional,
    }
)


# --- the content that makes a message certain: a value in the place that its own fields state


def _has_stated_values(tensor: Proto) -> bool:
    """Return true if the tensor has as many values as its dimensions state, in the right field."""
    if not _is_plausible_tensor(tensor) or tensor.data_type not in ELEMENT_TYPES:
        return False
    if tensor.data_location == tensor.EXTERNAL:
        return bool(tensor.external_data)
    element_type = ELEMENT_TYPES[tensor.data_type]
    elements = _element_count(tensor.dims)
    if tensor.HasField("raw_data"):
        return len(tensor.raw_data) == element_type.bytes_of(elements)
    return len(getattr(tensor, element_type.field)) == element_type.entries_of(elements)


def _has_both_parts(sparse: Proto) -> bool:
    return sparse.HasField("indices") and sparse.HasField("values") and _is_plausible_tensor(sparse.values)


def _has_stated_elements(sequence: Proto) -> bool:
    own = f"{VALUE_KINDS[sequence.elem_type - 1]}_values" if _is_plausible_sequence(sequence) else None
    return own is not None and {field.name for field, _ in sequence.ListFields()} <= {"name", "elem_type", own}


def _has_stated_pairs(proto: Proto) -> bool:
    own, other = proto.keys, proto.string_keys
    if proto.key_type == DataType.STRING:
        own, other = other, own
    if not _is_plausible_map(proto) or other:
        return False
    if proto.HasField("values") and not _has_stated_elements(proto.values):
        return False
    return len(own) == sum(len(value) for field, value in proto.values.ListFields() if field.name.endswith("_values"))


def _has_stated_value(optional: Proto) -> bool:
    if not _is_plausible_optional(optional):
        return False
    own = {f"{VALUE_KINDS[optional.elem_type - 1]}_value"} if optional.elem_type else set()
    return {field.name for field, _ in optional.ListFields()} <= {"name", "elem_type", *own}


_CERTAINTY_TESTS: Final[Mapping[str, Callable[[Proto], bool]]] = MappingProxyType(
    {
        "TensorProto": _has_stated_values,
        "SparseTensorProto": _has_both_parts,
        "SequenceProto": _has_stated_elements,
        "MapProto": _has_stated_pairs,
        "OptionalProto": _has_stated_value,
    }
)
