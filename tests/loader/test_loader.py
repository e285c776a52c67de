# SPDX-License-Identifier: Apache-2.0
"""The loader reads every form of a model and tells what is wrong with the bytes; nothing makes it raise."""

from __future__ import annotations

import gzip
import io
import random
import zipfile

import pytest
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError
from messages import message_of
from wire_bytes import (
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
    varint,
    wire_type_of,
)

from onnx_lint import schema
from onnx_lint.limits import DEFAULT_LIMITS
from onnx_lint.loader import load, strip_payloads
from onnx_lint.loader.wire_audit import MAX_FAULTS, inspect
from onnx_lint.model import FaultKind, Model
from onnx_lint.source import BytesSource

MODEL = BASE + length(7, GRAPH)


def _load(data: bytes, name: str = "model.onnx") -> Model:
    return load(BytesSource(data), name)


def _faults(model: Model) -> list[tuple[FaultKind, str, int | None]]:
    return [(fault.kind, str(fault.place), fault.offset) for fault in model.faults]


def _protobuf_reads(data: bytes) -> bool:
    try:
        schema.message("ModelProto").FromString(data)
    except (DecodeError, UnicodeDecodeError):
        return False
    return True


# --- what is no model


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.onnx", MODEL)
    return buffer.getvalue()


TENSOR = number(1, 2) + number(2, 1) + length(8, "x") + length(9, bytes(8))

NO_MODELS = {
    "empty": (b"", "the file is empty"),
    "lfs-pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "the file is a Git LFS pointer; the model itself was not checked out",
    ),
    "gzip": (gzip.compress(MODEL), "the file is a gzip archive, not a model"),
    "zip": (_zip(), "the file is a zip archive (such as a PyTorch checkpoint or a NumPy .npz), not a model"),
    "empty-zip": (b"PK\5\6" + bytes(18), "the file is an empty zip archive, not a model"),
    "tar": (b"model.onnx".ljust(257, b"\0") + b"ustar\x0000", "the file is a tar archive, not a model"),
    "text": (b"Not found.\n", "the file is text, not a model"),
    "onnx.parser": (
        b'<\n   ir_version: 8,\n   opset_import: [ "" : 18 ]\n>\nagraph (float[N] x) => (float[N] y) { y = Relu(x) }\n',
        "the file is in the syntax of onnx.parser, which is no serialized form of a model",
    ),
    "a graph for onnx.parser": (
        b"agraph (float[N] x) => (float[N] y) { y = Relu(x) }",
        "the file is in the syntax of onnx.parser, which is no serialized form of a model",
    ),
    "html": (b"\n <!DOCTYPE html>\n<p>", "the file is HTML or XML text, not a model"),
    "xml": (b'<?xml version="1.0"?><net/>', "the file is HTML or XML text, not a model"),
    "utf-16": ("ir_version: 8".encode("utf-16"), "the file is UTF-16 text, not a model"),
    "ort": (b"\x20\0\0\0ORTM" + bytes(24), "the file is an ONNX Runtime flatbuffer (.ort), not a model"),
    "tflite": (b"\x20\0\0\0TFL3" + bytes(24), "the file is a TensorFlow Lite flatbuffer, not a model"),
    "safetensors": (b'\x08\0\0\0\0\0\0\0{"a":{}}' + bytes(9), "the file is a safetensors file, not a model"),
    "npy": (b"\x93NUMPY\1\0v\0{'descr'", "the file is a NumPy array, not a model"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(9), "the file is an HDF5 file, not a model"),
    "gguf": (b"GGUF\3\0\0\0", "the file is a GGUF file, not a model"),
    "pickle": (b"\x80\x04\x95\0\0\0\0\0\0\0\0}\x94.", "the file is a Python pickle, not a model"),
    "tensor": (TENSOR, "the file is no ModelProto, but may be TensorProto (option --proto)"),
    "graph": (
        GRAPH + length(11, length(1, "x")) + length(12, length(1, "y")),
        "the file is no ModelProto, but may be GraphProto (option --proto)",
    ),
    "random": (b"\xff" + random.Random(3).randbytes(500), "the file is binary data, but no Protocol Buffers message"),
    "zeros": (bytes(1000), "the file is binary data, but no Protocol Buffers message"),
}


