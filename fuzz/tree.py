# SPDX-License-Identifier: Apache-2.0
"""A serialized model as a tree of fields that can be edited and written again, even if it becomes invalid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onnx_lint.input.source import BytesSource
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

MAX_DEPTH = 110


@dataclass
class Field:
    """One field: its number, its wire type, and its value, which is bytes or the fields of a message."""

    number: int
    wire_type: int
    value: bytes | list[Field]
    message: str | None = None
    """The message in the field; None where the value is bytes."""

    def copy(self) -> Field:
        if isinstance(self.value, bytes):
            return Field(self.number, self.wire_type, self.value, self.message)
        return Field(self.number, self.wire_type, [field.copy() for field in self.value], self.message)


def parse(data: bytes, message: str = "ModelProto", depth: int = 0) -> list[Field] | None:
    """The fields of a message; None where the bytes cannot be split, or lie too deep."""
    fields: list[Field] = []
    known = wire.fields(message)
    try:
        for number, wire_type, _, start, end in wire.records(BytesSource(data), 0, len(data)):
            value = data[start:end]
            inner = known[number].message if number in known and wire_type == WireType.LEN else None
            nested = parse(value, inner, depth + 1) if inner is not None and depth < MAX_DEPTH else None
            fields.append(
                Field(number, wire_type, value if nested is None else nested, inner if nested is not None else None)
            )
    except WireError:
        return None
    return fields


def root_of(fields: list[Field], message: str) -> Field:
    """The fields of a whole file as one field, which has no number."""
    return Field(0, WireType.LEN, fields, message)


def serialize(fields: list[Field]) -> bytes:
    """The bytes of a message."""
    return b"".join(_bytes(field) for field in fields)


def content(field: Field) -> list[Field]:
    """The fields of the message in a field; none where it holds none."""
    return field.value if isinstance(field.value, list) else []


def _bytes(field: Field) -> bytes:
    tag = wire.encode_varint(field.number << 3 | field.wire_type)
    value = field.value if isinstance(field.value, bytes) else serialize(field.value)
    if field.wire_type == WireType.LEN:
        return tag + wire.encode_varint(len(value)) + value
    return tag + value


def lists(root: Field) -> Iterator[tuple[str, list[Field]]]:
    """Every list of fields below the root and its own, the outermost first, with the message that it makes."""
    if isinstance(root.value, list) and root.message is not None:
        yield root.message, root.value
        for field in root.value:
            yield from lists(field)
