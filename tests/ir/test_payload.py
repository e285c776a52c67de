# SPDX-License-Identifier: Apache-2.0
"""The payloads of tensors, which stay in the source."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from support.models.messages import message_of
from support.models.model_samples import loaded
from support.project.each_case import each_case
from support.wire.wire_bytes import (
    BASE,
    FIXED32,
    GRAPH,
    LEN,
    group,
    length,
    number,
    rich_model,
    tag,
    varint,
)

from onnx_lint import schema
from onnx_lint.input.source import BytesSource, FileSource, open_file
from onnx_lint.ir.places.place import ROOT, PlaceKey
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.model import FaultKind, Model, Payload, Proto

RAW = b"0123456789abcdef" * 2
FLOATS = bytes(range(32))
INTS = b"".join(varint(value * 1000) for value in range(20))
TENSOR = {name: field.number for name, field in schema.message("TensorProto").DESCRIPTOR.fields_by_name.items()}


def _number(message: str, field: str) -> int:
    return schema.message(message).DESCRIPTOR.fields_by_name[field].number


LAYOUTS: dict[str, tuple[bytes, bytes, Payload]] = {
    # What stands in the tensor, what stays of it, and the payload with its offset counted from there.
    "raw_data": (length(TENSOR["raw_data"], RAW), length(TENSOR["raw_data"], b""), Payload("raw_data", 2, 32, True)),
    "packed-floats": (length(TENSOR["float_data"], FLOATS), b"", Payload("float_data", 2, 32, True)),
    "packed-ints": (length(TENSOR["int64_data"], INTS), b"", Payload("int64_data", 2, len(INTS), True)),
    "unpacked-floats": (
        b"".join(tag(TENSOR["float_data"], FIXED32) + FLOATS[start : start + 4] for start in range(0, 32, 4)),
        b"",
        Payload("float_data", 0, 40, False),
    ),
    "unpacked-ints": (number(TENSOR["int32_data"], 5) * 20, b"", Payload("int32_data", 0, 40, False)),
    "strings": (length(TENSOR["string_data"], "text") * 5, b"", Payload("string_data", 0, 30, False)),
}

PLACES: dict[str, tuple[tuple[str, int | None], ...]] = {
    "initializer": (("graph", None), ("initializer", 1)),
    "sparse-values": (("graph", None), ("sparse_initializer", 0), ("values", None)),
    "sparse-indices": (("graph", None), ("sparse_initializer", 0), ("indices", None)),
    "attribute": (("graph", None), ("node", 1), ("attribute", 0), ("t", None)),
    "attribute-list": (("graph", None), ("node", 0), ("attribute", 1), ("tensors", 2)),
    "attribute-sparse": (("graph", None), ("node", 0), ("attribute", 0), ("sparse_tensor", None), ("values", None)),
    "attribute-sparse-list": (
        ("graph", None), ("node", 0), ("attribute", 0), ("sparse_tensors", 1), ("indices", None),
    ),
    "nested-graph": (("graph", None), ("node", 0), ("attribute", 0), ("g", None), ("initializer", 0)),
    "nested-graph-list": (("graph", None), ("node", 0), ("attribute", 0), ("graphs", 1), ("initializer", 0)),
    "function": (("functions", 1), ("node", 0), ("attribute", 0), ("t", None)),
    "function-default": (("functions", 0), ("attribute_proto", 0), ("t", None)),
    "initialization": (("training_info", 0), ("initialization", None), ("initializer", 0)),
    "algorithm": (("training_info", 1), ("algorithm", None), ("node", 0), ("attribute", 0), ("t", None)),
}  # fmt: skip


def _wrapped(key: PlaceKey, content: bytes) -> tuple[bytes, int]:
    """A model with `content` at `key`, empty messages before it where the index asks for them, and its offset."""
    messages = ["ModelProto"]
    for field, _ in key:
        descriptor = schema.message(messages[-1]).DESCRIPTOR.fields_by_name[field]
        messages.append(descriptor.message_type.full_name.removeprefix("onnx."))
    data, offset = content, 0
    for (field, index), message in reversed(list(zip(key, messages, strict=False))):
        field_number = _number(message, field)
        head = length(field_number, b"") * (index or 0) + tag(field_number, LEN) + varint(len(data))
        data, offset = head + data, offset + len(head)
    return number(1, 10) + data, offset + 2


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is walked, and every value of 16 bytes or more stays in the source."""
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 16)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 16)