@pytest.mark.parametrize(("data", "message"), NO_MODELS.values(), ids=NO_MODELS)
def test_what_is_no_model_is_named(data: bytes, message: str):
    model = _load(data)
    assert not model.loaded
    assert [(fault.kind, str(fault.place), fault.message, fault.offset) for fault in model.faults] == [
        (FaultKind.NOT_A_MODEL, "model", message, 0)
    ]


def test_an_empty_standard_input_is_named():
    assert [fault.message for fault in _load(b"", "-").faults] == ["standard input is empty"]


# --- binary form


def test_a_sound_model_has_no_faults():
    model = _load(MODEL)
    assert (model.loaded, model.form, model.faults, model.payloads) == (True, "binary", (), {})
    assert message_of(model) == schema.message("ModelProto").FromString(MODEL)


def test_a_model_cut_anywhere_is_told():
    """A cut between two top-level fields leaves a message that parses; every other cut is the one fault there is."""
    data = rich_model()
    boundaries = set()
    for cut in range(2, len(data)):  # of a single byte nobody can say what it was to become
        model = _load(data[:cut])
        assert model.loaded == _protobuf_reads(data[:cut]), cut
        if model.loaded:
            boundaries.add(cut)
            assert model.faults == (), cut
            continue
        (fault,) = model.faults
        assert fault.kind is FaultKind.TRUNCATED, cut
        assert fault.offset is not None
        assert 0 <= fault.offset < cut
        assert f"the file ends at byte {cut:,} inside {fault.place}" in fault.message
    top_level = {end for *_, end in _top_level(data)}
    assert boundaries == top_level - {len(data)}


def _top_level(data: bytes):
    """Where each top-level field of the model begins and ends."""
    position = 0
    while position < len(data):
        start = position
        key, position = _varint(data, position)
        value, position = _varint(data, position)
        if key & 7 == LEN:
            position += value
        yield start, position


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


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
    assert _faults(_load(MODEL[:cut])) == [(FaultKind.TRUNCATED, place, offset)]


EACH_FIELD = [pytest.param(carrier, field, id=f"{carrier.message}.{field.name}") for carrier, field in fields()]
EACH_MESSAGE = [pytest.param(carrier, id=carrier.message) for carrier in carriers()]


def test_every_message_of_a_model_is_reached():
    reachable = {carrier.message for carrier in carriers()}
    assert {
        "TypeProto.Optional",
        "SparseTensorProto",
        "TensorShapeProto.Dimension",
        "SimpleShardedDimProto",
    } <= reachable
    assert len(list(fields())) > 120


@pytest.mark.parametrize(("carrier", "field"), EACH_FIELD)
def test_a_field_of_the_declared_type_is_sound(carrier: Carrier, field):
    content = some_value(field) if wire_type_of(field) != LEN else length(field.number, b"")
    data, _ = carrier.model(content, without=field.name)
    model = _load(data)
    assert (model.loaded, model.faults) == (True, ())


@pytest.mark.parametrize(("carrier", "field"), EACH_FIELD)
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
        model = _load(data)
        assert model.loaded
        assert _faults(model) == [(FaultKind.WIRE_TYPE, carrier.field_place(field), offset)], wire_type


