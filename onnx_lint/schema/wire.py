# SPDX-License-Identifier: Apache-2.0
"""The wire format of Protocol Buffers: tags, varints, and the fields of each message of the schema.

Source: the encoding chapter of the Protocol Buffers documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, MutableSequence
from enum import IntEnum
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from onnx_lint import schema
from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.input.source import WINDOW_BYTES, Source
from onnx_lint.wording import counted

MAX_VARINT_BYTES: Final = 10
"""A varint carries 7 bits per byte and at most 64 bits."""

CONTINUED_BYTES: Final = bytes(range(0x80, 0x100))
"""All bytes of varints but the last ones."""

MAX_SHORT_VARINT_BYTES: Final = 5
"""A tag and a length have at most 32 bits. The parsers in C++ and upb reject more bytes than these need, even if the
additional bytes carry no bits. The parser in pure Python reads up to ten."""

MAX_FIELD_NUMBER: Final = (1 << 29) - 1


class WireType(IntEnum):
    """The low three bits of a tag: the encoding of the value after it."""

    VARINT = 0
    FIXED64 = 1
    LEN = 2
    START_GROUP = 3
    END_GROUP = 4
    FIXED32 = 5


class Field(Record):
    """A field of a message, as needed for the wire format."""

    name: str
    number: int
    repeated: bool
    packable: bool
    wire_type: WireType
    """The wire type of one value; a packable repeated field may use LEN as well."""
    message: str | None
    """The unqualified name of the message that the field holds."""
    is_string: bool
    oneof: str | None
    """The oneof that the field belongs to."""

    def accepts(self, wire_type: int) -> bool:
        """Return whether a parser reads an occurrence with this wire type as the field, and not as an unknown one."""
        return wire_type == self.wire_type or (self.packable and wire_type == WireType.LEN)


_VARINT_TYPES: Final = frozenset(
    {
        FieldDescriptor.TYPE_INT32,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT32,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_BOOL,
        FieldDescriptor.TYPE_ENUM,
    }
)
_FIXED64_TYPES: Final = frozenset(
    {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_SFIXED64}
)
_FIXED32_TYPES: Final = frozenset(
    {FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_SFIXED32}
)


def _wire_type(field_type: int) -> WireType:
    if field_type in _VARINT_TYPES:
        return WireType.VARINT
    if field_type in _FIXED64_TYPES:
        return WireType.FIXED64
    if field_type in _FIXED32_TYPES:
        return WireType.FIXED32
    return WireType.LEN


def _unqualified(descriptor: Descriptor) -> str:
    return descriptor.full_name.removeprefix(f"{schema.PACKAGE}.")


@functools.cache
def fields(message: str) -> Mapping[int, Field]:
    """Return the fields of the message called `message`, by number."""
    found: dict[int, Field] = {}
    for field in schema.message(message).DESCRIPTOR.fields:
        wire_type = _wire_type(field.type)
        repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
        found[field.number] = Field(
            name=field.name,
            number=field.number,
            repeated=repeated,
            packable=repeated and wire_type != WireType.LEN,
            wire_type=wire_type,
            message=_unqualified(field.message_type) if field.message_type else None,
            is_string=field.type == FieldDescriptor.TYPE_STRING,
            oneof=field.containing_oneof.name if field.containing_oneof else None,
        )
    return found


@functools.cache
def fields_by_name(message: str) -> Mapping[str, Field]:
    """Return the fields of the message called `message`, by name."""
    return {field.name: field for field in fields(message).values()}


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """Decode the varint at `position`; return its unsigned 64-bit value and the position after it.

    Raises IndexError if `data` ends inside it, and OverflowError if it is longer than ten bytes.
    """
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    value = byte & 0x7F
    for shift in range(7, 7 * MAX_VARINT_BYTES, 7):
        position += 1
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
    raise OverflowError("a varint is longer than ten bytes")


def _decode_short(data: bytes, position: int, what: str) -> tuple[int, int]:
    """Decode a varint as decode_varint does, but raise WireError if it has more than five bytes without need.

    A value that needs more is not a valid field number, or is a length beyond the end of any file.
    """
    value, following = decode_varint(data, position)
    if following - position > MAX_SHORT_VARINT_BYTES and value >> 7 * MAX_SHORT_VARINT_BYTES == 0:
        raise WireError("width", position, f"{what} is written in more than five bytes")
    return value, following


def encode_varint(value: int) -> bytes:
    """Encode a non-negative integer below 2**64 in the fewest bytes."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class WireError(Exception):
    """The bytes cannot be split into fields.

    `problem` is one of "truncated", "varint", "width", "field-number", "wire-type", "group", "nesting", "number" and
    "no-progress"; `offset` is the byte at which the faulty field or number begins.
    """

    def __init__(self, problem: str, offset: int, detail: str, field: tuple[int, int] | None = None) -> None:
        super().__init__(detail)
        self.problem = problem
        self.offset = offset
        self.detail = detail
        self.field = field
        """For a LEN field that is too long: its number, and the start of its content."""


def advanced(position: int, following: int) -> int:
    """Return `following`, the position after a step of a parser from `position`.

    Every loop whose steps have a length from the file calls this, so that it cannot run forever. Raises
    WireError("no-progress") if the step did not advance.
    """
    if following <= position:
        raise WireError("no-progress", position, "the bytes here are not a field that can be skipped")
    return following


Span = tuple[int, int, int]
"""The positions at which a field's tag, its value, and the next field begin."""


MAX_SHORT_BYTES: Final = 1 << 14
"""Records with fewer bytes have a length of at most two bytes."""


