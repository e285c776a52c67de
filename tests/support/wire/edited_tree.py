# SPDX-License-Identifier: Apache-2.0
"""Makes edits in a tree of the fields of a message, as simply as possible, apart from the code under test.

All bytes of fields that no edit names are kept; only the lengths of the messages around edits are written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move, Shorten
from onnx_lint.schema import Proto, wire
from support.wire.wire_bytes import length, number, tag, varint


@dataclass(eq=False)
class _Field:
    number: int
    data: bytes
    """The whole field, with its tag."""
    content: _Message | None = None
    """The message in it, if an edit is to be made there."""
    before: list[_Field] = field(default_factory=list)
    """New fields before it."""
    is_deleted: bool = False

    def written(self) -> bytes:
        data = b"".join(each.written() for each in self.before)
        if self.is_deleted:
            return data
        if self.content is None:
            return data + self.data
        inner, before = self.content.written(), len(self.content.data)
        if len(inner) == before:
            return data + self.data[: len(self.data) - before] + inner
        _, length_at = wire.decode_varint(self.data, 0)
        return data + self.data[:length_at] + varint(len(inner)) + inner


class _Message:
    def __init__(self, kind: str, data: bytes) -> None:
        self.kind = kind
        source = BytesSource(data)
        found = [(number, start) for number, _, start, *_ in wire.records(source, 0, len(data), inside_groups=False)]
        self.fields = [  # a group ends where the next field begins
            _Field(number, data[start:end]) for (number, start), (_, end) in pairwise([*found, (0, len(data))])
        ]
        self.end = _Field(0, b"")
        self.data = data

    def written(self) -> bytes:
        return b"".join(each.written() for each in (*self.fields, self.end))

    def occurrences(self, name: str) -> list[_Field]:
        known = wire.fields_by_name(self.kind)[name]
        return [each for each in self.fields if each.number == known.number]

    def message_in(self, name: str, index: int | None) -> _Message:
        found = self.occurrences(name)[-1 if index is None else index]
        if found.content is None:
            kind = wire.fields_by_name(self.kind)[name].message
            assert kind is not None
            reader = BytesSource(found.data)
            (_, _, _, value, end), *_ = wire.records(reader, 0, len(found.data))
            found.content = _Message(kind, found.data[value:end])
        return found.content

    def position(self, name: str, index: int) -> _Field:
        """Return the field that follows an element inserted at an index."""
        found = self.occurrences(name)
        if index < len(found):
            return found[index]
        if found:
            after = self.fields.index(found[-1]) + 1
            return self.fields[after] if after < len(self.fields) else self.end
        own = wire.fields_by_name(self.kind)[name].number
        return next((each for each in self.fields if each.number > own), self.end)


def edited(data: bytes, kind: str, edits: Iterable[Edit]) -> bytes:
    """Return the bytes of a message of a kind after the edits. Their places are those before the first edit."""
    root = _Message(kind, data)
    shortens = False
    for edit in edits:
        if isinstance(edit, Shorten):
            shortens = True
        else:
            _edit(root, edit)
    return shortened(root.written(), kind) if shortens else root.written()


def shortened(data: bytes, kind: str) -> bytes:
    """Return the bytes of a message of a kind with all of its numbers in as few bytes as possible.

    Lists are kept, packed or not, and so are unknown fields.
    """
    written = []
    for each in _Message(kind, data).fields:
        known = wire.fields(kind).get(each.number)
        reader = BytesSource(each.data)
        (_, wire_type, _, value, end), *_ = wire.records(reader, 0, len(each.data))
        if known is None or not known.accepts(wire_type):
            written.append(each.data)
        elif wire_type == wire.WireType.LEN:
            content = each.data[value:end]
            written.append(length(each.number, content if known.message is None else shortened(content, known.message)))
        elif wire_type == wire.WireType.VARINT:
            written.append(number(each.number, wire.decode_varint(each.data, value)[0]))
        else:
            written.append(tag(each.number, wire_type) + each.data[value:end])
    return b"".join(written)


def _edit(root: _Message, edit: Edit) -> None:
    steps: Sequence[tuple[str, int | None]] = edit.place.key
    message = root
    for name, index in steps[:-1]:
        message = message.message_in(name, index)
    name, index = steps[-1]
    found = message.occurrences(name)
    if isinstance(edit, Delete):
        for each in found[:-1] if edit.keeps_last else found if index is None else [found[index]]:
            each.is_deleted = True
    elif isinstance(edit, Insert):
        assert index is not None
        message.position(name, index).before.append(_new(message.kind, name, edit.value))
    elif isinstance(edit, Assign):
        new = _new(message.kind, name, edit.value)
        if index is None:
            replaced, others = (found[-1], found[:-1]) if found else (None, [])
            for each in others:
                each.is_deleted = True
        else:
            replaced = found[index]
        if replaced is None:
            message.position(name, 0).before.append(new)
        else:
            replaced.data, replaced.content = new.data, None
    elif isinstance(edit, Move):
        assert index is not None
        moved = found[index]
        message.position(name, edit.before).before.append(_Field(moved.number, moved.data))
        moved.is_deleted = True


def _new(kind: str, name: str, value: int | str | Proto) -> _Field:
    known = wire.fields_by_name(kind)[name]
    if isinstance(value, int):
        return _Field(known.number, number(known.number, value))
    data = value.encode() if isinstance(value, str) else schema.serialized(value)
    return _Field(known.number, length(known.number, data))