@pytest.mark.parametrize(
    ("carrier", "field"), [case for case in EACH_FIELD if case.values[1].type == case.values[1].TYPE_STRING]
)
@pytest.mark.parametrize("text", [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_a_string_that_is_not_utf8_is_told(carrier: Carrier, field, text: bytes):
    data, offset = carrier.model(length(field.number, text), without=field.name)
    model = _load(data)
    assert model.loaded, "the rest of the model is judged all the same"
    start = offset + len(length(field.number, text)) - len(text)
    assert _faults(model) == [(FaultKind.UTF8, carrier.field_place(field), start)]
    (fault,) = model.faults
    assert fault.length == len(text)
    assert f"field {field.name} of {carrier.message} is not UTF-8 at byte " in fault.message


@pytest.mark.parametrize(("carrier", "field"), [case for case in EACH_FIELD if not is_repeated(case.values[1])])
def test_a_singular_field_given_twice_is_told(carrier: Carrier, field):
    once = length(field.number, b"") if wire_type_of(field) == LEN else some_value(field)
    data, offset = carrier.model(once * 2, without=field.name)
    offset += len(once)
    model = _load(data)
    assert model.loaded
    assert _faults(model) == [(FaultKind.REPEATED, carrier.field_place(field), offset)]


ONEOFS = [
    pytest.param(carrier, first, second, id=f"{first.name}-{second.name}")
    for carrier in carriers()
    for oneof in carrier.descriptor.oneofs
    for first, second in zip(oneof.fields, [*oneof.fields[1:], oneof.fields[0]], strict=True)
]


@pytest.mark.parametrize(("carrier", "first", "second"), ONEOFS)
def test_two_members_of_a_oneof_are_told(carrier: Carrier, first, second):
    one, other = (
        length(field.number, b"") if wire_type_of(field) == LEN else some_value(field) for field in (first, second)
    )
    data, offset = carrier.model(one + other)
    model = _load(data)
    assert _faults(model) == [(FaultKind.REPEATED, carrier.field_place(second), offset + len(one))]
    (fault,) = model.faults
    assert fault.message == f"{carrier.message} has both {first.name} and {second.name}, of which only one can be set"


@pytest.mark.parametrize("carrier", EACH_MESSAGE)
@pytest.mark.parametrize(
    "content",
    [number(1000, 5), length(1000, "text"), tag(1000, FIXED32) + bytes(4), tag(1000, FIXED64) + bytes(8)],
    ids=["varint", "len", "fixed32", "fixed64"],
)
def test_an_unknown_field_is_told(carrier: Carrier, content: bytes):
    data, offset = carrier.model(content)
    model = _load(data)
    assert model.loaded
    assert [(*fault[:2], fault[2]) for fault in _faults(model)] == [(FaultKind.UNKNOWN_FIELD, carrier.place, offset)]
    (fault,) = model.faults
    assert (fault.message_type, fault.number, fault.length) == (carrier.message, 1000, len(content))


@pytest.mark.parametrize("carrier", EACH_MESSAGE)
def test_an_unknown_group_is_told_once_and_its_content_is_nobodys(carrier: Carrier):
    inside = number(1, 1) + length(7, b"\xff") + group(3, length(2, b"\xff"))
    data, offset = carrier.model(group(1000, inside))
    model = _load(data)
    assert model.loaded
    assert _faults(model) == [(FaultKind.UNKNOWN_FIELD, carrier.place, offset)]


def test_many_faults_of_a_kind_are_counted():
    count = MAX_FAULTS + 5
    model = _load(MODEL + number(1000, 1) * count)
    assert len(model.faults) == MAX_FAULTS + 1
    assert model.faults[-1].message == "5 more faults of this kind are not listed"


def test_two_models_one_after_the_other():
    model = _load(MODEL * 2)
    assert model.loaded
    expected = [(FaultKind.REPEATED, "ir_version", len(MODEL)), (FaultKind.REPEATED, "graph", len(MODEL) + len(BASE))]
    assert _faults(model)[:2] == expected
    assert "two models written one after the other" in model.faults[0].message


def test_fields_in_any_order_and_long_varints_are_sound():
    long_length = tag(7, LEN) + bytes([len(GRAPH) | 0x80, 0x80, 0x00]) + GRAPH
    long_tag = bytes([0x08 | 0x80, 0x80, 0x80, 0x80, 0x00]) + b"\x8a\x80\x80\x80\x80\x80\x80\x80\x80\x00"
    data = long_length + length(8, number(2, 21) + length(1, "")) + long_tag
    assert _protobuf_reads(data)
    model = _load(data)
    assert (model.loaded, model.faults) == (True, ())
    assert model.ir_version == 10


def test_a_varint_of_eleven_bytes_is_no_model():
    data = MODEL + tag(5, VARINT) + b"\xff" * 10 + b"\1"
    assert not _protobuf_reads(data)
    model = _load(data)
    assert not model.loaded
    assert _faults(model) == [(FaultKind.NOT_A_MODEL, "model", len(MODEL))]


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b"\x00\x01", "the bytes are no Protocol Buffers fields: field number 0 does not exist"),
        (b"\x0e", "the bytes are no Protocol Buffers fields: wire type 6 does not exist"),
        (b"\x0f", "the bytes are no Protocol Buffers fields: wire type 7 does not exist"),
        (tag(1000, 4), "the bytes are no Protocol Buffers fields: the end of group 1000 has no beginning"),
        (
            tag(1000, 3) + tag(1001, 4),
            "the bytes are no Protocol Buffers fields: the end of group 1001 has no beginning",
        ),
        (tag(1000, 3), "the bytes are no Protocol Buffers fields: a group is never closed"),
    ],
)
def test_bytes_that_are_no_fields(tail: bytes, message: str):
    model = _load(MODEL + tail)
    assert (model.loaded, _protobuf_reads(MODEL + tail)) == (False, False)
    assert [fault.message for fault in model.faults if fault.kind is FaultKind.NOT_A_MODEL] == [message]


