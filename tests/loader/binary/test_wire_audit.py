# SPDX-License-Identifier: Apache-2.0
"""The binary form, and faults of its bytes."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from google.protobuf.descriptor import FieldDescriptor
from support.models.loader_samples import MODEL, faults, loaded, protobuf_reads
from support.models.messages import message_of
from support.project.each_case import each_case
from support.project.sampled import one_in
from support.wire.wire_bytes import (
    BASE,
    FIXED32,
    FIXED64,
    GRAPH,
    LEN,
    VARINT,
    Carrier,
    carriers,
    fields,
    group,
    is_repeated,
    length,
    number,
    rich_model,
    some_value,
    tag,
    wire_type_of,
)

from onnx_lint import schema
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.wire_audit import MAX_FAULTS, read_irregular
from onnx_lint.model import FaultKind
from onnx_lint.schema import wire


def test_a_sound_model_has_no_faults():
    model = loaded(MODEL)
    assert (model.loaded, model.form, model.faults, model.payloads) == (True, "binary", (), {})
    assert message_of(model) == schema.message("ModelProto").FromString(MODEL)


def test_a_model_cut_anywhere_is_told():
    """A cut between two top-level fields leaves a message that parses; every other cut is the one fault there is."""
    data = rich_model()
    boundaries = set()
    for cut in range(2, len(data)):  # of a single byte nobody can say what it was to become
        model = loaded(data[:cut])
        assert model.loaded == protobuf_reads(data[:cut]), cut
        if model.loaded:
            boundaries.add(cut)
            assert model.faults == (), cut
            continue
        (fault,) = model.faults
        assert fault.kind is FaultKind.TRUNCATED, cut
        assert fault.offset is not None
        assert 0 <= fault.offset < cut
        assert f"the file ends at byte {cut:,} inside {fault.place}" in fault.message
    top_level = {end for *_, end in wire.records(BytesSource(data), 0, len(data))}
    assert boundaries == top_level - {len(data)}


@pytest.mark.parametrize(
    ("cut", "place", "offset"),
    [
        # 08 0a | 42 04 0a 00 10 15 | 3a 15 | 0a 0c 0a 01 x 12 01 y 22 04 Relu | 12 05 graph
        (3, "model", 2),
        (5, "opset_import[0]", 4),
        (6, "opset_import[0]", 2),
        (9, "model", 8),
        (13, "graph.node[0]", 12),
        (14, "graph.node[0].input[0]", 12),
        (25, "graph", 24),
        (28, "graph.name", 24),
    ],
)
def test_the_cut_is_placed(cut: int, place: str, offset: int):
    assert faults(loaded(MODEL[:cut])) == [(FaultKind.TRUNCATED, place, offset)]


each_message = each_case("carrier", carriers(), ids=lambda carrier: carrier.message)


def each_field(
    chosen: Callable[[FieldDescriptor], bool] = bool,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a test that looks at each field that is chosen."""
    cases = [(carrier, field) for carrier, field in fields() if chosen(field)]
    return each_case("carrier, field", cases, ids=lambda case: f"{case[0].message}.{case[1].name}")


def test_every_message_of_a_model_is_reached():
    reachable = {carrier.message for carrier in carriers()}
    assert {
        "TypeProto.Optional",
        "SparseTensorProto",
        "TensorShapeProto.Dimension",
        "SimpleShardedDimProto",
    } <= reachable
    assert len(list(fields())) > 120


@each_field()
def test_a_field_of_the_declared_type_is_sound(carrier: Carrier, field):
    content = some_value(field) if wire_type_of(field) != LEN else length(field.number, b"")
    data, _ = carrier.model(content, without=field.name)
    model = loaded(data)
    assert (model.loaded, model.faults) == (True, ())


@each_field()
def test_a_wrong_wire_type_is_told(carrier: Carrier, field):
    if (carrier.message, field.name) == ("ModelProto", "graph"):
        return  # without a graph it may just as well be another message
    declared = wire_type_of(field)
    packable = is_repeated(field) and declared != LEN
    for wire_type in {VARINT, FIXED64, FIXED32, LEN} - {declared}:
        if wire_type == LEN and packable:
            continue
        content = length(field.number, b"") if wire_type == LEN else some_value(field, wire_type)
        data, offset = carrier.model(content, without=field.name)
        model = loaded(data)
        assert model.loaded
        assert faults(model) == [(FaultKind.WIRE_TYPE, carrier.field_place(field), offset)], wire_type


