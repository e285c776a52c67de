# SPDX-License-Identifier: Apache-2.0
"""Twins: the same message written in another way that Protocol Buffers reads alike."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

import reencode
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError, EncodeError
from reencode import SHORTEST, Fields, Widths
from wire_bytes import group, length, number, tag

from onnx_lint import schema

from .corpus import JSON, TEXT, Seed

OF_THE_BYTES = frozenset(
    {"unknown-field", "reserved-field", "wrong-wire-type", "repeated-singular-field", "invalid-utf8"}
)
"""Rules about how a message is written, which say of a twin what they do not say of the other."""

_UNKNOWN = (
    number(900, 1),
    length(901, b"x" * 20),
    tag(902, 1) + bytes(8),
    tag(903, 5) + bytes(4),
    group(904, b"\x08\1"),
)


def parsed(given: Seed) -> Any | None:
    """What Protocol Buffers makes of the bytes by the full schema; None where it refuses them."""
    try:
        return schema.message(given.message).FromString(given.data)
    except (DecodeError, UnicodeDecodeError):
        return None


def widths(rng: Random) -> Widths:
    """In how many bytes numbers are written at least; a tag and a length have five at most, a value ten."""
    return Widths(rng.randint(1, 5), rng.randint(1, 5), rng.choice((1, 2, 5, 10)))


def twin(given: Seed, proto: Any, rng: Random) -> tuple[Seed, bool] | None:
    """The same message written in another way, and whether rules about bytes may find something else in it.

    `proto`: the message. None where no twin can be made, since the bytes hold more than the message does.
    """
    if rng.random() < 0.25:
        made = _as_text(given, proto, rng)
        return (made, True) if made is not None else None
    try:
        fields = reencode.read(given.data, given.message)
        is_other = False
        for step in rng.sample(_STEPS, rng.randint(1, len(_STEPS))):
            fields = step(fields, rng)
            is_other |= step in {_split, _reorder}  # one for all of a kind is reported where it stands first
    except (IndexError, KeyError, ValueError, RecursionError, struct.error):
        return None  # it has groups, or what is packed is no list
    data = reencode.write(fields, widths(rng) if rng.random() < 0.5 else SHORTEST)
    if rng.random() < 0.3:
        data += rng.choice(_UNKNOWN)
        is_other = True
    return Seed(f"a twin of {given.name}", data, given.suffix, given.proto), is_other


def _reorder(fields: Fields, rng: Random) -> Fields:
    return reencode.reordered(fields, rng)


def _split(fields: Fields, rng: Random) -> Fields:
    return reencode.split(fields, rng)


def _pack(fields: Fields, rng: Random) -> Fields:
    return reencode.packed(fields)


def _unpack(fields: Fields, rng: Random) -> Fields:
    return reencode.unpacked(fields)


_STEPS: tuple[Callable[[Fields, Random], Fields], ...] = (_reorder, _split, _pack, _unpack)


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
