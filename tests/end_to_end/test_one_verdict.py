# SPDX-License-Identifier: Apache-2.0
"""A model has one verdict, in any encoding and of any size, and no model conforms that parsers reject.

Large files are split first, and their large parts stay in the file; small files are parsed whole. With these thresholds
lowered, each model here is read both ways.
"""

from __future__ import annotations

from random import Random

import pytest
from google.protobuf.message import DecodeError
from support.project.checkout import TESTS
from support.project.each_case import each_case
from support.wire.reencode import Widths, packed, padded, read, reordered, split, unpacked, write
from support.wire.wire_bytes import BASE, LEN, length, number, rich_model, tag, varint

from onnx_lint import lint, schema
from onnx_lint.common.record import replace
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.report.findings import Diagnostic

REAL = (TESTS / "models" / "iris_logistic_regression.onnx").read_bytes()
MODELS = {"real": REAL, "rich": rich_model()}

ABOUT_WRITING = frozenset({"repeated-singular-field", "unknown-field"})
"""The rules on how a file is written, which twins differ in."""


@pytest.fixture(params=[False, True], ids=["parsed whole", "split"])
def is_split(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        _split_everything(monkeypatch)
    return bool(request.param)


def _split_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 8)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 4)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 4)


def _diagnostics(data: bytes) -> tuple[Diagnostic, ...]:
    report = lint(data, {"pedantic": True})
    assert report.files[0].internal_errors == ()
    return tuple(replace(item, context=()) for item in report.diagnostics)  # no values are shown that stay in the file


def _findings(data: bytes) -> list[tuple[str, str, str]]:
    """Return what a file has, but for how it is written and at which bytes."""
    found = _diagnostics(data)
    return sorted((one.rule, one.place, one.message) for one in found if one.rule not in ABOUT_WRITING)


def _parses(data: bytes) -> bool:
    try:
        schema.message("ModelProto").FromString(data)
    except (DecodeError, UnicodeDecodeError):
        return False
    return True


def _twins(data: bytes) -> dict[str, bytes]:
    fields = read(data)
    return {
        "unpacked": write(unpacked(fields)),
        "packed": write(packed(fields)),
        "reordered": write(reordered(fields, Random(1))),
        "reordered otherwise": write(reordered(fields, Random(2))),
        "split": write(split(fields, Random(1))),
        "overlong tags": write(fields, Widths(tags=5)),
        "overlong lengths": write(fields, Widths(lengths=5)),
        "overlong values": write(fields, Widths(values=10)),
        "overlong values in packed lists": write(packed(fields), Widths(values=10)),
        "all of that": write(split(reordered(packed(fields), Random(3)), Random(3)), Widths(3, 3, 3)),
    }


TWINS = {f"{name}, {twin}": (data, written) for name, data in MODELS.items() for twin, written in _twins(data).items()}


@each_case("name", TWINS)
def test_twins_have_the_same_findings(name: str, is_split: bool):
    data, twin = TWINS[name]
    message, same = map(schema.message("ModelProto").FromString, (data, twin))
    assert message == same
    assert twin != data or "unpacked" in name  # as most lists are written
    assert _findings(twin) == _findings(data)


@pytest.mark.parametrize("name", TWINS)
def test_both_ways_give_the_same_report(name: str, monkeypatch: pytest.MonkeyPatch):
    _, twin = TWINS[name]
    whole = _diagnostics(twin)
    _split_everything(monkeypatch)
    assert _diagnostics(twin) == whole


def _tensor_model(values: bytes) -> bytes:
    return BASE + length(7, length(2, "g") + length(5, number(1, 3) + number(2, 6) + values + length(8, "t")))


def _attribute_model(values: bytes) -> bytes:
    attribute = length(1, "a") + values + number(20, 7)
    return BASE + length(7, length(2, "g") + length(1, length(2, "y") + length(4, "Constant") + length(5, attribute)))


