# SPDX-License-Identifier: Apache-2.0
"""Finds the messages of ONNX that a file may hold, by their fields and their contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
from onnx_lint.loader.identity.foreign import foreign_format
from onnx_lint.loader.limits.memory_estimate import needed_memory
from onnx_lint.model import Fault, FaultKind, Payload, Proto
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.spec.element_types import ELEMENT_TYPES, MAP_KEYS, STRING_TYPE, VALUE_FIELDS

MAX_TRIED_BYTES: Final = 1 << 28
"""A message with more bytes, without the contents of its tensors, is not parsed only to recognize it."""

_MOST_ELEMENTS: Final = 1 << 63

_TRIED_WHOLE: Final = 1 << 25
"""A message with fewer bytes is parsed with the contents of its tensors, since it has no large ones."""

_TRIED_FIELDS: Final = 1 << 17
"""The limit on the fields that are examined to find the contents of tensors."""

_FITTED_FIELDS: Final = 20_000
"""The limit on the fields that are examined to recognize the message."""

_MOST_OF_A_NAME: Final = 1 << 20
"""The limit on the bytes of a name that are examined."""

_JUDGED: Final = 1000
"""The limit on the elements of a list that are examined."""

_OF_MODELS: Final = frozenset({"ir_version", "graph", "training_info", "functions"})

_DATA_FIELDS: Final = frozenset(VALUE_FIELDS)

DATA_KINDS: Final = ("TensorProto", "SparseTensorProto", "SequenceProto", "MapProto", "OptionalProto")
"""The messages of data files. Bytes that can be several of them count as the first one: a sequence of one tensor and an
optional with that tensor are the same bytes."""


def another_message(source: Source) -> Fault | None:
    """Return the fault of a file with another message than ModelProto; None if it is meant to be a model."""
    foreign = _foreign(source)
    if foreign is not None or is_a_model(source):
        return foreign
    possible = _possible(source)
    if possible is None and not _shows_model(source) and _is_split(source):
        return _fault("the file is a Protocol Buffers message, but not one of ONNX")
    return possible


def unrecognized_data(source: Source) -> Fault:
    """Return the fault of a file for which `data_kind` returns None."""
    known = _foreign(source) or _possible(source)
    if known is not None:
        return known
    what = (
        "a Protocol Buffers message, but fits none of ONNX"
        if _is_split(source)
        else "no whole Protocol Buffers message"
    )
    return _fault(f"the file is {what}; if it should be a tensor, --proto TensorProto shows what is wrong with it")


def _foreign(source: Source) -> Fault | None:
    foreign = foreign_format(source)
    return None if foreign is None else _fault(f"the file is {foreign}, not an ONNX model")


def _possible(source: Source) -> Fault | None:
    found = possible_kinds(source)
    if not found:
        return None
    return _fault(f"the file is not a ModelProto, but may be {' or '.join(found)} (option --proto)")


def _fault(message: str) -> Fault:
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0)


def data_kind(source: Source) -> str | None:
    """Return the message of a data file: a model, or the one of DATA_KINDS that the whole file plausibly is.

    A damaged model is a model. None if the message is undecided, or if the file is none of these.
    """
    if is_a_model(source):
        return MODEL_KIND
    certain = _certain_kind(source)
    if certain is not None:
        return certain
    fitting = (kind for kind in DATA_KINDS if _fits(source, kind))
    possible = [kind for kind in fitting if _holds(source, kind, _IS_POSSIBLE[kind])]
    if len(possible) == 1:
        return possible[0]
    # A tensor has a number where a model has the name of its producer.
    is_damaged_model = not possible and _shows_model(source) and _fits(source, MODEL_KIND, is_cut=True)
    return MODEL_KIND if is_damaged_model else None


def possible_kinds(source: Source) -> list[str]:
    """Return the messages other than a model that the file may hold."""
    fitting = [kind for kind in KINDS if kind != MODEL_KIND and _fits(source, kind)]
    return [kind for kind in fitting if _holds(source, kind, _IS_POSSIBLE[kind])]


def is_a_model(source: Source) -> bool:
    """Return true if the file has the fields of a model, or the content of a graph in the place of a model's graph."""
    if _fits(source, MODEL_KIND) and _shows_model(source):
        return True
    # The numbers of a tensor of int64 are in the place of the graph, and may be the bytes of one.
    return _holds_graph(source) and _certain_kind(source) is None


