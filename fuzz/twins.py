# SPDX-License-Identifier: Apache-2.0
"""Twins: the same message written in another way that Protocol Buffers reads alike."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError, EncodeError
from support.wire import reencode
from support.wire.reencode import SHORTEST, Fields, Widths
from support.wire.wire_bytes import FIXED32, FIXED64, LEN, VARINT, group

from onnx_lint import schema

from .corpus import JSON, TEXT, Seed

OF_THE_NUMBERS = frozenset({"long-encoding"})
"""Rules about the encoding of numbers. Their findings differ between all twins."""

OF_THE_BYTES = OF_THE_NUMBERS | {
    "unknown-field",
    "reserved-field",
    "wrong-wire-type",
    "repeated-singular-field",
    "invalid-utf8",
}
"""Rules about the encoding of a message. Their findings may differ between twins."""

_UNKNOWN = (
    reencode.Field(900, VARINT, 1),
    reencode.Field(901, LEN, b"x" * 20),
    reencode.Field(902, FIXED64, 2**63),
    reencode.Field(903, FIXED32, 7),
)


def parsed(given: Seed) -> Any | None:
    """Return the message that Protocol Buffers parses from the bytes with the full schema; None if it rejects them."""
    try:
        return schema.message(given.message).FromString(given.data)
    except (DecodeError, UnicodeDecodeError):
        return None


def twin(given: Seed, proto: Any | None, rng: Random) -> tuple[Seed, bool] | None:
    """The same message in another encoding, and whether rules about bytes may have other findings in it.

    `proto`: the message; None where Protocol Buffers refuses it, which onnx-lint may read all the same. There is no
    twin where the bytes hold more than a tree of fields does.
    """
    if proto is not None and rng.random() < 0.25:
        made = _as_text(given, proto, rng)
        return (made, True) if made is not None else None
    try:
        fields = reencode.read(given.data, given.message)
        is_other = False
        for step in rng.sample(_STEPS, rng.randint(1, len(_STEPS))):
            fields = step(fields, rng)
            is_other |= step in _MOVING
        # A tag and a length have five bytes at most, a value ten.
        widths = Widths(rng.randint(1, 5), rng.randint(1, 5), rng.choice((1, 2, 5, 10)))
        data = reencode.write(fields, widths if rng.random() < 0.5 else SHORTEST)
    except _NO_TREE:
        return None
    if rng.random() < 0.1:
        data += group(904, b"\x08\1")
        is_other = True
    return Seed(f"a twin of {given.name}", data, given.suffix, given.proto), is_other


def rewritten(data: bytes, message: str, rng: Random) -> bytes:
    """The message, if the bytes are one, with numbers in more bytes than they need, or than they may have."""
    try:
        fields = reencode.read(data, message)
        widths = Widths(*(rng.choice((1, 1, 2, 5, 6, 9, 10, 11, 12)) for _ in range(3)))
        return reencode.write(rng.choice(_STEPS)(fields, rng), widths)
    except _NO_TREE:
        return data


_NO_TREE = (IndexError, KeyError, ValueError, RecursionError, struct.error)
"""The exceptions of reading a tree, for groups, packed fields that are not lists, and bytes that are not fields."""


def _reorder(fields: Fields, rng: Random) -> Fields:
    return reencode.reordered(fields, rng)


def _split(fields: Fields, rng: Random) -> Fields:
    return reencode.split(fields, rng)


def _pack(fields: Fields, rng: Random) -> Fields:
    return reencode.packed(fields)


def _unpack(fields: Fields, rng: Random) -> Fields:
    return reencode.unpacked(fields)


def _with_unknown(fields: Fields, rng: Random) -> Fields:
    """The same with fields in some of the messages, at any depth, that the schema has not."""
    found = []
    for field in fields:
        inner = field.value
        found.append(replace(field, value=_with_unknown(inner, rng)) if isinstance(inner, tuple) else field)
    if rng.random() < 0.3:
        found.insert(rng.randrange(len(found) + 1), rng.choice(_UNKNOWN))
    return tuple(found)


_STEPS: tuple[Callable[[Fields, Random], Fields], ...] = (_reorder, _split, _pack, _unpack, _with_unknown)
_MOVING = frozenset({_reorder, _split, _with_unknown})
"""The steps that change the findings about the bytes: only the first fault of each kind is reported."""


def _as_text(given: Seed, proto: Any, rng: Random) -> Seed | None:
    known = type(proto)()
    known.CopyFrom(proto)
    known.DiscardUnknownFields()
    name = f"{given.name} in text form"
    try:
        if rng.random() < 0.5:
            text = text_format.MessageToString(known, descriptor_pool=schema.pool(), as_utf8=rng.random() < 0.5)
            return Seed(name, text.encode(), TEXT, given.message)
        return Seed(name, json_format.MessageToJson(known, descriptor_pool=schema.pool()).encode(), JSON, given.message)
    except (EncodeError, ValueError, UnicodeError, RecursionError):
        return None