REFUSED = {
    "a tag of six bytes": write(read(rich_model()), Widths(tags=6)),
    "a tag of ten bytes": write(read(rich_model()), Widths(tags=10)),
    "a length of six bytes": write(read(rich_model()), Widths(lengths=6)),
    "a length of ten bytes": write(read(rich_model()), Widths(lengths=10)),
    "a number of eleven bytes": write(read(rich_model()), Widths(values=11)),
    "numbers of eleven bytes in packed lists": write(packed(read(rich_model())), Widths(values=11)),
    "a tag beyond 32 bits": BASE + b"\x88\x80\x80\x80\x10\x01",
    "field 0": BASE + b"\0\0",
    "wire type 6": BASE + b"\x0e\0",
    "the length of an unknown field": BASE + tag(999, LEN) + padded(1, 6) + b"x",
    "the tag of an unknown field": BASE + padded(999 << 3, 6) + b"\1",
    "a number of an unknown field": BASE + varint(999 << 3) + padded(1, 11),
    "a group that is not closed": BASE + varint(999 << 3 | 3),
    "a group that is closed by another": BASE + varint(999 << 3 | 3) + varint(998 << 3 | 4),
    "the end of a group alone": BASE + varint(999 << 3 | 4),
    "the end of a group in a message": BASE + length(7, varint(999 << 3 | 4)),
    "a tensor with a packed number of eleven bytes": _tensor_model(length(5, b"\1\2" + padded(3, 11))),
    "a tensor with a packed number that is cut off": _tensor_model(length(5, b"\1\2\x83")),
    "a tensor with a packed float that is cut off": _tensor_model(length(4, bytes(11))),
    "a tensor with a packed double that is cut off": _tensor_model(length(10, bytes(12))),
    "an attribute with a packed number of eleven bytes": _attribute_model(length(8, b"\1\2" + padded(3, 11))),
    "an attribute with a packed number that is cut off": _attribute_model(length(8, b"\1\2\x83")),
    "an attribute with a packed float that is cut off": _attribute_model(length(7, bytes(6))),
    "an unpacked number of eleven bytes": _tensor_model(number(5, 1) * 50 + tag(5, 0) + padded(1, 11)),
}


@each_case("name", REFUSED)
def test_what_parsers_refuse_has_a_byte_and_a_reason(name: str, is_split: bool):
    data = REFUSED[name]
    assert not _parses(data)
    report = lint(data)
    assert not report.conforms
    [found] = [one for one in report.diagnostics if one.rule == "not-a-model"]
    assert found.byte_range is not None
    assert "not Protocol Buffers fields" in found.message or "not a Protocol Buffers message" in found.message


@pytest.mark.parametrize("name", REFUSED)
def test_both_ways_refuse_the_same_byte(name: str, monkeypatch: pytest.MonkeyPatch):
    whole = _diagnostics(REFUSED[name])
    _split_everything(monkeypatch)
    assert _diagnostics(REFUSED[name]) == whole


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_nothing_conforms_that_protocol_buffers_refuses(seed: int, is_split: bool):
    """One varint or one byte of a model is changed at random."""
    rng = Random(seed)
    refused = 0
    for _ in range(60):
        data = rng.choice(list(MODELS.values()))
        at = rng.randrange(len(data))
        if data[at] < 0x80 and rng.random() < 0.7:  # often a tag, a length or a number
            changed = data[:at] + padded(data[at], rng.choice((2, 5, 6, 10, 11))) + data[at + 1 :]
        else:
            changed = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        if not _parses(changed):
            refused += 1
            assert not lint(changed).conforms, changed
    assert refused > 20


