# SPDX-License-Identifier: Apache-2.0
"""Gathers each field of many messages with the parser of Protocol Buffers.

Concatenated serialized messages are one message, in which the last value of a singular field counts. Parsed as the
variant `columns` of the schema, in which that field is a list, it has the values of all messages
(docs/performance.md: gathered-fields).
"""

from __future__ import annotations

from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint.schema import columns

CHUNK: Final = 1 << 9
"""The number of messages that are gathered together: their copies stay in the processor's cache."""


def dimensions(shape: bytes) -> tuple[int, ...]:
    """Return the dimensions of a tensor in serialized form, as the columns of initializers have them."""
    return tuple(columns("TensorProto").FromString(shape).dims)


def elements_in(data: bytes, message: str, field: str) -> int | None:
    """Return the number of elements if the bytes are one list of a message; None for other content or another encoding.

    The encoding is known if the parser would write the same bytes.
    """
    try:
        found = columns(message).FromString(data)
    except DecodeError:
        return None
    count = len(getattr(found, field))
    is_canonical = found.ByteSize() == len(data)
    found.ClearField(field)
    return count if is_canonical and not found.ByteSize() else None