@each_field(lambda field: field.type == field.TYPE_STRING)
@each_case("text", [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_a_string_that_is_not_utf8_is_told(carrier: Carrier, field, text: bytes):
    data, offset = carrier.model(length(field.number, text), without=field.name)
    model = loaded(data)
    assert model.loaded, "the rest of the model is judged all the same"
    start = offset + len(length(field.number, text)) - len(text)
    assert faults(model) == [(FaultKind.UTF8, carrier.field_place(field), start)]
    (fault,) = model.faults
    assert fault.length == len(text)
    assert f"field {field.name} of {carrier.message} is not UTF-8 at byte " in fault.message


@each_field(lambda field: not is_repeated(field))
def test_a_singular_field_given_twice_is_told(carrier: Carrier, field):
    once = length(field.number, b"") if wire_type_of(field) == LEN else some_value(field)
    data, offset = carrier.model(once * 2, without=field.name)
    offset += len(once)
    model = loaded(data)
    assert model.loaded
    assert faults(model) == [(FaultKind.REPEATED, carrier.field_place(field), offset)]


ONEOFS = [
    (carrier, first, second)
    for carrier in carriers()
    for oneof in carrier.descriptor.oneofs
    for first, second in zip(oneof.fields, [*oneof.fields[1:], oneof.fields[0]], strict=True)
]


@each_case("carrier, first, second", ONEOFS, ids=lambda case: f"{case[1].name}-{case[2].name}")
def test_two_members_of_a_oneof_are_told(carrier: Carrier, first, second):
    one, other = (
        length(field.number, b"") if wire_type_of(field) == LEN else some_value(field) for field in (first, second)
    )
    data, offset = carrier.model(one + other)
    model = loaded(data)
    assert faults(model) == [(FaultKind.REPEATED, carrier.field_place(second), offset + len(one))]
    (fault,) = model.faults
    assert fault.message == f"{carrier.message} has both {first.name} and {second.name}, but only one can be set"


@each_message
@each_case(
    "content",
    [number(1000, 5), length(1000, "text"), tag(1000, FIXED32) + bytes(4), tag(1000, FIXED64) + bytes(8)],
    ids=["varint", "len", "fixed32", "fixed64"],
)
def test_an_unknown_field_is_told(carrier: Carrier, content: bytes):
    data, offset = carrier.model(content)
    model = loaded(data)
    assert model.loaded
    assert [(*fault[:2], fault[2]) for fault in faults(model)] == [(FaultKind.UNKNOWN_FIELD, carrier.place, offset)]
    (fault,) = model.faults
    assert (fault.message_type, fault.number, fault.length) == (carrier.message, 1000, len(content))


@each_message
def test_an_unknown_group_is_told_once_and_its_content_is_nobodys(carrier: Carrier):
    inside = number(1, 1) + length(7, b"\xff") + group(3, length(2, b"\xff"))
    data, offset = carrier.model(group(1000, inside))
    model = loaded(data)
    assert model.loaded
    assert faults(model) == [(FaultKind.UNKNOWN_FIELD, carrier.place, offset)]


def test_many_faults_of_a_kind_are_counted():
    count = MAX_FAULTS + 5
    model = loaded(MODEL + number(1000, 1) * count)
    assert len(model.faults) == MAX_FAULTS + 1
    assert model.faults[-1].message == "5 more faults of this kind are not listed"
    assert len(loaded(MODEL + number(1000, 1) * MAX_FAULTS).faults) == MAX_FAULTS


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b"\x00\x01", "the bytes are not Protocol Buffers fields: field number 0 does not exist"),
        (b"\x0e", "the bytes are not Protocol Buffers fields: wire type 6 does not exist"),
        (b"\x0f", "the bytes are not Protocol Buffers fields: wire type 7 does not exist"),
        (tag(1000, 4), "the bytes are not Protocol Buffers fields: the end of group 1000 has no beginning"),
        (
            tag(1000, 3) + tag(1001, 4),
            "the bytes are not Protocol Buffers fields: the end of group 1001 has no beginning",
        ),
        (tag(1000, 3), "the bytes are not Protocol Buffers fields: a group is never closed"),
    ],
)
def test_bytes_that_are_no_fields(tail: bytes, message: str):
    model = loaded(MODEL + tail)
    assert (model.loaded, protobuf_reads(MODEL + tail)) == (False, False)
    assert [fault.message for fault in model.faults if fault.kind is FaultKind.NOT_A_MODEL] == [message]


@pytest.mark.parametrize("data", [tag(1000, 4), tag(1000, 3), b"\x00\x01", b"\x0f", tag(1000, LEN) + b"\x7f"])
def test_bytes_that_never_looked_like_a_model_are_told_as_such(data: bytes):
    model = loaded(data)
    assert (model.loaded, protobuf_reads(data)) == (False, False)
    assert [(fault.kind, fault.message, fault.offset) for fault in model.faults] == [
        (FaultKind.NOT_A_MODEL, "the file is binary data, but not a Protocol Buffers message", 0)
    ]


def test_a_message_longer_than_the_one_around_it_is_no_model():
    """The file goes on behind the graph, so it is not cut short."""
    data = length(7, tag(1, LEN) + b"\x7f" + GRAPH) + BASE
    model = loaded(data)
    assert not model.loaded
    (fault,) = model.faults
    assert (fault.kind, str(fault.place), fault.offset) == (FaultKind.NOT_A_MODEL, "graph", 2)


def _nested(depth: int) -> bytes:
    """`depth` messages one inside the other: graph, node, attribute, graph, node, ..."""
    numbers = [7, *([1, 5, 6] * depth)][:depth]
    content = b""
    for field in reversed(numbers):
        content = length(field, content)
    return BASE + content


