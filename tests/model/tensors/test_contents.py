# SPDX-License-Identifier: Apache-2.0
"""The values of tensors: the same verdict wherever they are stored, and never more in memory than a piece."""

from __future__ import annotations

import itertools
import random
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import walked
from fixture_files import FIXTURES, Fixture, fixtures, lint

from onnx_lint import schema
from onnx_lint.cached import Memory
from onnx_lint.loader import load, run_ends, strip_payloads
from onnx_lint.model import Model, Payload
from onnx_lint.model.columns import attribute_kinds, nodes
from onnx_lint.model.tensors import contents, element_count, strings, suspects, wire_values
from onnx_lint.model.tensors.strings import StringScan
from onnx_lint.schema import wire
from onnx_lint.settings import Settings
from onnx_lint.source import BytesSource
from onnx_lint.spec.element_types import ELEMENT_TYPES

TENSOR_RULES = {
    path.stem.replace("_", "-")
    for chapter in ("tensor", "sparse_tensor")
    for path in (FIXTURES.parent / "rules" / chapter).glob("*.py")
    if path.stem != "__init__"
}
TENSOR_SETTINGS = Settings(select=("tensor", "sparse-tensor"))
TENSOR_FIXTURES = [fixture for fixture in fixtures() if fixture.rule in TENSOR_RULES]


