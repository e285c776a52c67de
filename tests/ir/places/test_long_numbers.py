# SPDX-License-Identifier: Apache-2.0
"""Numbers that take more bytes than they need are found, and the shorter file has the same content."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from support.models.mutated_models import models
from support.wire.edited_tree import shortened
from support.wire.odd_encodings import oddly_encoded
from support.wire.wire_bytes import BASE, LEN, VARINT, group, length, number, rich_model, tag, varint

from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import WINDOW_BYTES, BytesSource
from onnx_lint.ir.places.edits import Shorten
from onnx_lint.ir.places.long_numbers import long_numbers
from onnx_lint.ir.places.splices import Splicer

LONG_ONE = b"\x81\x80\x00"


def _shorter(data: bytes) -> bytes:
    source = unpatched(BytesSource(data))
    splicer = Splicer(source, "ModelProto")
    after = source.patched(splice.patch for splice in splicer.with_lengths(splicer.splices_of([Shorten()])))
    return after.read_at(0, after.size)


def _found(data: bytes) -> list[tuple[str, str, int]]:
    return [(found.part, str(found.place), found.start) for found in long_numbers(BytesSource(data), "ModelProto")]


def _models() -> Iterator[bytes]:
    yield rich_model()
    choose = random.Random(1)
    for _, model in choose.sample(list(models()), 60):
        yield model.SerializeToString(deterministic=True)


@pytest.mark.slow
def test_a_file_in_an_odd_encoding_becomes_the_one_that_protocol_buffers_writes():
    choose = random.Random(1)
    numbers = 0
    for data in _models():
        assert _found(data) == []
        odd = oddly_encoded(data, "ModelProto", choose, 0)
        numbers += len(_found(odd))
        assert _shorter(odd) == data
    assert numbers > 1000


@pytest.mark.slow
def test_unknown_fields_and_groups_stay():
    choose = random.Random(2)
    for data in _models():
        odd = oddly_encoded(data, "ModelProto", choose, 0.1)
        assert _shorter(odd) == shortened(odd, "ModelProto")


def test_a_group_at_the_end_of_a_message_stays():
    unknown = group(96, tag(1, VARINT) + LONG_ONE)
    assert _shorter(b"\x72\x80\x00" + BASE + unknown) == b"\x72\x00" + BASE + unknown


@pytest.mark.parametrize("count", [1, 9, 10, 40])
def test_a_long_tag_behind_a_string_of_other_letters_is_found(count: int):
    before = BASE + length(4, "ü".encode() * count)
    assert _shorter(before + b"\xb2\x00\x00") == before + b"\x32\x00"


@pytest.mark.parametrize("count", [1, 40, WINDOW_BYTES])
def test_one_long_number_in_a_list_of_any_length_is_found(count: int):
    attribute = length(1, "a") + number(20, 7)
    short, long = number(8, 300), tag(8, VARINT) + LONG_ONE

    def model(*numbers: bytes) -> bytes:
        node = length(4, "Relu") + length(5, attribute + b"".join(numbers))
        return BASE + length(7, length(1, node))

    data = model(short * count, long, short * count)
    ((kind, place, start),) = _found(data)
    assert (kind, place) == ("value", "graph.node[0].attribute[0].ints")
    assert data[start:].startswith(LONG_ONE)
    assert _shorter(data) == model(short * count, number(8, 1), short * count)


def test_a_packed_list_has_long_numbers_too():
    def model(numbers: bytes) -> bytes:
        return BASE + length(7, length(5, length(1, numbers) + length(8, "w")))

    data = model(varint(300) + LONG_ONE + b"\x00" + LONG_ONE)
    assert [(kind, place) for kind, place, _ in _found(data)] == [("value", "graph.initializer[0].dims")] * 2
    assert _shorter(data) == model(varint(300) + b"\x01\x00\x01")


def test_the_elements_of_a_tensor_are_not_read():
    class Watched(BytesSource):
        read = 0

        def read_at(self, offset: int, length: int) -> bytes:
            Watched.read += length
            return super().read_at(offset, length)

        window = read_at

    elements = LONG_ONE * 1_000_000
    data = BASE + length(7, length(5, length(7, elements) + length(9, bytes(1_000_000)) + number(2, 7)))
    assert list(long_numbers(Watched(data), "ModelProto")) == []
    assert Watched.read < 10 * WINDOW_BYTES


@pytest.mark.parametrize("offset", range(4))
def test_a_packed_list_is_read_in_pieces(offset: int):
    rest = 2 * WINDOW_BYTES - offset
    elements = b"\x07" * (WINDOW_BYTES - 1) + LONG_ONE + b"\x07" * (rest - WINDOW_BYTES) + LONG_ONE + b"\x07" * 5
    data = BASE + length(7, length(1, length(5, length(1, "a") + number(20, 7) + length(8, elements))))
    begin = data.index(elements)
    places = [begin + WINDOW_BYTES - 1, begin + rest + 2]
    assert _found(data) == [("value", "graph.node[0].attribute[0].ints", place) for place in places]


def test_the_length_of_an_empty_message_is_a_number():
    data = BASE + tag(7, LEN) + b"\x80\x00"
    assert [kind for kind, *_ in _found(data)] == ["length"]
    assert _shorter(data) == BASE + length(7, b"")


def test_bytes_that_end_inside_a_field_end_the_walk():
    assert [kind for kind, *_ in _found(b"\x08\x8a\x00" + BASE + b"\x3a\x7f")] == ["value"]
