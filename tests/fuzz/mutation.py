# SPDX-License-Identifier: Apache-2.0
"""Mutations of bytes, of text, and of the fields of a message; each is a function of a random generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType

from .corpus import Seed, seeds
from .tree import Field, lists, parse, root_of, serialize

MAX_BYTES = 1 << 17
"""Inputs stay small: what is large is the matter of tests/test_hostile.py."""

INTERESTING = (0, 1, 2, 7, 8, 16, 23, 28, 29, 127, 128, 255, 2**15, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1)
NUMBERS = (*INTERESTING, 2**63, 2**64 - 1, 2**64 - 2)
STRINGS = (
    b"",
    b"x",
    b"y",
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbfx",
    b"a\nb",
    b"\x1b[2J",
    "‮x⁦".encode(),
    b"[x](http://example.com)",
    b"ai.onnx",
    b"ai.onnx.ml",
    b"../../etc/passwd",
    b"If",
    b"Constant",
    b"%s%n{0}",
    b"A" * 300,
)
TOKENS = (
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b'"',
    b"'",
    b"-1",
    b"1e999",
    b"nan",
    b"node",
    b"graph {",
    b"\\377",
    b"#",
    b"<",
    b">",
)


# --- bytes


def _position(rng: Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _range(rng: Random, data: bytes) -> tuple[int, int]:
    start = _position(rng, data)
    return start, min(len(data), start + int(rng.expovariate(1 / 12)) + 1)


def flip(rng: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(rng: Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def delete(rng: Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + data[end:]


def insert(rng: Random, data: bytes) -> bytes:
    at = _position(rng, data)
    piece = rng.choice(
        (rng.randbytes(rng.randrange(1, 9)), rng.choice(STRINGS), wire.encode_varint(rng.choice(NUMBERS)))
    )
    return data[:at] + piece + data[at:]


def truncate(rng: Random, data: bytes) -> bytes:
    return data[: _position(rng, data)]


def duplicate(rng: Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def splice(rng: Random, data: bytes) -> bytes:
    other = rng.choice(seeds()).data
    return data[: _position(rng, data)] + other[_position(rng, other) :]


def edit_varint(rng: Random, data: bytes) -> bytes:
    """Write another number, sometimes in more bytes than it needs or than there may be, over whatever stands there."""
    at = _position(rng, data)
    end = at
    while end < len(data) and data[end] >= 0x80 and end - at < 10:
        end += 1
    number = wire.encode_varint(rng.choice(NUMBERS))
    if rng.random() < 0.2:
        number = number[:-1] + bytes([number[-1] | 0x80]) + b"\x80" * rng.randrange(10) + b"\x00"
    return data[:at] + number + data[end + 1 :]


def edit_length(rng: Random, data: bytes) -> bytes:
    """Make the length of a field at the top lie."""
    fields = parse(data)
    if not fields:
        return flip(rng, data)
    index = rng.randrange(len(fields))
    before, field, after = serialize(fields[:index]), fields[index], serialize(fields[index + 1 :])
    value = field.value if isinstance(field.value, bytes) else serialize(field.value)
    wrong = rng.choice((max(len(value) + rng.randrange(-3, 4), 0), rng.choice(NUMBERS)))
    return before + wire.encode_varint(field.number << 3 | WireType.LEN) + wire.encode_varint(wrong) + value + after


BYTES = (flip, overwrite, delete, insert, truncate, duplicate, splice, edit_varint, edit_length)


# --- the fields of a message

_FIXED_BYTES: dict[int, int] = {WireType.FIXED32: 4, WireType.FIXED64: 8}


def _any_list(rng: Random, root: Field) -> tuple[str, list[Field]]:
    return rng.choice([item for item in lists(root) if item[1]] or list(lists(root)))


def drop_field(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    if found:
        del found[rng.randrange(len(found))]


def repeat_field(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    if found:
        field = rng.choice(found)
        at = rng.randrange(len(found) + 1)
        found[at:at] = [field.copy() for _ in range(rng.choice((1, 1, 1, 2, 30)))]


def swap_fields(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    rng.shuffle(found)


def _scalars(root: Field) -> list[tuple[str, Field]]:
    return [(message, field) for message, found in lists(root) for field in found if isinstance(field.value, bytes)]


def _message_fields(root: Field) -> list[Field]:
    return [field for _, found in lists(root) for field in found if isinstance(field.value, list)]


def edit_value(rng: Random, root: Field) -> None:
    """Give a number another value, or a string that of another one in the model."""
    scalars = _scalars(root)
    if not scalars:
        return
    _, field = rng.choice(scalars)
    if field.wire_type == WireType.VARINT:
        field.value = wire.encode_varint(rng.choice(NUMBERS))
    elif field.wire_type == WireType.LEN:
        strings = [other.value for _, other in scalars if other.wire_type == WireType.LEN]
        field.value = rng.choice((rng.choice(strings), rng.choice(STRINGS), rng.randbytes(rng.randrange(40))))
    else:
        size = _FIXED_BYTES.get(field.wire_type, 0)
        field.value = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))


def add_field(rng: Random, root: Field) -> None:
    """Set a field that the schema declares, with a value of its wire type."""
    message, found = _any_list(rng, root)
    declared = rng.choice(list(wire.fields(message).values()))
    made = _made(rng, declared.number, declared.wire_type)
    if declared.message:
        made.value = b""
    found.insert(rng.randrange(len(found) + 1), made)


def _made(rng: Random, number: int, wire_type: WireType) -> Field:
    values = {
        WireType.VARINT: wire.encode_varint(rng.choice(NUMBERS)),
        WireType.FIXED32: rng.randbytes(4),
        WireType.FIXED64: rng.randbytes(8),
        WireType.LEN: rng.choice(STRINGS),
    }
    return Field(number, wire_type, values[wire_type])


def move_message(rng: Random, root: Field) -> None:
    """Put the content of one message in the place of another of its kind, itself included: graphs into graphs."""
    messages = _message_fields(root)
    if not messages:
        return
    target = rng.choice(messages)
    source = rng.choice([other for other in messages if other.message == target.message])
    target.value = source.copy().value


def borrow_message(rng: Random, root: Field) -> None:
    """Append a message of another seed."""
    lender = rng.choice(seeds())
    other = parse(lender.data, lender.message)
    lenders = _message_fields(root_of(other, lender.message)) if other else []
    if not lenders:
        return
    lent = rng.choice(lenders)
    places = [
        (found, number)
        for message, found in lists(root)
        for number, declared in wire.fields(message).items()
        if declared.message == lent.message
    ]
    if places:
        found, number = rng.choice(places)
        found.append(Field(number, lent.wire_type, lent.copy().value, lent.message))


def change_number(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    if found:
        rng.choice(found).number = rng.choice((1, 2, 3, 4, 7, 8, 14, 20, 21, 23, 25, 100, 18999, 2**29 - 1))


def change_wire_type(rng: Random, root: Field) -> None:
    scalars = _scalars(root)
    if scalars:
        _, field = rng.choice(scalars)
        changed = _made(
            rng, field.number, rng.choice((WireType.VARINT, WireType.FIXED64, WireType.LEN, WireType.FIXED32))
        )
        field.wire_type, field.value = changed.wire_type, changed.value


FIELDS: tuple[Callable[[Random, Field], None], ...] = (
    drop_field,
    repeat_field,
    swap_fields,
    edit_value,
    edit_value,
    edit_value,
    add_field,
    add_field,
    move_message,
    borrow_message,
    borrow_message,
    change_number,
    change_wire_type,
)


# --- text


def edit_text(rng: Random, data: bytes) -> bytes:
    words = data.split(b" ")
    at = rng.randrange(len(words))
    choice = rng.randrange(4)
    if choice == 0:
        words[at] = rng.choice(TOKENS)
    elif choice == 1:
        words.insert(at, rng.choice(words))
    elif choice == 2:
        del words[at]
    else:
        other = rng.randrange(len(words))
        words[at], words[other] = words[other], words[at]
    return b" ".join(words)


# --- one input


def mutated(seed: int, number: int) -> Seed:
    """Input `number` of the run with `seed`, under the name of the seed that it comes from."""
    rng = random.Random(f"{seed}:{number}")
    # Text and edits of bytes mostly give what does not parse, and then no rule but those of the file sees it.
    start = _seed(rng, wants_text=rng.random() < 0.1)
    if start.is_text:
        data = _edited(rng, start.data, (edit_text, edit_text, *BYTES[:7]))
    else:
        fields = parse(start.data, start.message)
        if fields is not None and rng.random() < 0.9:
            for _ in range(rng.choice((1, 1, 2, 4, 8))):
                rng.choice(FIELDS)(rng, root_of(fields, start.message))
            data = serialize(fields)
        else:
            data = start.data
        if fields is None or rng.random() < 0.25:
            data = _edited(rng, data, BYTES)
    return replace(start, data=data[:MAX_BYTES])


def _seed(rng: Random, *, wants_text: bool) -> Seed:
    while True:
        start = rng.choice(seeds())
        if start.is_text is wants_text:
            return start


def _edited(rng: Random, data: bytes, edits: Sequence[Callable[[Random, bytes], bytes]]) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(edits)(rng, data)[:MAX_BYTES]
    return data
