# SPDX-License-Identifier: Apache-2.0
"""Numbers of tensors as they are encoded in the file."""

from __future__ import annotations

import random
import struct

import pytest
from support.models.tensor_samples import unpacked

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.tensors import wire_values
from onnx_lint.model import Payload
from onnx_lint.schema import wire


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
        (run := unpacked(packed, "TensorProto"), Payload(field, 0, len(run), False)),
    ):
        source = BytesSource(data)
        found = [int(number) for array in wire_values.entry_pieces(source, payload) for number in array]
        assert found == numbers
        assert wire_values.count_entries(source, payload) == len(numbers)
        assert wire_values.last_varint(source, payload) == numbers[-1] % (1 << 64)


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


@pytest.mark.parametrize("field", ["float_data", "double_data", "int64_data", "raw_data"])
@pytest.mark.parametrize("is_packed", [True, False])
def test_all_bytes_that_are_read_are_counted(field: str, is_packed: bool, monkeypatch: pytest.MonkeyPatch):
    """Progress shows them."""
    monkeypatch.setattr(wire_values.Reading, "bytes_read", 0)
    tensor = schema.message("TensorProto")()
    if field == "raw_data":
        tensor.raw_data = bytes(10)
    else:
        getattr(tensor, field).extend(range(10))
    data = tensor.SerializeToString()
    ((_, _, _, value, end),) = wire.records(BytesSource(data), 0, len(data))
    payload = Payload(field, value, end - value, True)
    if not is_packed and field != "raw_data":
        data = unpacked(data, "TensorProto")
        payload = Payload(field, 0, len(data), False)
    source = BytesSource(data)
    if field == "raw_data":
        list(wire_values.byte_pieces(source, payload.offset, payload.length, 3))
    else:
        list(wire_values.entry_pieces(source, payload))
    assert wire_values.Reading.bytes_read == payload.length


@pytest.mark.usefixtures("values_stay_in_the_source")
def test_bytes_that_are_no_varints_are_not_read_again_and_again():
    payload = Payload("int64_data", 0, 8 << 20, True)
    assert list(wire_values.entry_pieces(BytesSource(b"\xff" * (8 << 20)), payload))[1:] == []
