# SPDX-License-Identifier: Apache-2.0
"""Writes a serialized message again in other ways that Protocol Buffers reads alike, and in some that it refuses.

`read` makes a tree of fields, apart from the code under test; `unpacked`, `packed`, `reordered` and `split` make
another tree of one; `write` makes bytes of a tree, with numbers in more bytes than they need where `Widths` says so.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from onnx_lint import schema
from support.wire.wire_bytes import FIXED32, FIXED64, LEN, VARINT, is_repeated, varint, wire_type_of

_FIXED: Final = {FIXED32: "<I", FIXED64: "<Q"}


@dataclass(frozen=True)
class Field:
    """A field: its number, its wire type, and a number, bytes, or the fields of the message that it holds."""

    number: int
    wire_type: int
    value: int | bytes | tuple[Field, ...]
    declared: FieldDescriptor | None = None
    """Return the field of the schema; None if it has no such field."""


Fields = tuple[Field, ...]


@dataclass(frozen=True)
class Widths:
    """The least number of bytes of a varint: bytes with no bits in them stand at their end.

    Protocol Buffers reads tags and lengths of five bytes and values of ten at most.
    """

    tags: int = 1
    lengths: int = 1
    values: int = 1
    """The width of single values, and of those in packed lists."""


SHORTEST: Final = Widths()


def padded(number: int, width: int) -> bytes:
    """A varint of at least `width` bytes."""
    data = varint(number)
    more = width - len(data)
    return data if more <= 0 else data[:-1] + bytes([data[-1] | 0x80]) + b"\x80" * (more - 1) + b"\0"


def read(data: bytes, message: str = "ModelProto") -> Fields:
    """The fields of a serialized message without groups."""
    return tuple(_read(data, schema.message(message).DESCRIPTOR))


def _read(data: bytes, descriptor: Descriptor) -> Iterator[Field]:
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        declared = descriptor.fields_by_number.get(number)
        value: int | bytes | Fields
        if wire_type == VARINT:
            value, position = _varint(data, position)
        elif wire_type == LEN:
            length, position = _varint(data, position)
            value = data[position : position + length]
            position += length
            if declared is not None and declared.message_type is not None:
                value = tuple(_read(value, declared.message_type))
        else:
            size = struct.calcsize(_FIXED[wire_type])
            (value,) = struct.unpack(_FIXED[wire_type], data[position : position + size])
            position += size
        yield Field(number, wire_type, value, declared)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while data[position] >= 0x80:
        value |= (data[position] & 0x7F) << shift
        shift += 7
        position += 1
    return value | data[position] << shift, position + 1


def write(fields: Fields, widths: Widths = SHORTEST) -> bytes:
    """The bytes of a message."""
    return b"".join(_written(field, widths) for field in fields)


def _written(field: Field, widths: Widths) -> bytes:
    tag = padded(field.number << 3 | field.wire_type, widths.tags)
    if isinstance(field.value, int):
        if field.wire_type == VARINT:
            return tag + padded(field.value, widths.values)
        return tag + struct.pack(_FIXED[field.wire_type], field.value)
    if isinstance(field.value, tuple):
        content = write(field.value, widths)
    elif widths.values > 1 and _is_list_of_varints(field):
        content = b"".join(padded(number, widths.values) for number in _numbers(field))
    else:
        content = field.value
    return tag + padded(len(content), widths.lengths) + content


def _is_packable(field: Field) -> bool:
    if field.declared is None or not is_repeated(field.declared):
        return False
    own = wire_type_of(field.declared)
    # Parsers ignore another wire type, so it is not part of the list.
    return own != LEN and field.wire_type in {own, LEN}


def _is_list_of_varints(field: Field) -> bool:
    return _is_packable(field) and wire_type_of(field.declared) == VARINT


def _numbers(field: Field) -> list[int]:
    """The numbers in a packed list."""
    assert field.declared is not None
    assert isinstance(field.value, bytes)
    wire_type = wire_type_of(field.declared)
    if wire_type != VARINT:
        return [number for (number,) in struct.iter_unpack(_FIXED[wire_type], field.value)]
    found, position = [], 0
    while position < len(field.value):
        number, position = _varint(field.value, position)
        found.append(number)
    return found


def unpacked(fields: Fields) -> Fields:
    """Return the same message with a separate field for each number of a list, at every depth."""
    return tuple(one for field in fields for one in _unpacked(field))


def _unpacked(field: Field) -> Iterator[Field]:
    if isinstance(field.value, tuple):
        yield replace(field, value=unpacked(field.value))
    elif field.wire_type == LEN and field.declared is not None and _is_packable(field):
        wire_type = wire_type_of(field.declared)
        for number in _numbers(field):
            yield replace(field, wire_type=wire_type, value=number)
    else:
        yield field


def packed(fields: Fields) -> Fields:
    """The same with all numbers of a list in one field, at every depth; it stands where the first of them stood."""
    found: dict[object, Field] = {}
    for place, field in enumerate(unpacked(fields)):
        if isinstance(field.value, tuple):
            found[place] = replace(field, value=packed(field.value))
        elif not _is_packable(field):
            found[place] = field
        else:
            assert isinstance(field.value, int)
            form = _FIXED.get(field.wire_type)
            entry = varint(field.value) if form is None else struct.pack(form, field.value)
            before = found.get(("list", field.number))
            content = (before.value if before is not None else b"") + entry
            found["list", field.number] = replace(field, wire_type=LEN, value=content)
    return tuple(found.values())


def reordered(fields: Fields, rng: Random) -> Fields:
    """The same with the fields in another order; those of one number, and of one oneof, keep theirs."""
    inner = [_with_inner(field, lambda value: reordered(value, rng)) for field in fields]
    kinds = [_kind(field) for field in inner]
    rng.shuffle(kinds)
    queues: dict[object, list[Field]] = {}
    for field in inner:
        queues.setdefault(_kind(field), []).append(field)
    waiting = {kind: iter(queue) for kind, queue in queues.items()}
    return tuple(next(waiting[kind]) for kind in kinds)


def _kind(field: Field) -> object:
    oneof = field.declared.containing_oneof if field.declared is not None else None
    return oneof.name if oneof is not None else field.number


def split(fields: Fields, rng: Random) -> Fields:
    """The same with each singular message in two parts, which parsers merge."""
    found: list[Field] = []
    for field in fields:
        whole = _with_inner(field, lambda value: split(value, rng))
        if isinstance(whole.value, tuple) and whole.declared is not None and not is_repeated(whole.declared):
            at = rng.randrange(len(whole.value) + 1)
            found += [replace(whole, value=whole.value[:at]), replace(whole, value=whole.value[at:])]
        else:
            found.append(whole)
    return tuple(found)


def _with_inner(field: Field, change: Callable[[Fields], Fields]) -> Field:
    return replace(field, value=change(field.value)) if isinstance(field.value, tuple) else field
