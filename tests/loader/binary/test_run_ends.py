# SPDX-License-Identifier: Apache-2.0
"""The end of a run of records of one field."""

from __future__ import annotations

import itertools
import random

import pytest
from support.project.each_case import each_case

from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary import run_ends
from onnx_lint.schema import wire

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


@each_case("other", OTHERS)
@each_case("name", RECORDS)
@each_case("piece", [40, 1 << 20])
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


def test_a_run_of_strings_has_lengths_of_at_most_five_bytes_and_may_be_empty():
    field = wire.fields_by_name("TensorProto")["string_data"]
    data = b"\x32\x01a" * 3 + b"\x32\x80\x01" + bytes(128) + b"\x32\x81\x80\x80\x80\x80\x00a"
    assert run_ends.run_end(BytesSource(data), 0, len(data), field) == 140
    assert run_ends.run_end(BytesSource(data), 140, len(data), field) == 140
    assert run_ends.run_end(BytesSource(data), 3, 3, field) == 3