def _certain_kind(source: Source) -> str | None:
    """Return the message of DATA_KINDS whose fields state the values that the file holds."""
    fitting = (kind for kind in DATA_KINDS if _fits(source, kind))
    return next((kind for kind in fitting if _holds(source, kind, _IS_CERTAIN[kind])), None)


def _holds_graph(source: Source) -> bool:
    """Return true if the field `graph` exists with content that fits GraphProto, or with a node beside unknown fields:
    then the file is meant to be a model.
    """
    graph = wire.fields_by_name(MODEL_KIND)["graph"]
    try:
        for number, wire_type, _, value, following in wire.records(source, 0, source.size):
            if number == graph.number and wire_type == graph.wire_type and following > value:
                return _fits(source, "GraphProto", value, following) or _begins_with_node(source, value, following)
    except WireError:
        pass  # bytes that cannot be split hold nothing
    return False


def _begins_with_node(source: Source, start: int, end: int) -> bool:
    """Return true if the first node of a graph has an operator."""
    node = _first(source, start, end, "GraphProto", "node")
    operator = _first(source, *node, "NodeProto", "op_type") if node is not None else None
    if operator is None:
        return False
    name = source.read_at(operator[0], min(operator[1] - operator[0], _MOST_OF_A_NAME))
    return _is_name(name.decode("utf-8", "surrogateescape"))


def _first(source: Source, start: int, end: int, message: str, field: str) -> tuple[int, int] | None:
    """Return where the first value of a field begins and ends; None if there is none among the first fields."""
    wanted = wire.fields_by_name(message)[field]
    try:
        for number, wire_type, _, value, following in islice(wire.records(source, start, end), _FITTED_FIELDS):
            if number == wanted.number and wire_type == wanted.wire_type:
                return value, following
    except WireError:
        pass  # what comes after it is not looked at
    return None


def _fits(source: Source, message: str, start: int = 0, end: int | None = None, *, is_cut: bool = False) -> bool:
    """Return true if `message` declares each field from `start` to `end`, with its wire type.

    `is_cut`: the fields before bytes that cannot be split are enough.

    In a long message the first fields decide: they are enough to recognize it, and several messages are tried.
    """
    fields = wire.fields(message)
    records = wire.records(source, start, source.size if end is None else end)
    try:
        for number, wire_type, *_ in islice(records, _FITTED_FIELDS):
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
        for number, wire_type, *_ in islice(wire.records(source, 0, source.size), _FITTED_FIELDS):
            known = fields.get(number)
            if known is not None and known.name in _OF_MODELS and known.accepts(wire_type):
                return True
    except WireError:
        pass  # the fields before count
    return False


def _is_split(source: Source) -> bool:
    """Return true if the file consists of fields without groups, which no writer uses and random bytes resemble."""
    try:
        records = islice(wire.records(source, 0, source.size), _FITTED_FIELDS)
        return not any(wire_type in (WireType.START_GROUP, WireType.END_GROUP) for _, wire_type, *_ in records)
    except WireError:
        return False