def skip_short(
    source: Source, start: int, end: int, tag: int, most_bytes: int, starts: MutableSequence[int] | None = None
) -> tuple[int, int]:
    """Return the end of a sequence of LEN records with one tag, and their number; their contents are not read.

    The sequence begins at `start`. It continues while records have the tag `tag` in one byte, fewer than `most_bytes`
    bytes (a multiple of 128, at most MAX_SHORT_BYTES), and do not exceed `end`. It may continue after the returned
    end. The start of each record is added to `starts`, if there is such a list. With a tag of two bytes there are none.
    """
    position, count, most_high = start, 0, most_bytes >> 7
    if tag >= 0x80:
        return position, count
    while position < end:
        check_deadline()
        window = source.read_at(position, min(WINDOW_BYTES, end - position))
        local = 0
        begins: list[int] = []
        # A large file has hundreds of thousands of such records, so all possible checks come after the loop.
        try:
            while window[local] == tag:
                begins.append(local)
                length = window[local + 1]
                if length < 0x80:
                    local += length + 2
                else:
                    high = window[local + 2]
                    if high >= most_high:
                        begins.pop()
                        break
                    local += (high << 7 | length & 0x7F) + 3
        except IndexError:
            if local != len(window):
                local = begins.pop()  # the window ends inside the record
        if not local:
            break
        count += len(begins)
        if starts is not None:
            starts.extend([position + first for first in begins])
        position = advanced(position, position + local)
    return position, count


_TAG_AND_LENGTH_BYTES: Final = 2 * MAX_VARINT_BYTES
FIXED_BYTES: Final[Mapping[int, int]] = {WireType.FIXED64: 8, WireType.FIXED32: 4}
"""The number of bytes of a number of fixed size, by wire type."""


def span_at(source: Source, start: int) -> Span:
    """Return the span of the field that begins at `start`. `records` has yielded the field, and it is not a group.

    Raises WireError if the file has become shorter since.
    """
    head = source.read_at(start, _TAG_AND_LENGTH_BYTES)
    try:
        tag, value = decode_varint(head, 0)
        wire_type = tag & 7
        if wire_type == WireType.LEN:
            length, value = decode_varint(head, value)
            following = value + length
        elif wire_type == WireType.VARINT:
            _, following = decode_varint(head, value)
        else:
            following = value + FIXED_BYTES[wire_type]
    except IndexError:
        raise WireError("truncated", start, "the file became shorter while it was read") from None
    return start, start + value, start + following


def records(
    source: Source, start: int, end: int, *, inside_groups: bool = True
) -> Iterator[tuple[int, int, int, int, int]]:
    """Split the bytes from `start` to `end` into fields; contents of LEN fields are not read.

    Yields (field number, wire type, start of the tag, start of the value or of the content after the length, start of
    the next field), positions in the source. They are plain tuples because a large graph has hundreds of thousands.
    Groups are yielded as their start and end tags and, with `inside_groups`, the fields between; without, only the
    start tag is yielded, since no message of the schema contains groups. Raises WireError when the bytes cannot be
    split, after yielding the fields before.
    """
    position = base = start
    chunk = b""
    while position < end:
        local = position - base
        if local + _TAG_AND_LENGTH_BYTES > len(chunk) and base + len(chunk) < end:
            check_deadline()
            base, local = position, 0
            chunk = source.window(position, min(WINDOW_BYTES, end - position))
        try:
            # Most tags and lengths have one byte, for which no function is called.
            tag = chunk[local]
            if tag < 0x80:
                local += 1
            else:
                tag, local = _decode_short(chunk, local, "a tag")
            wire_type = tag & 7
            value = local
            if wire_type == 2:
                length = chunk[local]
                if length < 0x80:
                    value = local + 1
                else:
                    length, value = _decode_short(chunk, local, "a length")
                local = value + length
            elif wire_type == 0:
                if chunk[local] < 0x80:
                    local += 1
                else:
                    _, local = decode_varint(chunk, local)
            elif wire_type in FIXED_BYTES:
                local += FIXED_BYTES[wire_type]
        except (IndexError, OverflowError, WireError) as error:
            raise _faulty_varint(error, position) from None
        number = tag >> 3
        if not 0 < number <= MAX_FIELD_NUMBER:
            raise WireError("field-number", position, f"field number {number} does not exist")
        if wire_type > 5:
            raise WireError("wire-type", position, f"wire type {wire_type} does not exist")
        following = base + local
        if following > end:
            detail = f"field {number} is {counted(following - end, 'byte')} longer than what is left"
            raise WireError("truncated", position, detail, (number, base + value) if wire_type == 2 else None)
        yield number, wire_type, position, base + value, following
        if wire_type == 3 and not inside_groups:
            following = _end_of_group(source, following, end)
        position = following  # at least after the tag


def _faulty_varint(error: IndexError | OverflowError | WireError, position: int) -> WireError:
    """Return the error for a tag, length or varint of the field at `position` that could not be decoded."""
    if isinstance(error, WireError):
        return WireError(error.problem, position, error.detail)
    if isinstance(error, OverflowError):
        return WireError("varint", position, "a varint is longer than ten bytes")
    return WireError("truncated", position, "the bytes end inside a tag, length or varint")


def _end_of_group(source: Source, start: int, end: int) -> int:
    """Return the end of the group whose fields begin at `start`: `end` if nothing closes it."""
    depth = 1
    for _, wire_type, _, _, following in records(source, start, end):
        depth += (wire_type == 3) - (wire_type == 4)
        if depth == 0:
            return following
    return end
