# SPDX-License-Identifier: Apache-2.0
"""Rows of small records are skipped in one loop. The skipped records and those in the skeleton are complete."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest
from support.project.each_case import each_case
from support.wire.wire_bytes import FIXED32, VARINT, length, number, tag

from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS
from onnx_lint.input.source import WINDOW_BYTES, BytesSource
from onnx_lint.ir.places.byte_ranges import ByteRanges
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.binary.strip_payloads import PAYLOAD_BYTES, WHOLE_BYTES, TooManyFieldsError, read_skeleton
from onnx_lint.schema import message, wire
from onnx_lint.spec.element_types import ELEMENT_TYPES, INDEX_TYPES

TAG = 0x0A
MOST = 4096


def _expected(data: bytes) -> tuple[int, int]:
    """The end and the length of the row, as a walk over single records finds them."""
    end = count = 0
    try:
        for field, wire_type, tag, value, following in wire.records(BytesSource(data), 0, len(data)):
            if data[tag] != TAG or (field, wire_type) != (1, 2) or following - value >= MOST:
                break
            end, count = following, count + 1
    except wire.WireError:
        pass
    return end, count


@each_case("seed", range(20))
def test_a_row_ends_where_single_records_say(seed: int):
    rng = random.Random(seed)
    sizes = (0, 1, 126, 127, 128, 129, MOST - 1, *([30] * 20))
    data = b"".join(length(1, bytes(rng.choice(sizes))) for _ in range(rng.randrange(400)))
    tail = rng.choice((b"", length(2, b"x"), length(1, bytes(MOST)), number(1, 5), b"\x0a", b"\x0a\xff", b"\x0a\x7f1"))
    data += tail + length(1, b"more")
    starts: list[int] = []
    assert wire.skip_short(BytesSource(data), 0, len(data), TAG, MOST, starts) == _expected(data)
    walked = [record[2:] for record in islice(wire.records(BytesSource(data), 0, len(data)), len(starts))]
    assert [wire.span_at(BytesSource(data), start) for start in starts] == walked


@pytest.mark.parametrize("shift", range(-3, 4))
def test_a_row_goes_on_where_one_read_of_the_source_ends(shift: int):
    data = length(1, bytes(100)) * (WINDOW_BYTES // 102 - 2)
    data += length(1, bytes(WINDOW_BYTES - len(data) - 2 + shift)) + length(1, bytes(200)) * 1000
    assert wire.skip_short(BytesSource(data), 0, len(data), TAG, MOST) == (len(data), _expected(data)[1])


def test_a_tag_of_two_bytes_begins_no_row():
    data = length(25, b"\x0a\x01f") * 100
    assert wire.skip_short(BytesSource(data), 0, len(data), 25 << 3 | 2, MOST) == (0, 0)


def _many_functions() -> Any:
    """A model of many small functions, whose tag has two bytes, with a tensor to be left out in one of them."""
    model = message("ModelProto")(ir_version=10)
    model.graph.doc_string = "-" * WHOLE_BYTES
    for index in range(200):
        attribute = model.functions.add(name=f"f{index}").node.add(op_type="Constant").attribute.add(name="value")
        attribute.t.raw_data = bytes(PAYLOAD_BYTES if index == 32 else 40)
    return model


def test_a_skeleton_of_many_functions_leaves_out_large_payloads_alone():
    model = _many_functions()
    data = model.SerializeToString()

    skeleton = read_skeleton(BytesSource(data), len(data), 50_000)

    assert list(skeleton.payloads) == [(("functions", 32), ("node", 0), ("attribute", 0), ("t", None))]
    model.functions[32].node[0].attribute[0].t.raw_data = b""
    assert message("ModelProto").FromString(skeleton.data) == model


def test_the_layout_of_many_functions_has_each_where_it_is():
    model = _many_functions()
    data = model.SerializeToString()
    layout = ByteRanges(BytesSource(data))
    found = [layout.byte_range(ROOT.at("functions", index)) for index in range(len(model.functions))]
    walked = wire.records(BytesSource(data), 0, len(data))
    assert found == [(tag, following) for number, _, tag, _, following in walked if number == 25]


def test_a_skeleton_of_many_nodes_leaves_out_large_payloads_alone():
    rng = random.Random(7)
    model = message("ModelProto")(ir_version=10)
    for index in range(40_000):
        node = model.graph.node.add(op_type="Op", input=[f"a{index}"], output=["y" * rng.choice((1, 60, 200))])
        if index % 9_000 == 40:
            attribute = node.attribute.add(name="value", type=4)
            attribute.t.data_type, attribute.t.raw_data = 2, bytes(PAYLOAD_BYTES + index)
            attribute.t.dims.append(PAYLOAD_BYTES + index)
    for index in range(100):
        raw = bytes(PAYLOAD_BYTES if index % 10 == 3 else 40)
        model.graph.initializer.add(name=f"w{index}", data_type=2, dims=[len(raw)], raw_data=raw)
    data = model.SerializeToString()
    assert len(data) > WHOLE_BYTES

    skeleton = read_skeleton(BytesSource(data), len(data), 50_000)

    holders = [(("node", 9_000 * turn + 40), ("attribute", 0), ("t", None)) for turn in range(5)]
    holders += [(("initializer", index),) for index in range(3, 100, 10)]
    assert list(skeleton.payloads) == [(("graph", None), *holder) for holder in holders]
    for key, (payload,) in skeleton.payloads.items():
        holder = model
        for field, index in key:
            holder = getattr(holder, field) if index is None else getattr(holder, field)[index]
        assert (payload.field, payload.length) == ("raw_data", len(holder.raw_data))
        holder.raw_data = b""
    assert message("ModelProto").FromString(skeleton.data) == model

    with pytest.raises(TooManyFieldsError):
        read_skeleton(BytesSource(data), len(data), 40_000)


@pytest.mark.parametrize(("last", "lengths"), [("", []), ("raw", [3])])
def test_of_several_raw_data_the_last_one_counts(last: str, lengths: list[int]):
    data = length(9, bytes(PAYLOAD_BYTES)) + length(8, "w") + length(9, last)
    skeleton = read_skeleton(BytesSource(data), 50_000, 50_000, "TensorProto", whole_bytes=0)
    assert skeleton.data == length(9, "") + length(8, "w") + length(9, "")
    assert [payload.length for payload in skeleton.payloads.get((), ())] == lengths


def test_all_values_of_a_tensor_stay_in_the_file_in_their_order():
    short, name, long = tag(4, FIXED32) + b"\0\0\x80\x3f", length(8, "w"), (tag(4, FIXED32) + bytes(4)) * 1_000
    parts = [short, name, long, name, short, name, length(9, "raw")]

    skeleton = read_skeleton(BytesSource(b"".join(parts)), 50_000, 50_000, "TensorProto", whole_bytes=0)

    assert skeleton.data == name + name + name + length(9, "")
    begins = [sum(map(len, parts[:index])) for index in (0, 2, 4)]
    raw = sum(map(len, parts)) - len("raw")
    assert [(payload.offset, payload.length) for payload in skeleton.payloads[()]] == [
        (begins[0], len(short)),
        (begins[1], len(long)),
        (begins[2], len(short)),
        (raw, len("raw")),
    ]


@each_case("kind", sorted(ELEMENT_TYPES))
@each_case("is_first", [True, False])
def test_integers_that_decide_shapes_are_copied_from_any_file(kind: int, is_first: bool):
    declared, values = tag(2, VARINT) + bytes([kind | 0x80, 0]), length(9, bytes(8 * MAX_CONTENT_ELEMENTS))
    data = declared + values if is_first else values + declared
    skeleton = read_skeleton(BytesSource(data), 10**6, 10**6, "TensorProto", whole_bytes=0)
    assert (skeleton.data == data) == (kind in INDEX_TYPES)