def _holds(source: Source, kind: str, test: Callable[[Proto], bool]) -> bool:
    """Return true if the file parses as the message without unknown fields, at any depth, and passes the test."""
    try:
        skeleton = _skeleton(source, kind)
        if needed_memory(skeleton, kind, DEFAULT_LIMITS.memory) is not None:
            return test is _IS_POSSIBLE[kind]  # nothing excludes it
        proto = schema.message(kind).FromString(skeleton.data)
        size = proto.ByteSize()
        proto.DiscardUnknownFields()
        if proto.ByteSize() != size:
            return False
        payloads = skeleton.payloads.get(())
        if payloads is None:
            return test(proto)
        return _tensor(proto) and _may_be_values(proto, payloads, exactly=test is _has_values)
    except TooManyFieldsError:
        return test is _IS_POSSIBLE[kind]  # nothing excludes it
    except (DecodeError, UnicodeDecodeError, WireError, MessageTooLargeError):
        return False


def _skeleton(source: Source, kind: str) -> Skeleton:
    if source.size <= _TRIED_WHOLE:
        return whole(source)
    return read_skeleton(source, MAX_TRIED_BYTES, _TRIED_FIELDS, kind)


def _element_count(dimensions: Iterable[int]) -> int:
    """Return the product of dimensions, cut at the largest count in a file: there may be a million large dimensions."""
    count = 1
    for dimension in dimensions:
        count *= dimension
        if count == 0 or count > _MOST_ELEMENTS:
            break
    return count


def _may_be_values(tensor: Proto, payloads: Iterable[Payload], *, exactly: bool) -> bool:
    """Return true if the values of a large tensor, which stay in the file, are in the field of its type.

    `exactly`: and their number may be the one that its dimensions state.
    """
    element_type = ELEMENT_TYPES.get(tensor.data_type)
    fields = {payload.field for payload in payloads}
    if element_type is None or not fields <= {"raw_data", element_type.field}:
        return element_type is None and fields == {"raw_data"} and not exactly
    if not exactly:
        return True
    elements = _element_count(tensor.dims)
    length = sum(payload.length for payload in payloads)
    if fields == {"raw_data"}:
        return length == element_type.bytes_of(elements)
    entries = element_type.entries_of(elements)
    # A number takes ten bytes at most, and a tag if it is unpacked.
    is_enough = element_type.name == "string" or length <= 11 * entries
    return fields == {element_type.field} and entries <= length and is_enough


# --- the content that makes a message plausible: little enough that a faulty one is still recognized


def _is_name(text: str) -> bool:
    return bool(text) and text.isprintable()


def _any_and_all(items: Iterable[Proto], test: Callable[[Proto], bool]) -> bool:
    """Return true if there are items, and the first of them pass the test."""
    found = [test(item) for item in islice(items, _JUDGED)]
    return bool(found) and all(found)


def _node(proto: Proto) -> bool:
    return _is_name(proto.op_type) and all(name.isprintable() for name in (*proto.input, *proto.output))


def _graph(proto: Proto) -> bool:
    tests = ((proto.node, _node), (proto.initializer, _tensor), (proto.input, _value_info), (proto.output, _value_info))
    return proto.name.isprintable() and any(_any_and_all(items, test) for items, test in tests)


def _function(proto: Proto) -> bool:
    return _is_name(proto.name) and _any_and_all(proto.node, _node)


def _attribute(proto: Proto) -> bool:
    values = sum(field.name not in {"name", "type", "doc_string"} for field, _ in proto.ListFields())
    return _is_name(proto.name) and (proto.type > 0 or values > 0) and values <= 1


def _tensor(proto: Proto) -> bool:
    """Return true for a tensor that is plausible: its data are in the field of its element type, or it states none."""
    given = _data_fields(proto)
    element_type = ELEMENT_TYPES.get(proto.data_type)
    if element_type is None:
        return "raw_data" in given and not proto.data_type
    is_apart = proto.data_location == proto.EXTERNAL or bool(proto.external_data)
    if not (given or proto.dims or is_apart):
        return False
    known = not given or not given.isdisjoint({"raw_data", element_type.field})
    return known and all(dimension >= 0 for dimension in proto.dims)


def _data_fields(tensor: Proto) -> set[str]:
    return {field.name for field, _ in tensor.ListFields() if field.name in _DATA_FIELDS}


def _sparse_tensor(proto: Proto) -> bool:
    return _tensor(proto.values) or _tensor(proto.indices)


