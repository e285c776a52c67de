# SPDX-License-Identifier: Apache-2.0
"""The field numbers that the schema reserves because an older schema used them for something else."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from onnx_lint import schema

FORMER_NAMES: Final[Mapping[tuple[str, int], str]] = MappingProxyType(
    {
        ("AttributeProto", 12): "v",
        ("GraphProto", 3): "input",
        ("GraphProto", 4): "output",
        ("GraphProto", 6): "ir_version",
        ("GraphProto", 7): "producer_version",
        ("GraphProto", 8): "producer_tag",
        ("GraphProto", 9): "domain",
        ("FunctionProto", 2): "since_version",
        ("FunctionProto", 3): "status",
        ("TypeProto.Opaque", 3): "parameters",
    }
)
"""What the reserved numbers were called, by message and number, where that is known."""


@functools.cache
def _ranges(message_type: str) -> tuple[range, ...]:
    from google.protobuf import descriptor_pb2  # slow to import, and only a file with unknown fields needs it

    described = descriptor_pb2.DescriptorProto()
    schema.message(message_type).DESCRIPTOR.CopyToProto(described)
    return tuple(range(entry.start, entry.end) for entry in described.reserved_range)


def is_reserved(message_type: str, number: int | None) -> bool:
    """Whether the schema reserves field `number` of the message. Raises KeyError for an unknown message."""
    return number is not None and any(number in numbers for numbers in _ranges(message_type))