@pytest.mark.usefixtures("small_limits")
@each_case("key", PLACES.values(), ids=PLACES)
@each_case(("content", "kept", "payload"), LAYOUTS.values(), ids=LAYOUTS)
def test_payloads_stay_in_the_source(key: PlaceKey, content: bytes, kept: bytes, payload: Payload):
    before, after = number(TENSOR["data_type"], 1), length(TENSOR["name"], "w")
    data, offset = _wrapped(key, before + content + after)
    model = loaded(data)
    start = offset + len(before)
    expected = Payload(payload.field, start + payload.offset, payload.length, payload.packed)
    assert model.payloads == {key: (expected,)}
    stored = data[expected.offset : expected.offset + expected.length]
    assert content.endswith(stored)
    assert message_of(model) == schema.message("ModelProto").FromString(_wrapped(key, before + kept + after)[0])


@pytest.mark.usefixtures("small_limits")
def test_small_values_and_other_fields_stay_in_the_message():
    tensor = length(TENSOR["raw_data"], b"short") + length(TENSOR["doc_string"], "long " * 50)
    data, _ = _wrapped(PLACES["initializer"], tensor)
    model = loaded(data)
    assert model.payloads == {}
    assert message_of(model) == schema.message("ModelProto").FromString(data)


@pytest.mark.usefixtures("small_limits")
def test_two_payloads_of_one_tensor():
    tensor = length(TENSOR["float_data"], FLOATS) + number(TENSOR["dims"], 3) + length(TENSOR["float_data"], FLOATS)
    data, offset = _wrapped(PLACES["initializer"], tensor)
    model = loaded(data)
    payloads = (Payload("float_data", offset + 2, 32, True), Payload("float_data", offset + 38, 32, True))
    assert model.payloads == {PLACES["initializer"]: payloads}


@pytest.mark.usefixtures("small_limits")
def test_payloads_of_a_graph_in_two_pieces_are_told_apart():
    """Parsers merge the pieces, so the initializer of the second piece has the index 1."""
    initializer = length(_number("GraphProto", "initializer"), length(TENSOR["raw_data"], RAW))
    data = number(1, 10) + length(7, initializer) * 2
    model = loaded(data)
    assert [str(fault.place) for fault in model.faults] == ["graph"]
    first, second = 2 + 2 + 2 + 2, 2 + len(length(7, initializer)) + 2 + 2 + 2
    assert model.payloads == {
        (("graph", None), ("initializer", 0)): (Payload("raw_data", first, 32, True),),
        (("graph", None), ("initializer", 1)): (Payload("raw_data", second, 32, True),),
    }


@pytest.mark.usefixtures("small_limits")
def test_a_group_holds_no_payload():
    """Fields in an unknown group do not belong to the message around it."""
    initializer = length(_number("GraphProto", "initializer"), length(TENSOR["raw_data"], RAW))
    unknown = group(1000, initializer + length(TENSOR["raw_data"], RAW))
    data = number(1, 10) + length(7, unknown + initializer)
    model = loaded(data)
    place = (("graph", None), ("initializer", 0))
    assert model.payloads == {place: (Payload("raw_data", len(data) - 32, 32, True),)}
    tensor, _ = _wrapped(PLACES["initializer"], unknown + number(TENSOR["data_type"], 1))
    assert loaded(tensor).payloads == {}


def _restored(model: Model, data: bytes) -> Proto:
    """The message with all payloads put back."""
    proto = message_of(model)
    for key, payloads in model.payloads.items():
        tensor = proto
        for name, index in key:
            tensor = getattr(tensor, name) if index is None else getattr(tensor, name)[index]
        for payload in payloads:
            content = data[payload.offset : payload.offset + payload.length]
            tensor.MergeFromString(length(TENSOR[payload.field], content) if payload.packed else content)
    return proto


def _random_tensor(generator: random.Random) -> bytes:
    # Each field at most once: what is put back stands behind what stayed.
    kinds = generator.sample(list(LAYOUTS), generator.randrange(3))
    fields = {LAYOUTS[kind][2].field: LAYOUTS[kind][0] for kind in kinds}
    parts = [*fields.values(), length(TENSOR["name"], "n" * generator.randrange(40)), number(TENSOR["dims"], 300)]
    generator.shuffle(parts)
    return b"".join(parts)


