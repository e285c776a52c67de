# SPDX-License-Identifier: Apache-2.0
"""Models with a long list: of any repeated field of the schema, of one name, of many, empty, or each with its fault."""

from __future__ import annotations

import functools
import math
from random import Random

from google.protobuf.descriptor import FieldDescriptor
from support.wire.wire_bytes import Carrier, fields, is_repeated, varint, wire_type_of

from onnx_lint import schema
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType

from . import grammar
from .tree import Field, content, lists, parse, root_of, serialize

LEAST_ELEMENTS, MAX_ELEMENTS = 33, 40_000
"""More than 32: from that number on, the loader reads a row of records in bulk."""

_SCALARS: dict[int, tuple[bytes, ...]] = {
    WireType.LEN: (b"", b"x", b"name", b"\xff", "é".encode(), b"A" * 130),
    WireType.VARINT: tuple(map(varint, (0, 1, 2, 127, 128, 2**31 - 1, 2**63, 2**64 - 1))),
    WireType.FIXED32: (bytes(4), b"\0\0\x80\x3f", b"\xff" * 4),
    WireType.FIXED64: (bytes(8), b"\0\0\0\0\0\0\xf0\x3f", b"\xff" * 8),
}


@functools.cache
def repeated() -> tuple[tuple[Carrier, FieldDescriptor], ...]:
    """Return each list that a model can contain, with the message that has it."""
    return tuple((carrier, field) for carrier, field in fields() if is_repeated(field))


def grown(rng: Random, data: bytes, message: str, most_bytes: int) -> bytes:
    """The message with a long list in it: one that some message in it has, or may have."""
    root = root_of(parse(data, message) or [], message)
    name, into = rng.choice(list(lists(root)))
    candidates = [field for field in schema.message(name).DESCRIPTOR.fields if is_repeated(field)]
    if not candidates:
        return carried(rng, most_bytes)
    given = {field.number for field in into}
    field = rng.choice([field for field in candidates if field.number in given and rng.random() < 0.8] or candidates)
    own = [other for other in into if other.number == field.number and other.wire_type == wire_type_of(field)]
    at = rng.randrange(len(into) + 1)
    # What a model has of its own gets further than what is made: the rest of the model belongs to it.
    into[at:at] = _list(rng, field, own if rng.random() < 0.6 else [], most_bytes)
    return serialize(content(root))


def carried(rng: Random, most_bytes: int) -> bytes:
    """A small model around a long list."""
    carrier, field = rng.choice(repeated())
    return carrier.model(serialize(_list(rng, field, [], most_bytes)), field.name)[0]


def _list(rng: Random, field: FieldDescriptor, own: list[Field], most_bytes: int) -> list[Field]:
    """Elements that are not packed: one again and again, or a few in turn, or all of different names."""
    patterns = own or [_element(rng, field) for _ in range(rng.choice((1, 1, 2, 5)))]
    if rng.random() < 0.5:
        patterns = patterns[:1]
    is_numbered = rng.random() < 0.4
    # As many short lists as long ones of each magnitude.
    count = round(math.exp(rng.uniform(math.log(LEAST_ELEMENTS), math.log(MAX_ELEMENTS))))
    found: list[Field] = []
    for number in range(count):
        element = patterns[number % len(patterns)].copy()
        if is_numbered:
            _rename(element, number)
        most_bytes -= len(serialize([element]))
        if most_bytes < 0:
            break
        found.append(element)
    return found


def _element(rng: Random, field: FieldDescriptor) -> Field:
    wire_type = wire_type_of(field)
    if field.message_type is None:
        return Field(field.number, wire_type, rng.choice(_SCALARS[wire_type]))
    name = field.message_type.full_name.removeprefix(f"{schema.PACKAGE}.")
    made = grammar.message(rng, field.message_type, grammar.MAX_DEPTH - 1) if rng.random() < 0.85 else None
    data = made.SerializePartialToString() if made is not None else b""
    return Field(field.number, wire_type, parse(data, name) or [], name)


def _rename(element: Field, number: int) -> None:
    """Put a number behind the string, or behind each string that a message has of its own."""
    if element.wire_type != WireType.LEN:
        return
    if isinstance(element.value, bytes):
        element.value += b"%d" % number
        return
    known = wire.fields(element.message or "ModelProto")
    for field in element.value:
        if isinstance(field.value, bytes) and field.number in known and known[field.number].is_string:
            field.value += b"%d" % number