@pytest.fixture
def values_stay_in_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that each fixture has many."""
    monkeypatch.setattr(wire_values, "PIECE_BYTES", 24)
    monkeypatch.setattr(wire_values, "VARINT_PIECE_BYTES", 13)
    monkeypatch.setattr(contents, "_RAW_PIECE_BYTES", 48)
    monkeypatch.setattr(strings, "PIECE_BYTES", 7)


# --- the table


def test_every_element_type_of_the_schema_is_in_the_table():
    values = schema.message("TensorProto").DESCRIPTOR.enum_types_by_name["DataType"].values
    named = {value.number: value.name.lower() for value in values if value.number}
    assert {number: element.name for number, element in ELEMENT_TYPES.items()} == named


def test_widths_and_fields_are_those_of_the_onnx_package():
    onnx = pytest.importorskip("onnx")
    for number, element in ELEMENT_TYPES.items():
        if number not in onnx.helper.get_all_tensor_dtypes():
            continue  # an older onnx
        assert onnx.helper.tensor_dtype_to_field(number) == element.field, element
        if element.bits >= 8:
            assert onnx.helper.tensor_dtype_to_np_dtype(number).itemsize * 8 == element.bits, element


@pytest.mark.parametrize(
    ("name", "elements", "size", "entries"),
    [
        ("float", 3, 12, 3),
        ("complex64", 3, 24, 6),
        ("complex128", 3, 48, 6),
        ("bool", 3, 3, 3),
        ("int4", 3, 2, 2),
        ("uint4", 4, 2, 2),
        ("float4e2m1", 5, 3, 3),
        ("uint2", 4, 1, 1),
        ("int2", 5, 2, 2),
        ("float6e2m3", 4, 3, 4),
        ("float6e3m2", 5, 4, 5),
        ("int64", 0, 0, 0),
    ],
)
def test_stored_sizes(name: str, elements: int, size: int, entries: int):
    (element,) = (element for element in ELEMENT_TYPES.values() if element.name == name)
    assert (element.bytes_of(elements), element.entries_of(elements)) == (size, entries)


def test_the_product_of_hostile_dimensions_is_found_at_once():
    assert element_count([2**62] * 100_000) is None
    assert element_count([2**62] * 100_000 + [0]) == 0
    assert element_count([2**31, 2**32]) is None
    assert element_count([2**31, 2**31, 1]) == 2**62
    assert element_count([0, -1]) is None
    assert element_count([]) == 1


# --- the same verdict wherever the values are


def _verdict(fixture: Fixture, data: bytes) -> list[tuple[str, ...]]:
    diagnostics = lint(load(BytesSource(data), "model.onnx", fixture.standard), fixture.settings)
    return sorted((each.severity.label, each.rule, each.clause, each.place, each.message) for each in diagnostics)


def _serialized(fixture: Fixture) -> bytes:
    model = fixture.model()
    data: bytes = model.proto.SerializePartialToString(deterministic=True) if fixture.is_text else fixture.data
    return data


def _unpacked(data: bytes, message: str = "ModelProto") -> bytes:
    """The message with each packed field written as one record a value."""
    known = wire.fields(message)
    pieces: list[bytes] = []
    for number, wire_type, tag, value, following in wire.records(BytesSource(data), 0, len(data)):
        field = known.get(number)
        if field is None or wire_type != wire.WireType.LEN or not (field.message or field.packable):
            pieces.append(data[tag:following])
        elif field.message:
            content = _unpacked(data[value:following], field.message)
            pieces.append(data[tag : tag + 1] if number < 16 else wire.encode_varint(number << 3 | 2))
            pieces.append(wire.encode_varint(len(content)) + content)
        else:
            position = value
            while position < following:
                size = {1: 8, 5: 4}.get(field.wire_type)
                end = position + size if size else wire.decode_varint(data, position)[1]
                pieces.append(wire.encode_varint(number << 3 | field.wire_type) + data[position:end])
                position = end
    return b"".join(pieces)


def _ids(fixture: Fixture) -> str:
    return fixture.id


@pytest.mark.parametrize("fixture", TENSOR_FIXTURES, ids=_ids)
def test_values_left_in_the_source_give_the_same_findings(fixture: Fixture, request: pytest.FixtureRequest):
    data = _serialized(fixture)
    expected = _verdict(fixture, data)
    assert _verdict(fixture, _unpacked(data)) == expected
    request.getfixturevalue("values_stay_in_the_source")
    assert _verdict(fixture, data) == expected
    assert _verdict(fixture, _unpacked(data)) == expected
    request.getfixturevalue("small_pieces")
    assert _verdict(fixture, data) == expected
    assert _verdict(fixture, _unpacked(data)) == expected


@pytest.mark.usefixtures("values_stay_in_the_source")
def test_the_loader_leaves_values_in_the_source_in_these_tests():
    fixture = next(each for each in TENSOR_FIXTURES if each.path.stem == "the_least_and_the_greatest_of_each_type")
    model = load(BytesSource(_serialized(fixture)), "model.onnx", fixture.standard)
    assert {payload.field for each in model.payloads.values() for payload in each} == {"int32_data", "uint64_data"}


# --- large tensors


def _model(data_type: int, dims: list[int], **fields: Any) -> bytes:
    model = schema.message("ModelProto")()
    model.ir_version = 14
    model.opset_import.add().version = 28
    tensor = model.graph.initializer.add()
    tensor.name, tensor.data_type = "w", data_type
    tensor.dims.extend(dims)
    for name, value in fields.items():
        if name == "raw_data":
            tensor.raw_data = value
        else:
            getattr(tensor, name).extend(value)
    return bytes(model.SerializeToString())


def _messages(data: bytes) -> list[str]:
    return [each.message for each in lint(load(BytesSource(data)), TENSOR_SETTINGS)]


W = "of tensor 'w' of main graph"


def _large_cases() -> Iterator[tuple[str, bytes, list[str]]]:
    count = 50_001
    bools = bytearray(count)
    bools[40_000], bools[45_000] = 2, 3
    yield (
        "bools",
        _model(9, [count], raw_data=bytes(bools)),
        [f"byte 40000 of raw_data {W} is 2, which is no bool (1 more like it)"],
    )
    bytes_ = [index & 0xFF for index in range(count)]
    bytes_[33_333], bytes_[50_000] = -1, 256
    yield (
        "uint8 in int32_data",
        _model(2, [count], int32_data=bytes_),
        [f"entry 33333 of int32_data {W} is -1, which does not fit uint8 (1 more like it)"],
    )
    words = [0xFFFF_FFFF] * count
    words[7] = 1 << 63
    yield (
        "uint32 in uint64_data",
        _model(12, [count], uint64_data=words),
        [f"entry 7 of uint64_data {W} is 9223372036854775808, which does not fit uint32"],
    )
    yield (
        "surplus of varints of ten bytes",
        _model(7, [count], int64_data=[-1] * (count + 1)),
        [f"int64_data {W} has 50,002 entries, int64[50001] takes up 50,001"],
    )
    yield (
        "double_data",
        _model(15, [count], double_data=[1.0] * (2 * count - 1)),
        [f"double_data {W} has 100,001 entries, complex128[50001] takes up 100,002"],
    )
    yield (
        "padding",
        _model(22, [count], int32_data=[0x21] * (count // 2) + [0x31]),
        ["the last entry of int32_data of tensor 'w' of main graph has bits 0x30 set behind the last int4"],
    )
    yield (
        "padding in raw_data",
        _model(27, [count], raw_data=b"\1" * (6 * count // 8) + b"\xc1"),
        ["the last byte of raw_data of tensor 'w' of main graph has bits 0xc0 set behind the last float6e2m3"],
    )
    texts = [b"label %d" % index for index in range(count)]
    texts[30_000], texts[30_001], texts[9] = b"caf\xe9", b"\xef\xbb\xbfx", b"x\0"
    yield (
        "strings",
        _model(8, [count], string_data=texts),
        [
            "string 9 of tensor 'w' of main graph ends in NUL",
            "string 30001 of tensor 'w' of main graph begins with a byte order mark",
            "string 30000 of tensor 'w' of main graph is not UTF-8 at byte 3",
        ],
    )


@pytest.mark.parametrize("way", ["in the message", "packed", "unpacked"])
@pytest.mark.parametrize(("data", "expected"), [pytest.param(*case[1:], id=case[0]) for case in _large_cases()])
def test_faults_deep_in_large_tensors(data: bytes, expected: list[str], way: str, monkeypatch: pytest.MonkeyPatch):
    if way != "in the message":
        monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    found = _messages(_unpacked(data) if way == "unpacked" else data)
    assert sorted(found) == sorted(expected)


def _sparse(rows: Any, dims: list[int], values: Any) -> bytes:
    model = schema.message("ModelProto")()
    model.ir_version = 14
    sparse = model.graph.sparse_initializer.add()
    sparse.dims.extend(dims)
    sparse.values.name, sparse.values.data_type = "s", 1
    sparse.values.dims.append(len(values))
    sparse.values.raw_data = np.asarray(values, "<f4").tobytes()
    sparse.indices.data_type = 7
    sparse.indices.dims.extend(rows.shape)
    sparse.indices.int64_data.extend(int(number) for number in rows.ravel())
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("way", ["in the message", "in the source", "in small pieces"])
@pytest.mark.parametrize("seed", range(6))
def test_sparse_indices_are_those_that_a_plain_loop_finds(way: str, seed: int, request: pytest.FixtureRequest):
    generator = random.Random(seed)
    dims = [7, 11, 13]
    positions = sorted(generator.sample(range(7 * 11 * 13), 500))
    rows = np.stack(np.unravel_index(positions, dims), axis=1)
    for _ in range(seed):
        row, column = generator.randrange(500), generator.randrange(3)
        rows[row, column] = generator.choice([-1, 0, 6, 13, 100])
    values = [generator.choice([0.0, -0.0, 1.0, 2.0]) for _ in positions]
    listed = [tuple(map(int, row)) for row in rows]
    outside = [i for i, row in enumerate(listed) if any(not 0 <= n < d for n, d in zip(row, dims, strict=True))]
    unordered = [i for i in range(1, 500) if listed[i] <= listed[i - 1]]
    zeros = [i for i, value in enumerate(values) if struct.pack("<f", value) == bytes(4)]
    if way != "in the message":
        request.getfixturevalue("values_stay_in_the_source")
    if way == "in small pieces":
        request.getfixturevalue("small_pieces")

    found = {each.rule: each.message for each in lint(load(BytesSource(_sparse(rows, dims, values))), TENSOR_SETTINGS)}

    def expected(places: list[int], text: Callable[[int], str]) -> str | None:
        more = f" ({len(places) - 1} more like it)" if len(places) > 1 else ""
        return f"{text(places[0])}{more}" if places else None

    def shown(place: int) -> str:
        return str(list(listed[place]))

    def order(place: int) -> str:
        if listed[place] == listed[place - 1]:
            return f"index {place} of sparse tensor 's' of main graph repeats {shown(place)}"
        return f"index {place} of sparse tensor 's' of main graph is {shown(place)} and comes after {shown(place - 1)}"

    assert found.get("sparse-index-out-of-range") == expected(
        outside,
        lambda i: f"index {i} of sparse tensor 's' of main graph is {shown(i)}, outside the dense shape [7,11,13]",
    )
    assert found.get("unordered-sparse-indices") == expected(unordered, order)
    assert found.get("explicit-default-value") == expected(
        zeros, lambda i: f"value {i} of sparse tensor 's' of main graph is 0, which is the default"
    )


# --- strings


def _judged(strings_: list[bytes]) -> tuple[int, list[tuple[int, int, int]]]:
    """What a plain loop says: how many strings, and count, index and byte for each kind of fault."""
    kinds: list[list[tuple[int, int]]] = [[], [], [], []]
    for index, string in enumerate(strings_):
        try:
            string.decode()
        except UnicodeDecodeError as error:
            kinds[0].append((index, error.start))
        if string.startswith(b"\xef\xbb\xbf"):
            kinds[1].append((index, 0))
        if string.endswith(b"\0"):
            kinds[2].append((index, len(string) - 1))
        if not string:
            kinds[3].append((index, 0))
    return len(strings_), [(len(kind), *(kind[0] if kind else (0, 0))) for kind in kinds]


def _scanned(scan: StringScan) -> tuple[int, list[tuple[int, int, int]]]:
    kinds = (scan.invalid, scan.marked, scan.terminated, scan.empty)
    return scan.count, [(kind.count, kind.index, kind.byte) for kind in kinds]


FRAGMENTS = [
    b"",
    b"a",
    b"2",
    b"\0",
    b"\x32\x01",
    "é".encode(),
    "€".encode(),
    b"\xef\xbb\xbf",
    b"\xe9",
    b"\xf0\x9f",
    b"x" * 130,
]


@pytest.mark.parametrize("piece", [5, 16, 300, 1 << 22])
@pytest.mark.parametrize("seed", range(25))
def test_runs_of_strings_are_judged_as_a_plain_loop_judges(seed: int, piece: int, monkeypatch: pytest.MonkeyPatch):
    generator = random.Random(seed)
    fragments = FRAGMENTS if seed % 2 else FRAGMENTS[:7]
    strings_ = [b"".join(generator.choices(fragments, k=generator.randrange(4))) for _ in range(200)]
    run = b"".join(b"\x32" + wire.encode_varint(len(string)) + string for string in strings_)
    monkeypatch.setattr(strings, "PIECE_BYTES", piece)
    scan = StringScan()
    scan.run(BytesSource(b"front" + run + b"behind"), Payload("string_data", 5, len(run), False))
    assert _scanned(scan) == _judged(strings_)
    in_memory = StringScan()
    in_memory.strings(strings_)
    assert _scanned(in_memory) == _judged(strings_)


def test_a_finding_in_a_run_knows_the_bytes_of_its_record(monkeypatch: pytest.MonkeyPatch):
    data = _model(8, [3], string_data=[b"a", b"b" * 200 + b"\xff", b"c"])
    (in_message,) = lint(load(BytesSource(data)), TENSOR_SETTINGS)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)
    (in_source,) = lint(load(BytesSource(data)), TENSOR_SETTINGS)
    assert in_source == in_message
    start, end = in_source.byte_range or (0, 0)
    assert data[start:end] == b"\x32\xc9\x01" + b"b" * 200 + b"\xff"


# --- numbers


@pytest.mark.parametrize(
    ("field", "least", "greatest"),
    [
        ("int32_data", -(1 << 31), (1 << 31) - 1),
        ("int64_data", -(1 << 63), (1 << 63) - 1),
        ("uint64_data", 0, (1 << 64) - 1),
    ],
)
@pytest.mark.parametrize("piece", [13, 1 << 20])
def test_varints_are_decoded_as_protobuf_decodes_them(
    field: str, least: int, greatest: int, piece: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(wire_values, "VARINT_PIECE_BYTES", piece)
    generator = random.Random(field)
    widths = [generator.randrange(1, 65) for _ in range(500)]
    numbers = [least, greatest, 0, *(max(least, min(greatest, generator.getrandbits(width))) for width in widths)]
    tensor = schema.message("TensorProto")()
    getattr(tensor, field).extend(numbers)
    packed = tensor.SerializeToString()
    ((_, _, _, value, end),) = wire.records(BytesSource(packed), 0, len(packed))
    for data, payload in (
        (packed, Payload(field, value, end - value, True)),
        (run := _unpacked(packed, "TensorProto"), Payload(field, 0, len(run), False)),
    ):
        source = BytesSource(data)
        found = [int(number) for array in wire_values.entry_pieces(source, payload) for number in array]
        assert found == numbers
        assert wire_values.count_entries(source, payload) == len(numbers)
        assert wire_values.last_varint(source, payload) == numbers[-1] % (1 << 64)


@pytest.mark.parametrize("greatest", [1, 0x3F, 0xFF, 0xFFFF, 0xFFFF_FFFF])
@pytest.mark.parametrize("piece", [1, 2, 13, 1 << 15])
def test_varints_that_are_evidently_small_enough(greatest: int, piece: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire_values, "VARINT_PIECE_BYTES", piece)
    generator = random.Random(greatest)
    bounds = (0, 1, greatest - 1, greatest, greatest + 1, 2 * greatest + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
    for count in (1, 2, 5, 30):
        for _ in range(60):
            numbers = [min(generator.choice(bounds), generator.choice(bounds)) for _ in range(count)]
            data = b"".join(map(wire.encode_varint, numbers))
            found = wire_values.are_evidently_below(BytesSource(data), Payload("", 0, len(data), True), greatest)
            assert found is (max(numbers) <= greatest), numbers


def test_a_small_varint_of_many_bytes_has_to_be_decoded():
    source, payload = BytesSource(b"\x85\x80\x00"), Payload("int32_data", 0, 3, True)
    assert not wire_values.are_evidently_below(source, payload, 0xFF)
    assert [array.tolist() for array in wire_values.entry_pieces(source, payload)] == [[5]]


@pytest.mark.parametrize(("field", "kind"), [("float_data", "f"), ("double_data", "d")])
def test_runs_of_fixed_width_with_long_tags_are_read_too(field: str, kind: str):
    numbers = [0.5, -1.0, 3.0]
    tag = wire.fields_by_name("TensorProto")[field]
    short = wire.encode_varint(tag.number << 3 | tag.wire_type)
    long = bytes([short[0] | 0x80, 0x00])  # the same number in one byte more than it needs
    run = b"".join(
        mark + struct.pack(f"<{kind}", number) for mark, number in zip([short, long, short], numbers, strict=True)
    )
    payload = Payload(field, 0, len(run), False)
    pieces = list(wire_values.entry_pieces(BytesSource(run), payload))
    assert [float(number) for array in pieces for number in array] == numbers
    assert wire_values.count_entries(BytesSource(run), payload) == 3


@pytest.mark.usefixtures("values_stay_in_the_source")
def test_bytes_that_are_no_varints_are_not_read_again_and_again():
    payload = Payload("int64_data", 0, 8 << 20, True)
    assert list(wire_values.entry_pieces(BytesSource(b"\xff" * (8 << 20)), payload))[1:] == []


# --- runs in bulk


RECORDS = {
    "int32_data": [b"\x28\x01", b"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x28\x80\x01"],
    "float_data": [b"\x25\0\0\x80?", b"\x25%%%%"],
    "double_data": [b"\x51QQQQQQQQ", b"\x51" + bytes(8)],
    "string_data": [b"\x32\0", b"\x32\x02\x32\0", b"\x32\x7f" + bytes(127)],
}
OTHERS = {
    "another field": b"\x38\x01",
    "a tag that is longer than it needs to be": b"\xa8\x00\x01",
    "a varint of eleven bytes": b"\x28" + b"\xff" * 10 + b"\x01",
    "a cut record": b"\x28\x80",
    "nothing": b"",
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("piece", [40, 1 << 20])
def test_the_end_of_a_run(name: str, other: str, piece: int, monkeypatch: pytest.MonkeyPatch):
    for constant in ("WINDOW_BYTES", "PIECE_BYTES", "VARINT_PIECE_BYTES"):
        monkeypatch.setattr(run_ends, constant, piece)
    generator = random.Random(f"{name} {other}")
    records = generator.choices([each for each in RECORDS[name] if len(each) < 20 or piece > 40], k=300)
    data = b"front" + b"".join(records) + OTHERS[other]
    end = run_ends.run_end(BytesSource(data), 5, len(data), wire.fields_by_name("TensorProto")[name])
    ends = list(itertools.accumulate(map(len, records), initial=5))
    assert end in ends
    assert end == ends[-1] if piece > 40 else end >= ends[1]


def test_a_run_has_no_long_strings_and_may_be_empty():
    field = wire.fields_by_name("TensorProto")["string_data"]
    data = b"\x32\x01a" * 3 + b"\x32\x80\x01" + bytes(128)
    assert run_ends.run_end(BytesSource(data), 0, len(data), field) == 9
    assert run_ends.run_end(BytesSource(data), 9, len(data), field) == 9
    assert run_ends.run_end(BytesSource(data), 3, 3, field) == 3


# --- what is read


class _Watched(BytesSource):
    """Notes the longest read."""

    longest = 0

    def read_at(self, offset: int, length: int) -> bytes:
        _Watched.longest = max(_Watched.longest, length)
        return super().read_at(offset, length)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(_model(9, [9 << 20], raw_data=bytes(9 << 20)), id="bool"),
        pytest.param(_model(2, [9 << 20], int32_data=bytes(9 << 20)), id="uint8"),
        pytest.param(_model(8, [1], string_data=[b"a" * (9 << 20)]), id="one long string"),
        pytest.param(_model(8, [90_000], string_data=[b"a" * 100] * 90_000), id="strings"),
    ],
)
def test_contents_are_read_in_bounded_pieces(data: bytes):
    model = load(_Watched(data))
    _Watched.longest = 0
    assert lint(model, TENSOR_SETTINGS) == ()
    assert 0 < _Watched.longest <= wire_values.PIECE_BYTES


@pytest.mark.heavy
def test_a_gibibyte_of_contents_is_looked_through_in_little_memory():
    """Each kind of contents, 1 GiB of it, in less than 200 MB (the script has the bar)."""
    script = FIXTURES.parent / "benchmarks" / "tensor_contents.py"
    done = subprocess.run([sys.executable, str(script), "--gib", "1"], capture_output=True, text=True, check=False)
    print(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_sizes_are_told_without_reading_the_contents():
    data = _model(1, [9 << 18], raw_data=bytes(9 << 20))
    model = load(_Watched(data))
    _Watched.longest = 0
    assert lint(model, TENSOR_SETTINGS) == ()
    assert _Watched.longest == 0


def test_tensors_that_are_evidently_right_are_left_out():
    model = schema.message("ModelProto")()
    model.ir_version = 14
    for index in range(100):
        tensor = model.graph.initializer.add()
        tensor.name, tensor.data_type, tensor.raw_data = f"w{index}", 1, bytes(8)
        tensor.dims.append(2 if index != 50 else 3)
    loaded = load(BytesSource(model.SerializeToString()))
    assert [each.proto.name for each in loaded.tensors.unproved] == ["w50"]
    assert loaded.tensors.sparse == ()


@pytest.mark.parametrize("fixture", TENSOR_FIXTURES, ids=str)
def test_no_rule_has_anything_to_say_of_a_tensor_that_is_left_out(fixture: Fixture, monkeypatch: pytest.MonkeyPatch):
    expected = lint(load(BytesSource(_serialized(fixture))), TENSOR_SETTINGS)
    monkeypatch.setattr(attribute_kinds, "is_evident", lambda tensor: False)
    monkeypatch.setattr(nodes, "_forms", Memory(1_000))
    monkeypatch.setattr(suspects, "is_evident_kind", lambda *kind: False)
    monkeypatch.setattr(suspects, "encoding_of", lambda fields, payloads: None)
    model = load(BytesSource(_serialized(fixture)))
    assert len(model.tensors.unproved) == len(list(walked.tensors(model)))
    assert lint(model, TENSOR_SETTINGS) == expected


@pytest.mark.parametrize("fixture", TENSOR_FIXTURES, ids=str)
def test_tensors_that_are_made_anew_for_each_rule_have_the_same_findings(
    fixture: Fixture, monkeypatch: pytest.MonkeyPatch, values_stay_in_the_source: None
):
    expected = lint(load(BytesSource(_serialized(fixture))), TENSOR_SETTINGS)
    monkeypatch.setattr(suspects, "_MOST_KEPT", 0)
    model = load(BytesSource(_serialized(fixture)))
    assert lint(model, TENSOR_SETTINGS) == expected
    of_sparse = {id(part) for each in model.tensors.sparse for part in (each.values, each.indices)}
    twice = zip(model.tensors.unproved, model.tensors.unproved, strict=True)
    assert all(first is not second for first, second in twice if id(first) not in of_sparse)


@pytest.mark.parametrize("holder", ["initializer", "attribute"])
def test_what_looks_right_may_have_a_second_field_in_the_source(holder: str, monkeypatch: pytest.MonkeyPatch):
    model = schema.message("ModelProto")(ir_version=14)
    if holder == "initializer":
        tensors = [model.graph.initializer.add() for _ in range(3)]
    else:
        tensors = [model.graph.node.add().attribute.add(name="value", type="TENSOR").t for _ in range(3)]
    for index, tensor in enumerate(tensors):
        tensor.MergeFrom(schema.message("TensorProto")(name=f"w{index}", data_type=1, dims=[2], raw_data=bytes(8)))
    tensors[1].float_data.extend([0.5] * 20)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 40)
    loaded = load(BytesSource(model.SerializeToString()))
    assert list(loaded.tensors.unproved[0].proto.float_data) == []
    assert [tensor.proto.name for tensor in loaded.tensors.miscounted] == ["w1"]
    assert [tensor.fields for tensor in loaded.tensors.miscounted] == [("raw_data", "float_data")]


def test_small_models_do_without_numpy(tmp_path: Path):
    paths = []
    for fixture in TENSOR_FIXTURES:
        path = tmp_path / f"{fixture.rule}-{fixture.path.stem}.onnx"
        path.write_bytes(_serialized(fixture))
        paths.append(str(path))
    program = (
        "import sys\nfrom onnx_lint import lint\n"
        "for path in sys.stdin.read().split():\n    lint(path)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input="\n".join(paths), text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- external data is not judged here


def test_only_type_and_shape_of_external_tensors_are_judged():
    model = schema.message("ModelProto")()
    model.ir_version = 14
    for name, data_type, dims in (("a", 1, [2]), ("b", 99, [2]), ("c", 1, [-2]), ("d", 8, [2])):
        tensor = model.graph.initializer.add()
        tensor.name, tensor.data_type, tensor.data_location = name, data_type, 1
        tensor.dims.extend(dims)
        tensor.raw_data = b"surplus"
    loaded: Model = load(BytesSource(model.SerializeToString()))
    assert [each.message for each in lint(loaded, TENSOR_SETTINGS)] == [
        "tensor 'b' of main graph has the element type 99, which is not defined",
        "dimension 0 of tensor 'c' of main graph is -2",
    ]