@each_case("seed", range(60), one_in=3)
def test_the_skeleton_with_its_payloads_is_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch):
    generator = random.Random(seed)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", generator.choice([2, 8, 16, 33, 64, 4096]))
    initializer = _number("GraphProto", "initializer")

    def graph(depth: int) -> bytes:
        parts = [length(initializer, _random_tensor(generator)) for _ in range(generator.randrange(4))]
        for _ in range(generator.randrange(3)):
            attributes = [length(5, length(5, _random_tensor(generator))) for _ in range(generator.randrange(3))]
            if depth:
                attributes.append(length(5, length(6, graph(depth - 1))))
            generator.shuffle(attributes)
            parts.append(length(1, length(1, "x" * generator.randrange(30)) + b"".join(attributes)))
        parts.append(length(2, "name"))
        generator.shuffle(parts)
        return b"".join(parts)

    node = length(_number("FunctionProto", "node"), length(5, length(5, _random_tensor(generator))))
    training = length(_number("TrainingInfoProto", "algorithm"), graph(1))
    parts = [number(1, 10), length(7, graph(3)), length(25, node), length(20, training), length(8, number(2, 21))]
    generator.shuffle(parts)
    data = b"".join(parts)
    model = loaded(data)
    assert model.faults == ()
    assert _restored(model, data) == schema.message("ModelProto").FromString(data)
    size = sum(payload.length for payloads in model.payloads.values() for payload in payloads)
    assert model.proto.ByteSize() <= len(data) - size + 200


class CountingSource(BytesSource):
    """Counts the bytes that are read from a source."""

    def __init__(self, source: FileSource) -> None:
        super().__init__(b"")
        self.source = source
        self.size = source.size
        self.read = 0

    def read_at(self, offset: int, length: int) -> bytes:
        data = self.source.read_at(offset, length)
        self.read += len(data)
        return data


def test_a_model_above_two_gibibytes_costs_what_its_graph_costs(tmp_path: Path):
    """The weights are a hole in a sparse file, with the last graph field behind it."""
    size = (1 << 31) + (1 << 28) + 5
    path = tmp_path / "model.onnx"
    head = number(TENSOR["dims"], size) + number(TENSOR["data_type"], 2) + length(TENSOR["name"], "w")
    raw = tag(TENSOR["raw_data"], LEN) + varint(size)
    tensor_size = len(head) + len(raw) + size
    initializer = tag(_number("GraphProto", "initializer"), LEN) + varint(tensor_size)
    doc_string = length(_number("GraphProto", "doc_string"), "behind the weights")
    graph_size = len(GRAPH) + len(initializer) + tensor_size + len(doc_string)
    front = BASE + tag(7, LEN) + varint(graph_size) + GRAPH + initializer + head + raw
    path.write_bytes(front)
    os.truncate(path, len(front) + size)
    with path.open("ab") as file:
        file.write(doc_string)

    source = CountingSource(open_file(path))
    model = load(source, str(path))
    assert (model.loaded, model.faults) == (True, ())
    assert model.payloads == {
        (("graph", None), ("initializer", 0)): (Payload("raw_data", len(front), size, True),),
    }
    assert model.proto.graph.doc_string == "behind the weights"
    assert model.proto.ByteSize() < 1000
    assert source.read < 2_000_000  # some windows at its ends and around the weights, some of them twice
    graph = ROOT.at("graph")
    assert model.places.byte_range(graph.at("initializer", 0).at("raw_data")) == (
        len(front) - len(raw),
        len(front) + size,
    )
    assert model.places.byte_range(graph.at("doc_string")) == (len(front) + size, path.stat().st_size)
    source.source.close()


@pytest.mark.parametrize("whole_bytes", [0, 1 << 22])
def test_a_file_that_shrank_is_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole_bytes: int):
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", whole_bytes)
    path = tmp_path / "model.onnx"
    path.write_bytes(rich_model())
    source = open_file(path)
    os.truncate(path, 100)
    model = load(source, str(path))
    assert not model.loaded
    assert [fault.kind for fault in model.faults] == [FaultKind.TRUNCATED]
    source.close()


@pytest.mark.usefixtures("small_limits")
def test_a_small_piece_of_a_graph_counts():
    small = length(_number("GraphProto", "initializer"), length(TENSOR["name"], "s"))
    large = length(_number("GraphProto", "initializer"), length(TENSOR["raw_data"], RAW))
    model = loaded(number(1, 10) + length(7, small) + length(7, large))
    assert list(model.payloads) == [(("graph", None), ("initializer", 1))]
    assert model.main_graph.initializer_names == ["s", ""]