def _type(proto: Proto) -> bool:
    match proto.WhichOneof("value"):
        case "tensor_type" | "sparse_tensor_type" as kind:
            return bool(getattr(proto, kind).elem_type in ELEMENT_TYPES)
        case "sequence_type" | "optional_type" as kind:
            return _type(getattr(proto, kind).elem_type)
        case "map_type":
            return _type(proto.map_type.value_type)
        case kind:
            return kind is not None


def _value_info(proto: Proto) -> bool:
    return _is_name(proto.name) and _type(proto.type)


def _operator_set(proto: Proto) -> bool:
    return proto.magic == MAGIC or _any_and_all(proto.operator, lambda operator: _is_name(operator.op_type))


def _sequence(proto: Proto) -> bool:
    return bool(1 <= proto.elem_type <= len(VALUE_KINDS) and proto.name.isprintable())


def _map(proto: Proto) -> bool:
    return bool(proto.key_type in MAP_KEYS and proto.name.isprintable())


def _optional(proto: Proto) -> bool:
    is_kind = proto.HasField("elem_type") and 0 <= proto.elem_type <= len(VALUE_KINDS)
    return bool(is_kind and proto.name.isprintable())


_IS_POSSIBLE: Final[Mapping[str, Callable[[Proto], bool]]] = MappingProxyType(
    {
        "OperatorSetProto": _operator_set,
        "FunctionProto": _function,
        "GraphProto": _graph,
        "NodeProto": _node,
        "AttributeProto": _attribute,
        "TensorProto": _tensor,
        "SparseTensorProto": _sparse_tensor,
        "ValueInfoProto": _value_info,
        "TypeProto": _type,
        "SequenceProto": _sequence,
        "MapProto": _map,
        "OptionalProto": _optional,
    }
)


# --- the content that makes a message certain: a value in the place that its own fields state


def _has_values(tensor: Proto) -> bool:
    """Return true if the tensor has as many values as its dimensions state, in the right field."""
    if not _tensor(tensor) or tensor.data_type not in ELEMENT_TYPES:
        return False
    if tensor.data_location == tensor.EXTERNAL:
        return bool(tensor.external_data)
    element_type = ELEMENT_TYPES[tensor.data_type]
    elements = _element_count(tensor.dims)
    if tensor.HasField("raw_data"):
        return len(tensor.raw_data) == element_type.bytes_of(elements)
    return len(getattr(tensor, element_type.field)) == element_type.entries_of(elements)


def _has_parts(sparse: Proto) -> bool:
    return sparse.HasField("indices") and sparse.HasField("values") and _tensor(sparse.values)


def _has_elements(sequence: Proto) -> bool:
    own = f"{VALUE_KINDS[sequence.elem_type - 1]}_values" if _sequence(sequence) else None
    return own is not None and {field.name for field, _ in sequence.ListFields()} <= {"name", "elem_type", own}


def _has_pairs(proto: Proto) -> bool:
    own, other = (proto.string_keys, proto.keys) if proto.key_type == STRING_TYPE else (proto.keys, proto.string_keys)
    if not _map(proto) or other or not (_has_elements(proto.values) or not proto.HasField("values")):
        return False
    return len(own) == sum(len(value) for field, value in proto.values.ListFields() if field.name.endswith("_values"))


def _has_value(optional: Proto) -> bool:
    own = {f"{VALUE_KINDS[optional.elem_type - 1]}_value"} if _optional(optional) and optional.elem_type else set()
    return _optional(optional) and {field.name for field, _ in optional.ListFields()} <= {"name", "elem_type", *own}


_IS_CERTAIN: Final[Mapping[str, Callable[[Proto], bool]]] = MappingProxyType(
    {
        "TensorProto": _has_values,
        "SparseTensorProto": _has_parts,
        "SequenceProto": _has_elements,
        "MapProto": _has_pairs,
        "OptionalProto": _has_value,
    }
)