@pytest.mark.parametrize("data", [tag(1000, 4), tag(1000, 3), b"\x00\x01", b"\x0f", tag(1000, LEN) + b"\x7f"])
def test_bytes_that_never_looked_like_a_model_are_told_as_such(data: bytes):
    model = _load(data)
    assert (model.loaded, _protobuf_reads(data)) == (False, False)
    assert [(fault.kind, fault.message, fault.offset) for fault in model.faults] == [
        (FaultKind.NOT_A_MODEL, "the file is binary data, but no Protocol Buffers message", 0)
    ]


def test_a_message_longer_than_the_one_around_it_is_no_model():
    """The file goes on behind the graph, so it is not cut short."""
    data = length(7, tag(1, LEN) + b"\x7f" + GRAPH) + BASE
    model = _load(data)
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
    model = _load(data)
    assert model.loaded == _protobuf_reads(data) == (depth <= 100)
    if not model.loaded:
        assert [fault.kind for fault in model.faults] == [FaultKind.NESTING]


@pytest.mark.parametrize("messages", [0, 1, 40, 99])
@pytest.mark.parametrize("total", [99, 100, 101, 110])
def test_groups_count_like_messages(messages: int, total: int):
    if total < messages:
        return
    content = b""
    for _ in range(total - messages):
        content = group(1000, content)
    for field in reversed([7, *([1, 5, 6] * messages)][:messages]):
        content = length(field, content)
    data = BASE + (content if messages else length(7, GRAPH) + content)
    model = _load(data)
    assert model.loaded == _protobuf_reads(data) == (total <= 100)
    kinds = {fault.kind for fault in model.faults}
    assert kinds == ({FaultKind.UNKNOWN_FIELD} if total > messages else set()) | (
        set() if model.loaded else {FaultKind.NESTING}
    )


@pytest.mark.parametrize("depth", [5_000, 100_000])
def test_very_deep_nesting_is_quick_and_safe(depth: int):
    message = b""
    for field in ([6, 5, 1] * depth)[:1_998]:
        message = length(field, message)
    assert [fault.kind for fault in _load(BASE + length(7, message)).faults] == [FaultKind.NESTING]
    groups = tag(1000, 3) * depth + tag(1000, 4) * depth
    assert FaultKind.NESTING in {fault.kind for fault in _load(MODEL + groups).faults}


def test_damaged_models_never_raise():
    """Whatever protobuf refuses is refused with a reason, and what it reads is read."""
    data = rich_model()
    generator = random.Random(11)
    for _ in range(3000):
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
        model = _load(bytes(damaged))
        reads = _protobuf_reads(bytes(damaged))
        assert model.loaded or model.faults
        if reads:
            assert model.loaded or [fault.kind for fault in model.faults] == [FaultKind.NOT_A_MODEL]
        elif model.loaded:
            assert {fault.kind for fault in model.faults} >= {FaultKind.UTF8}, "only strings are mended"
        list(model.graphs)
        _ = model.resolution


# --- text and JSON

TEXT = """
ir_version: 10
opset_import { version: 21 }
graph { name: "graph" node { op_type: "Relu" input: "x" output: "y" } }
"""


@pytest.mark.parametrize("name", ["model.textproto", "model.txtpb", "model.pbtxt", "model.onnx", "-", ""])
def test_text_is_told_by_its_content(name: str):
    model = _load(TEXT.encode(), name)
    assert (model.loaded, model.form, model.faults) == (True, "textproto", ())
    assert model.main_graph.nodes[0].op_type == "Relu"
    assert model.byte_range(model.main_graph.place) is None


@pytest.mark.parametrize("name", ["model.json", "model.onnx", "model.textproto", "-"])
@pytest.mark.parametrize("keep_names", [True, False])
def test_json_is_told_by_its_content(name: str, keep_names: bool):
    proto = schema.message("ModelProto").FromString(rich_model())
    text = json_format.MessageToJson(proto, preserving_proto_field_name=keep_names)
    model = _load(text.encode(), name)
    assert (model.loaded, model.form, model.faults) == (True, "json", ())
    assert message_of(model) == proto


@pytest.mark.parametrize("name", ["model.textproto", "model.json"])
def test_binary_is_told_by_its_content(name: str):
    model = _load(MODEL, name)
    assert (model.loaded, model.form) == (True, "binary")


