# SPDX-License-Identifier: Apache-2.0
"""Writes a message in ways in which no library writes it, with unknown fields and groups in it; it means the same."""

from __future__ import annotations

import random

from onnx_lint.input.source import BytesSource
from onnx_lint.schema import wire
from support.wire.wire_bytes import length, number, tag

_UNKNOWN = (500, 700, 18, 19)
"""Field numbers that no message has, some of them below those of extensions."""


def oddly_encoded(data: bytes, kind: str, choose: random.Random, share: float) -> bytes:
    """Return a message of a kind in an odd encoding. `share`: how often there is an unknown field before another."""
    messages = {field.number: field.message for field in wire.fields_by_name(kind).values()}
    written = []
    for field, wire_type, start, value, end in wire.records(BytesSource(data), 0, len(data)):
        if choose.random() < share:
            written.append(_unknown(choose))
        content = data[value:end]
        inner = messages.get(field)
        if inner is not None:
            content = oddly_encoded(content, inner, choose, share)
        if wire_type == wire.WireType.LEN:
            written += [_long(tag(field, 2), choose), _long(wire.encode_varint(len(content)), choose), content]
        elif wire_type == wire.WireType.VARINT:
            written += [_long(tag(field, 0), choose), _long(data[value:end], choose)]
        else:
            written.append(data[start:end])
    if choose.random() < share:
        written.append(_unknown(choose))
    return b"".join(written)


def _long(varint: bytes, choose: random.Random) -> bytes:
    """Return a varint in more bytes than it needs, one time in five."""
    if choose.random() > 0.2 or len(varint) > 2:
        return varint
    return varint[:-1] + bytes([varint[-1] | 0x80]) + b"\x80" * choose.randrange(2) + b"\x00"


def _unknown(choose: random.Random) -> bytes:
    field = choose.choice(_UNKNOWN)
    return choose.choice(
        [
            number(field, choose.randrange(1 << 60)),
            tag(field, 1) + bytes(8),
            length(field, "noise"),
            tag(field, 5) + bytes(4),
            tag(field, 3) + length(1, "in a group") + tag(field, 4),
        ]
    )
