# SPDX-License-Identifier: Apache-2.0
"""The message classes of the schema, and of the variants of it by which the parser does another part of the work."""

from __future__ import annotations

import functools
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from onnx_lint.common.record import Record
from onnx_lint.schema.pool import compiled, factory, files_of, pool

PACKAGE: Final = "onnx"
"""The package of the schema."""


class Variant(Record):
    """What a variant of the schema declares otherwise than the schema."""

    why: str
    package: str = PACKAGE
    as_bytes: frozenset[str] = frozenset()
    """The fields of graphs and functions that are bytes instead of messages."""
    is_packed: bool = False
    """Whether all lists of numbers are packed."""
    is_in_lists: bool = False
    """Whether each field is a list, and each message in it bytes."""


VARIANTS: Final = {
    "message": Variant("the schema itself"),
    "outline": Variant(
        "the model at rest: nodes, initializers and value infos stay bytes until columns or a finding are made of them",
        f"{PACKAGE}.outline",
        frozenset({"node", "initializer", "value_info"}),
    ),
    "nodeless": Variant(
        "to have the parser look into all but the nodes, which takes most of its time and is done once for each form",
        f"{PACKAGE}.nodeless",
        frozenset({"node"}),
    ),
    "packed": Variant(
        "to tell that a file is canonical for a writer that goes by the schema in proto3, which packs lists",
        is_packed=True,
    ),
    "columns": Variant(
        "to gather each field of many messages: put one behind the other they are one message with lists",
        is_in_lists=True,
    ),
}
"""Each variant by the function that gives its classes."""


def _class(variant: str, name: str) -> Any:
    return factory()[1](pool().FindMessageTypeByName(f"{VARIANTS[variant].package}.{name}"))


@functools.cache
def message(name: str) -> Any:
    """Return the class of the message called `name`, as in `message("TypeProto.Tensor")`.

    Raises KeyError when the schema has no such message.
    """
    return _class("message", name)


@functools.cache
def outline(name: str) -> Any:
    """Return the class of the message called `name` in which nodes, initializers and value_info are bytes.

    There are those of ModelProto and of what stands between it and a graph; raises KeyError for others.
    """
    return _class("outline", name)


@functools.cache
def nodeless(name: str) -> Any:
    """Return the class of the message called `name` in which only the nodes of graphs and functions are bytes.

    There are the same as of `outline`.
    """
    return _class("nodeless", name)


@functools.cache
def packed(name: str) -> Any:
    """Return the class of the message called `name` in which all lists of numbers are packed.

    Parsers take either form. Raises KeyError when the schema has no such message.
    """
    return factory()[1](_packed_pool().FindMessageTypeByName(f"{VARIANTS['packed'].package}.{name}"))


_EXPANDED = b"\x18\x02"
"""That repeated fields are written one by one, as it stands in the features of the file, which are its last message."""
_PACKED = b"\x18\x01"


@functools.cache
def _packed_pool() -> Any:
    before, _, after = next(files_of(compiled())).rpartition(_EXPANDED)
    private = factory()[0]()
    private.AddSerializedFile(before + _PACKED + after)
    return private


@functools.cache
def columns(name: str) -> Any:
    """Return the class of a message with the fields of `name`, each a list; of messages it has the serialized form.

    Nothing tells which message an entry of a list came from. Of a singular field there is one entry for each message
    exactly when there are as many entries as messages, provided that these were serialized by Protocol Buffers.
    Raises KeyError when the schema has no such message.
    """
    pool_class, class_of = factory()
    alone = pool_class()
    alone.AddSerializedFile(_file(name))
    return class_of(alone.FindMessageTypeByName(_NAME))


_NAME: Final = "Columns"
"""What each class of columns is called; each is alone in a pool."""

_STORED_AS: Final = {
    FieldDescriptor.TYPE_ENUM: FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_MESSAGE: FieldDescriptor.TYPE_BYTES,
}
"""What stands for the types that are not known by themselves; any other one stays as it is."""

_LENGTH_DELIMITED, _VARINT = 2, 0


def _file(name: str) -> bytes:
    """A FileDescriptorProto, written by hand: its class would be imported (docs/performance.md: descriptor-set)."""
    fields = (
        _text(1, field.name) + _number(3, field.number) + _REPEATED + _number(5, _STORED_AS.get(field.type, field.type))
        for field in message(name).DESCRIPTOR.fields
    )
    descriptor = _text(1, _NAME) + b"".join(_bytes(2, field) for field in fields)
    return _text(1, name) + _bytes(4, descriptor)


def _varint(value: int) -> bytes:
    if value < 0x80:
        return value.to_bytes(1, "little")
    return (value & 0x7F | 0x80).to_bytes(1, "little") + _varint(value >> 7)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


_REPEATED: Final = _number(4, FieldDescriptor.LABEL_REPEATED)
"""In the declaration of a field, that it is a list."""