@pytest.mark.parametrize("depth", range(96, 106))
def test_nesting_is_refused_where_protobuf_refuses_it(depth: int):
    data = _nested(depth)
    model = loaded(data)
    assert model.loaded == protobuf_reads(data) == (depth <= 100)
    if not model.loaded:
        assert [fault.kind for fault in model.faults] == [FaultKind.NESTING]


def _type(depth: int, content: bytes) -> bytes:
    """A TypeProto of so many sequences, maps and optionals in turn, with the fields in the tensor type inside."""
    inner = length(1, number(1, 1) + content)
    for level in range(depth):
        if level % 3 == 1:
            inner = length(5, number(1, 7) + length(2, inner))
        else:
            inner = length((4, 5, 9)[level % 3], length(1, inner))
    return inner


@each_case("depth", [0, 9, 15, 16, 28, 29, 30, 31, 40, 45])
@each_case("place", ["input", "value_info", "attribute", "subgraph"])
def test_an_unknown_field_in_a_type_is_found_however_deep_it_is(depth: int, place: str):
    """Protocol Buffers removes unknown fields 64 messages deep, and parses 100."""
    for content, kinds in ((b"", []), (number((1 << 29) - 1, 5), [FaultKind.UNKNOWN_FIELD])):
        type_ = _type(depth, content)
        value = length(1, b"v") + length(2, type_)
        node = length(4, b"Relu")
        match place:
            case "input":
                graph = length(11, value)
            case "value_info":
                graph = length(13, value)
            case "attribute":
                graph = length(1, node + length(5, length(1, b"t") + length(14, type_) + number(20, 13)))
            case _:
                graph = length(13, value)
                for _ in range(3):
                    graph = length(1, node + length(5, length(1, b"g") + length(6, graph) + number(20, 5)))
        data = BASE + length(7, graph)
        model = loaded(data)
        if not protobuf_reads(data):
            assert [fault.kind for fault in model.faults] == [FaultKind.NESTING]
            continue
        assert [fault.kind for fault in model.faults] == kinds, (depth, place)


@each_case("messages", [0, 1, 40, 99])
@each_case("total", [99, 100, 101, 110])
def test_groups_count_like_messages(messages: int, total: int):
    if total < messages:
        return
    content = b""
    for _ in range(total - messages):
        content = group(1000, content)
    for field in reversed([7, *([1, 5, 6] * messages)][:messages]):
        content = length(field, content)
    data = BASE + (content if messages else length(7, GRAPH) + content)
    model = loaded(data)
    assert model.loaded == protobuf_reads(data) == (total <= 100)
    kinds = {fault.kind for fault in model.faults}
    assert kinds == ({FaultKind.UNKNOWN_FIELD} if total > messages else set()) | (
        set() if model.loaded else {FaultKind.NESTING}
    )


@one_in(4)
def test_damaged_models_never_raise(step: int):
    """Bytes that protobuf rejects are rejected with a reason, and bytes that it reads are read."""
    data = rich_model()
    generator = random.Random(11)
    for _ in range(3000 // step):
        damaged = bytearray(data)
        for _ in range(generator.choice([1, 1, 2, 5])):
            position = generator.randrange(len(damaged))
            match generator.randrange(3):
                case 0:
                    damaged[position] = generator.randrange(256)
                case 1:
                    del damaged[position : position + generator.randrange(1, 4)]
                case _:
                    damaged[position:position] = generator.randbytes(generator.randrange(1, 4))
        model = loaded(bytes(damaged))
        reads = protobuf_reads(bytes(damaged))
        assert model.loaded or model.faults
        if reads:
            assert model.loaded or [fault.kind for fault in model.faults] == [FaultKind.NOT_A_MODEL]
        elif model.loaded:
            assert {fault.kind for fault in model.faults} >= {FaultKind.UTF8}, "only strings are mended"
        list(model.graphs)
        _ = model.resolution


def _read(data: bytes, kind: str = "ModelProto"):
    proto, faults = read_irregular(BytesSource(data), kind, data, DEFAULT_LIMITS)
    return proto, [fault.kind for fault in faults]


@pytest.mark.parametrize(
    ("name", "readable"), [(b"ab\xff", "ab?"), (b"\xe2\x82", "??"), ("é\u20ac".encode()[:-1] + b"!", "é??!")]
)
def test_each_byte_that_is_no_character_is_a_question_mark(name: bytes, readable: str):
    proto, faults = _read(number(1, 10) + length(2, name) + length(7, length(2, b"g")))
    assert faults == [FaultKind.UTF8]
    assert (proto.ir_version, proto.producer_name, proto.graph.name) == (10, readable, "g")


def test_of_a_file_that_is_cut_short_nothing_is_read():
    assert _read((number(1, 10) + length(2, "producer"))[:-1]) == (None, [FaultKind.TRUNCATED])


def test_single_messages_are_read_too():
    proto, faults = _read(length(1, b"\xff") + length(4, "Relu"), "NodeProto")
    assert faults == [FaultKind.UTF8]
    assert (list(proto.input), proto.op_type) == (["?"], "Relu")
