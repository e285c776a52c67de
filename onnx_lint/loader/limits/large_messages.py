# SPDX-License-Identifier: Apache-2.0
"""Splits a large message into pieces, so that the estimate of its memory does not parse it as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.runs import RUN, records_of
from onnx_lint.loader.binary.strip_payloads import PIECE_BYTES
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

MAX_PIECE_BYTES: Final = PIECE_BYTES + wire.MAX_SHORT_BYTES
"""The number of bytes that are counted at a time. Larger messages are split."""

_MIN_RUN_BYTES: Final = 256
"""The fields of a run with fewer bytes are read one by one, since a new walk begins after each run."""


class SmallFields(Record):
    """A part of a large message with small fields of any number."""

    start: int
    end: int


class LargeField(Record):
    """A large field of a message, or a run of equal small fields."""

    number: int
    wire_type: int
    """The wire type of the field; RUN for a run."""
    start: int
    """The position of the tag, the first one of a run."""
    value: int
    """The position of the value."""
    end: int


def pieces_of(message_type: str, content: bytes) -> Iterator[SmallFields | LargeField]:
    """Yield the content of a large message: long runs and large fields by themselves, the small fields between them."""
    source, end = BytesSource(content), len(content)
    first_small = 0  # the start of the small fields that are not yet yielded
    position = 0
    with suppress(WireError):  # the rest is one piece
        while position < end:
            start = position
            for number, wire_type, tag_at, value_at, next_at in records_of(source, message_type, start, end):
                position = next_at
                if wire_type == RUN or next_at - tag_at > MAX_PIECE_BYTES:
                    yield SmallFields(first_small, tag_at)
                    yield LargeField(number, wire_type, tag_at, value_at, next_at)
                    first_small = next_at
                    continue
                if next_at - first_small >= MAX_PIECE_BYTES:
                    yield SmallFields(first_small, next_at)
                    first_small = next_at
                if wire_type == WireType.LEN:
                    position = _end_of_run(source, content[tag_at], next_at, min(end, first_small + MAX_PIECE_BYTES))
                    if position > next_at:
                        break  # the walk begins again after the run
            position = wire.advanced(start, position)  # raises WireError if nothing was read: no endless loop
    yield SmallFields(first_small, end)


def _end_of_run(source: BytesSource, tag: int, start: int, most: int) -> int:
    """Return the end of the short fields with a tag from `start` on; `start` if skipping them is not worthwhile."""
    end, _ = wire.skip_short(source, start, most, tag, wire.MAX_SHORT_BYTES)
    return end if end - start > _MIN_RUN_BYTES else start


def packed_count(field: wire.Field, content: bytes) -> int:
    """Return the number of elements of a packed list."""
    size = wire.FIXED_BYTES.get(field.wire_type)
    return len(content) // size if size else len(content.translate(None, wire.CONTINUED_BYTES))


def run_count(field: wire.Field, content: bytes, start: int, end: int) -> int:
    """Return the number of fields in a run from `start` to `end`, each with a tag of one byte."""
    if field.wire_type == WireType.LEN:
        return wire.skip_short(BytesSource(content), start, end, content[start], wire.MAX_SHORT_BYTES)[1]
    size = wire.FIXED_BYTES.get(field.wire_type)
    if size:
        return (end - start) // (size + 1)
    # Two bytes of each field are not continued: the tag, and the last one of the number.
    return len(content[start:end].translate(None, wire.CONTINUED_BYTES)) // 2
