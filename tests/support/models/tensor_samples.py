# SPDX-License-Identifier: Apache-2.0
"""Models of tensors, and ways to store their elements."""

from __future__ import annotations

from typing import Any

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.schema import wire
from support.project.fixture_files import FIXTURES, Fixture, fixtures

TENSOR_RULES = {
    path.stem.replace("_", "-")
    for chapter in ("tensor", "sparse_tensor")
    for path in (FIXTURES.parent / "rules" / chapter).glob("*.py")
    if path.stem != "__init__"
}


TENSOR_SETTINGS = Settings(select=("tensor", "sparse-tensor"))


TENSOR_FIXTURES = [fixture for fixture in fixtures() if fixture.rule in TENSOR_RULES]


def serialized_fixture(fixture: Fixture) -> bytes:
    model = fixture.model()
    data: bytes = model.proto.SerializePartialToString(deterministic=True) if fixture.is_text else fixture.data
    return data


def unpacked(data: bytes, message: str = "ModelProto") -> bytes:
    """The message with each packed field written as one record a value."""
    known = wire.fields(message)
    pieces: list[bytes] = []
    for number, wire_type, tag, value, following in wire.records(BytesSource(data), 0, len(data)):
        field = known.get(number)
        if field is None or wire_type != wire.WireType.LEN or not (field.message or field.packable):
            pieces.append(data[tag:following])
        elif field.message:
            content = unpacked(data[value:following], field.message)
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


def tensor_model(data_type: int, dims: list[int], **fields: Any) -> bytes:
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


class WatchedSource(BytesSource):
    """Notes the longest read."""

    longest = 0

    def read_at(self, offset: int, length: int) -> bytes:
        WatchedSource.longest = max(WatchedSource.longest, length)
        return super().read_at(offset, length)