BIG = strip_payloads.WHOLE_BYTES
LARGE = {
    "a length of six bytes": _tensor_model(tag(9, LEN) + padded(BIG, 6) + bytes(BIG)),
    "a tag of six bytes": _tensor_model(padded(9 << 3 | LEN, 6) + varint(BIG) + bytes(BIG)),
    "a packed number of eleven bytes": _tensor_model(length(5, b"\x80" * 10 + b"\0" + bytes(BIG))),
    "a packed number of eleven bytes at the end": _tensor_model(length(5, bytes(BIG) + b"\x80" * 10 + b"\0")),
    "a packed number of eleven bytes across pieces": _tensor_model(
        length(5, bytes((1 << 20) - 5) + b"\x80" * 10 + b"\0" + bytes(BIG))
    ),
    "a packed number that is cut off": _tensor_model(length(5, bytes(BIG) + b"\x83")),
    "packed floats that are cut off": _tensor_model(length(4, bytes(BIG + 1))),
    "packed floats of an attribute": _attribute_model(length(7, bytes(BIG + 1))),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_that_parsers_refuse_has_a_byte_and_a_reason(name: str):
    assert not _parses(LARGE[name])
    [found] = _diagnostics(LARGE[name])
    assert found.rule == "not-a-model"
    assert found.byte_range is not None
    assert "the bytes are not Protocol Buffers fields: " in found.message


def test_a_node_with_an_unknown_field_keeps_its_metadata_beside_a_string_that_is_not_utf8():
    node = length(1, "x") + length(2, "y") + length(4, "Relu")
    twice = length(9, length(1, "k") + length(2, "0")) * 2
    bad = length(6, b"\xff\xfe")
    rules = [one.rule for one in _diagnostics(BASE + length(7, length(2, "g") + length(1, node + twice)) + bad)]
    with_unknown = BASE + length(7, length(2, "g") + length(1, node + twice + number(99, 5))) + bad
    assert "duplicate-metadata-key" in rules
    assert [one.rule for one in _diagnostics(with_unknown) if one.rule != "unknown-field"] == rules


def test_more_strings_that_are_not_utf8_than_are_listed_hide_nothing():
    node = length(2, "y") + length(4, "Relu")
    bad = length(14, length(1, "k") + length(2, b"\xff")) * 1500
    rules = {one.rule for one in _diagnostics(BASE + length(7, length(2, "g") + length(1, node)) + bad)}
    assert {"invalid-utf8", "duplicate-metadata-key", "operator-arity"} <= rules


def test_the_lists_beside_external_data_are_told_once_and_in_order(monkeypatch: pytest.MonkeyPatch):
    floats = length(4, bytes(8)) + length(10, bytes(16)) + length(4, bytes(8))
    outside = number(14, 1) + length(13, length(1, "location") + length(2, "weights"))
    tensor = length(8, "w") + number(2, 1) + number(1, 1) + floats + outside
    data = BASE + length(7, length(2, "g") + length(5, tensor))
    [plain] = [one for one in _diagnostics(data) if one.rule == "data-beside-external-data"]
    assert plain.message.endswith("has values in float_data and double_data")
    _split_everything(monkeypatch)
    assert plain in _diagnostics(data)


ONES = 1_024
VALUES = {
    "raw": length(9, b"\xff" * 8 * ONES),
    "packed": length(7, (b"\xff" * 9 + b"\1") * ONES),
    "unpacked": (tag(7, 0) + b"\xff" * 9 + b"\1") * ONES,
}
"""1,024 times -1, the longest number of an INT64, which is as many elements as decide anything."""


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_elements_count_in_a_large_file_as_well(values: bytes):
    """All rows of these indices write to one place, which is a warning."""
    kinds = [{"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": size}]}}} for size in (4, ONES)]
    node = {"op_type": "ScatterND", "input": ["x", "i", "u"], "output": ["y"]}
    declared = [{"name": name, "type": kind} for name, kind in zip("xu", kinds, strict=True)]
    graph = schema.message("GraphProto")(name="g", node=[node], input=declared).SerializeToString()
    graph += length(5, number(1, ONES) + number(1, 1) + number(2, 7) + values + length(8, "i"))
    other = length(5, length(9, bytes(strip_payloads.WHOLE_BYTES)) + length(8, "w"))
    small, large = (
        [found.message for found in lint(BASE + length(7, content)).diagnostics if "twice" in found.message]
        for content in (graph, graph + other)
    )
    assert len(small) == 1
    assert small == large


def test_twins_that_differ_in_unknown_fields_have_the_same_findings():
    """A model that an attack found, and the same one with unknown fields."""
    canonical = bytes.fromhex("0803ca010a5a085a060a0422004a00ca01032a0189")
    twin = bytes.fromhex("0803ca01115a0f5a0d0a0b22009806054a04eb04ec04ca01032a0189")
    found, other = (
        {(one.rule, one.place) for one in _diagnostics(data) if one.rule != "unknown-field"}
        for data in (canonical, twin)
    )
    assert found == other
    assert ("premature-feature", "functions[0].attribute_proto[0].graphs[0].node[0].metadata_props") in found