def test_a_byte_order_mark_is_no_fault():
    assert _load(b"\xef\xbb\xbf" + TEXT.encode()).loaded


@pytest.mark.parametrize(
    ("text", "position", "offset"),
    [
        ("ir_version: eight", "line 1, column 13", 12),
        ("ir_version: 8\ngraph { name: 'ä' nodes { } }", "line 2, column 19", 33),
        ("ir_version: 8\ngraph {\n", "line 2, column 7", 20),
        ("ir_version: 8 ir_version: 9", "line 1, column 27", 26),
        ('graph { name: "a', "line 1, column 15", 14),
    ],
)
def test_a_fault_of_text_is_placed(text: str, position: str, offset: int):
    model = _load(text.encode(), "model.textproto")
    assert not model.loaded
    (fault,) = model.faults
    assert fault.kind is FaultKind.TEXT
    assert fault.message.startswith(f"the text is no model in protobuf text format: {position}: ")
    assert fault.offset == offset


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{\n  "ir_version": 8\n  "graph": {}\n}', "line 3 column 3"),
        ('{"graph": {"node": [{"op_type": 5}]}}', "graph.node.op_type: "),
        ('{"graph": 5}', "graph: "),
        ('{"graph": [1]}', "graph"),
        ('{"graph": {"node": {"op_type": "a"}}}', "graph.node: "),
        ('{"ir_version": 1.5}', "ir_version: "),
        ('{"ir_version": 1, "ir_version": 2}', "duplicate key ir_version"),
        ('{"opset": 1}', '"opset"'),
        ("{} {}", "line 1 column 4"),
        ("[" * 100_000, ""),
        ('{"graph": {"name": "\\ud800"}}', "graph.name: "),
    ],
)
def test_a_fault_of_json_is_placed(text: str, detail: str):
    model = _load(text.encode(), "model.json")
    assert not model.loaded
    (fault,) = model.faults
    assert fault.kind is FaultKind.TEXT
    assert fault.message.startswith("the text is no model in protobuf JSON: ")
    assert detail in fault.message


@pytest.mark.parametrize("text", ["nodes: " + "a" * 100_000, "ir_version: '" + "a" * 100_000])
def test_a_fault_of_text_has_a_short_message(text: str):
    (fault,) = _load(text.encode(), "model.textproto").faults
    assert len(fault.message) < 400


def _nested_text(depth: int, bracket: str = "{}") -> str:
    names = ["graph", *(["node", "attribute", "g"] * depth)][:depth]
    return "".join(f"{name} {bracket[0]} " for name in names) + bracket[1] * depth


def _nested_json(depth: int) -> str:
    names = ["graph", *(["node", "attribute", "g"] * depth)][:depth]
    opened, closed = "{", "}"
    for name in names:
        repeated = name in {"node", "attribute"}
        opened += f'"{name}": ' + ("[{" if repeated else "{")
        closed = ("}]" if repeated else "}") + closed
    return opened + closed


@pytest.mark.parametrize("depth", [50, 99, 100, 101, 150, 20_000])
def test_nesting_in_text_has_the_limit_of_the_binary_form(depth: int):
    for text, name in (
        (_nested_text(depth), "model.textproto"),
        (_nested_text(depth, "<>"), "model.textproto"),
        (_nested_json(depth), "model.json"),
    ):
        model = _load(text.encode(), name)
        assert model.loaded == (depth <= 100)
        assert [fault.kind for fault in model.faults] == ([] if depth <= 100 else [FaultKind.NESTING])


def test_lists_in_text_add_no_depth():
    text = "".join(
        f"{name} {'{' if name in ('graph', 'g') else '[ {'} " for name in ["graph", *["node", "attribute", "g"] * 33]
    )
    closed = "".join("}" if name in ("graph", "g") else "} ]" for name in [*["g", "attribute", "node"] * 33, "graph"])
    assert _load((text + closed).encode(), "model.textproto").loaded


def test_braces_in_strings_and_comments_add_no_depth():
    strings = "".join('doc_string: "{{{{" # {{{{ \'\n' if index == 0 else "# {{{{{{{{{{\n" for index in range(100))
    assert _load((TEXT + strings).encode(), "model.textproto").loaded


