# SPDX-License-Identifier: Apache-2.0
"""Edits of arbitrary bytes. Each is a function of a random generator."""

from __future__ import annotations

from random import Random

from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType

from .corpus import seeds
from .tree import parse, serialize

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
    """Overwrite bytes with another number, sometimes in more bytes than necessary or allowed."""
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
