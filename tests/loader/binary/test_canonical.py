# SPDX-License-Identifier: Apache-2.0
"""A large file is parsed in pieces, with the same findings as if it were parsed as a whole."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from support.project.each_case import each_case
from support.wire.piecewise_parsing import assert_same, in_one, in_pieces
from support.wire.wire_bytes import LEN, carriers, length, number, rich_model, some_value

from onnx_lint import schema
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.binary.canonical import assemble, canonical_outline
from onnx_lint.loader.binary.strip_payloads import read_skeleton
from onnx_lint.schema import message, wire


def _contents() -> Iterator[tuple[str, bytes]]:
    """Return, for each message that a model can contain, right and wrong content."""
    for carrier in carriers():
        for field in carrier.descriptor.fields:
            value = some_value(field)
            yield f"{carrier.message}.{field.name}", carrier.model(value, field.name)[0]
            yield f"{carrier.message}.{field.name} twice", carrier.model(value + value, field.name)[0]
            other = 5 if value[0] & 7 != 5 else 1
            yield f"{carrier.message}.{field.name} wrong", carrier.model(some_value(field, other), field.name)[0]
        yield f"{carrier.message} unknown", carrier.model(number(1000, 1))[0]
        yield f"{carrier.message} broken", carrier.model(b"\x0a\x7f")[0]
        yield f"{carrier.message} not UTF-8", carrier.model(length(1, b"\xff"))[0]


def test_each_field_and_fault_is_found_in_pieces(monkeypatch: pytest.MonkeyPatch):
    for name, data in _contents():
        one, pieces = in_one(data, "ModelProto"), in_pieces(data, "ModelProto", monkeypatch)
        assert (pieces.loaded, pieces.faults) == (one.loaded, one.faults), name
        assert pieces.document == one.document, name


def test_a_field_of_a_oneof_that_is_replaced_clears_what_earlier_pieces_have(monkeypatch: pytest.MonkeyPatch):
    dimension = length(1, number(1, 3))
    one, two = (length(1, number(1, 1) + length(2, dimension * count)) for count in (1, 2))
    tensor, replaced = length(2, one), length(2, length(5, b"") + two)
    data = length(1, "x") + tensor + replaced
    assert len(in_one(data, "ValueInfoProto").document.type.tensor_type.shape.dim) == 2
    assert_same(data, monkeypatch, "ValueInfoProto")


def _shuffled(data: bytes, kind: str, rng: random.Random, depth: int) -> bytes:
    """The message with its fields in another order, some of them twice and some unknown ones among them."""
    source = BytesSource(data)
    fields = wire.fields(kind)
    parts = []
    for field, wire_type, start, value, end in wire.records(source, 0, len(data)):
        part, known = data[start:end], fields[field]
        if depth and wire_type == LEN and known.message is not None and rng.random() < 0.7:
            part = length(field, _shuffled(data[value:end], known.message, rng, depth - 1))
        parts += [part] * (2 if rng.random() < 0.03 else 1)
    if rng.random() < 0.03:
        parts.append(number(1000, 1))
    if rng.random() < 0.5:
        rng.shuffle(parts)
    return b"".join(parts)


@each_case("seed", range(150), one_in=3)
def test_fields_in_any_order_are_judged_alike(seed: int, monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(seed)
    data = _shuffled(rich_model(), "ModelProto", rng, rng.randrange(5))
    if rng.random() < 0.2:
        data = data[: rng.randrange(len(data))]
    assert_same(data, monkeypatch, piece_bytes=rng.choice((1, 20, 100, 1000)))


@pytest.mark.parametrize("field", ["name", "doc_string"])
def test_a_name_in_two_pieces_is_given_twice(field: str, monkeypatch: pytest.MonkeyPatch):
    given = wire.fields_by_name("GraphProto")[field].number
    graph = (
        length(1, length(4, "Relu")) * 10 + length(given, "x") + length(13, length(1, "v")) * 10 + length(given, "y")
    )
    assert_same(number(1, 10) + length(7, graph), monkeypatch)
    assert len(in_pieces(number(1, 10) + length(7, graph), "ModelProto", monkeypatch).faults) == 1


def test_a_message_nested_too_deep_is_too_deep_in_a_piece(monkeypatch: pytest.MonkeyPatch):
    for depth in range(28, 36):
        graph = b""
        for _ in range(depth):
            graph = length(1, length(5, length(6, graph)))
        assert_same(number(1, 10) + length(7, length(1, length(4, "Relu")) * 10 + graph), monkeypatch)
    for depth in range(46, 52):
        kind = b""
        for _ in range(depth):
            kind = length(4, length(1, kind))
        graph = length(1, length(4, "Relu")) * 10 + length(11, length(1, "x") + length(2, kind))
        assert_same(number(1, 10) + length(7, graph), monkeypatch)


def test_pieces_are_small_and_together_the_file():
    model = message("ModelProto")(ir_version=10, graph={"name": "g"})
    for index in range(50_000):
        model.graph.node.add(op_type="Relu", input=[f"x{index}"], output=[f"x{index + 1}"], doc_string="-" * 60)
        model.graph.value_info.add(name=f"x{index}").type.tensor_type.elem_type = 1
    data = model.SerializeToString()
    copied = read_skeleton(BytesSource(data), len(data), DEFAULT_LIMITS.fields)
    pieces = list(copied.pieces())
    assert len(pieces) > len(data) // strip_payloads.PIECE_BYTES
    assert max(map(len, pieces)) < 2 * strip_payloads.PIECE_BYTES
    outline = schema.outline("ModelProto").FromString(data)
    assert (canonical_outline(copied), assemble(copied, "ModelProto")) == (outline, (outline, True))
