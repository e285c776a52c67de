# SPDX-License-Identifier: Apache-2.0
"""Models that hold many elements of one repeated field of the schema, or of two."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from support.wire.wire_bytes import BASE, carriers, is_repeated, length, tag, varint, wire_type_of

_DIGITS = string.ascii_letters + string.digits
_OWN = frozenset({"name", "key", "op_type", "dim_param", "tensor_name", "node", "domain"})
"""The fields of an element whose text is its own."""


def name(index: int) -> str:
    """Return the shortest names, each once."""
    index, digit = divmod(index, len(_DIGITS))
    return _DIGITS[digit] + (name(index - 1) if index else "")


@dataclass(frozen=True)
class ListField:
    """A repeated field, with the fields that lead to it from the model."""

    message: str
    path: tuple[FieldDescriptor, ...]
    field: FieldDescriptor

    def __str__(self) -> str:
        return f"{self.message}.{self.field.name}"


@cache
def list_fields() -> dict[str, ListField]:
    """Return each repeated field of the schema, by its name: `NodeProto.input`."""
    found = [
        ListField(carrier.message, carrier.path, field)
        for carrier in carriers()
        for field in carrier.descriptor.fields
        if is_repeated(field)
    ]
    return {str(each): each for each in found}


def _occurrence(field: FieldDescriptor, content: bytes) -> bytes:
    return tag(field.number, wire_type_of(field)) + content


def _content(descriptor: Descriptor, index: int, *, own: bool) -> bytes:
    """Return the content of an element: nothing, or names of its own."""
    if not own:
        return b""
    text = name(index)
    return b"".join(
        length(field.number, text)
        for field in descriptor.fields
        if field.name in _OWN and not is_repeated(field) and field.type == FieldDescriptor.TYPE_STRING
    )


def _elements(field: FieldDescriptor, count: int, first: int, content: bytes, *, own: bool) -> Iterator[bytes]:
    """Yield that many elements. `content`: what each of them holds besides, if it is a message."""
    for index in range(first, first + count):
        if field.message_type is not None:
            yield length(field.number, _content(field.message_type, index, own=own) + content)
        elif field.type in {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES}:
            yield length(field.number, name(index) if own else b"")
        elif wire_type_of(field) == 0:
            yield _occurrence(field, varint(index if own else 1))
        else:
            yield _occurrence(field, index.to_bytes({1: 8, 5: 4}[wire_type_of(field)], "little"))


def _along(path: tuple[FieldDescriptor, ...], content: bytes) -> bytes:
    for field in reversed(path):
        content = length(field.number, content)
    return content


def one_list(one: ListField, count: int, *, own: bool) -> bytes:
    """Return a model with that many elements of the field."""
    return BASE + _along(one.path, b"".join(_elements(one.field, count, 0, b"", own=own)))


def two_lists(one: ListField, other: ListField, count: int, *, own: bool) -> bytes:
    """Return a model with about that many elements of both fields together.

    If elements of the first field can hold the second, each of them holds its part of it.
    """
    through = _path_below(one, other)
    if through is None:  # side by side
        return one_list(one, count // 2, own=own) + one_list(other, count // 2, own=own)[len(BASE) :]
    outer = max(int(count**0.5), 1)
    rows = []
    for index in range(outer):
        inner = _along(through, b"".join(_elements(other.field, count // outer, index * outer, b"", own=own)))
        rows += _elements(one.field, 1, index, inner, own=own)
    return BASE + _along(one.path, b"".join(rows))


def can_hold(one: ListField, other: ListField) -> bool:
    """Return whether elements of the first field can hold elements of the second."""
    return _path_below(one, other) is not None


def _path_below(one: ListField, other: ListField) -> tuple[FieldDescriptor, ...] | None:
    """Return the fields that lead from an element of the first field to the second; None if none do."""
    if one.field.message_type is None:
        return None
    return _paths(one.field.message_type).get(other.message)


def _paths(start: Descriptor) -> dict[str, tuple[FieldDescriptor, ...]]:
    """Return the shortest way from a message to each message in it."""
    found: dict[str, tuple[FieldDescriptor, ...]] = {_short(start): ()}
    queue = [start]
    for descriptor in queue:
        for field in descriptor.fields:
            inner = field.message_type
            if inner is not None and _short(inner) not in found:
                found[_short(inner)] = (*found[_short(descriptor)], field)
                queue.append(inner)
    return found


def _short(descriptor: Descriptor) -> str:
    return descriptor.full_name.removeprefix("onnx.")