def test_text_that_is_not_utf8_is_placed():
    data = TEXT.encode() + b"# " + b"a" * 5000 + b"\n#\xff\n"
    (fault,) = _load(data).faults
    assert (fault.kind, fault.offset) == (FaultKind.TEXT, len(data) - 2)


def test_damaged_text_never_raises():
    proto = schema.message("ModelProto").FromString(rich_model())
    texts = [text_format.MessageToString(proto), json_format.MessageToJson(proto)]
    generator = random.Random(5)
    for _ in range(1000):
        text = list(generator.choice(texts))
        for _ in range(generator.choice([1, 2, 4])):
            position = generator.randrange(len(text))
            text[position : position + generator.randrange(3)] = generator.choice('{}[]":,\\0a\n<>#-é')
        model = _load("".join(text).encode(), "model.textproto")
        assert model.loaded == (not model.faults)


def test_long_lengths_allocate_nothing():
    for size in (1 << 31, 1 << 40, (1 << 64) - 1):
        data = BASE + tag(7, LEN) + varint(size) + GRAPH
        model = _load(data)
        assert not model.loaded
        assert {fault.kind for fault in model.faults} == {FaultKind.TRUNCATED}


def test_a_number_where_the_graph_should_be_is_no_other_message():
    """The fields could be those of a tensor, which would have no element type: a model was meant."""
    (fault,) = _load(BASE + number(7, 1)).faults
    assert (fault.kind, str(fault.place)) == (FaultKind.WIRE_TYPE, "graph")


# --- what is passed over


def test_an_unknown_field_is_found_however_deep():
    """Protocol Buffers removes unknown fields only from messages up to 64 deep."""
    for depth in range(1, 33):
        content = number(1000, 1)
        for _ in range(depth):
            content = length(1, length(5, length(6, content)))
        data = number(1, 10) + length(7, content)
        model = _load(data)
        assert model.loaded
        assert [kind for kind, _, _ in _faults(model)] == [FaultKind.UNKNOWN_FIELD], depth


@pytest.mark.parametrize("part", range(8))
def test_messages_that_are_passed_over_have_no_faults(part: int):
    """The walk finds the same whether it looks into messages that parse to what they are written as or not."""
    model = rich_model()
    rng = random.Random(part)
    for _ in range(150):
        data = bytearray(model)
        for _ in range(rng.choice((1, 1, 2, 5))):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 8, 10, 0x80, 0xFF, rng.randrange(256)))
        source = BytesSource(bytes(data))
        assert inspect(source) == inspect(source, skips_canonical=False)


def test_no_more_fields_are_looked_at_than_the_limit_allows():
    limits = DEFAULT_LIMITS.with_values({"fields": 100})
    for fields_of_model, loads in ((90, True), (110, False)):
        model = load(BytesSource(MODEL + number(1000, 1) * fields_of_model), "model.onnx", limits=limits)
        assert model.loaded is loads
        assert [fault.limit for fault in model.faults if fault.limit] == [] if loads else ["fields"]


def test_unpacked_values_of_a_tensor_count_little_towards_the_limit():
    tensor = number(1, 10_000) + number(2, 6) + number(5, 300) * 10_000 + length(8, "w") + number(1000, 1)
    data = BASE + length(7, length(5, tensor))
    model = load(BytesSource(data), "model.onnx", limits=DEFAULT_LIMITS.with_values({"fields": 1000}))
    assert [fault.kind for fault in model.faults] == [FaultKind.UNKNOWN_FIELD]


def test_long_lists_of_an_attribute_count_little_towards_the_limit(monkeypatch: pytest.MonkeyPatch):
    """As a tree ensemble has them: unpacked, as the schema declares them."""
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    limits = DEFAULT_LIMITS.with_values({"fields": 300})
    model = schema.message("ModelProto")(ir_version=10, graph={"name": "g"})
    node = model.graph.node.add(op_type="TreeEnsembleRegressor", domain="ai.onnx.ml")
    node.attribute.add(name="nodes_values", type=6, floats=range(5000))
    node.attribute.add(name="nodes_nodeids", type=7, ints=range(5000))
    node.attribute.add(name="nodes_modes", type=8, strings=[b"BRANCH_LEQ"] * 5000)
    data = model.SerializeToString()
    for written, kinds in ((data, []), (data + number(1000, 1), [FaultKind.UNKNOWN_FIELD])):
        loaded = load(BytesSource(written), "model.onnx", limits=limits)
        assert [fault.kind for fault in loaded.faults] == kinds
        assert message_of(loaded) == model
