# SPDX-License-Identifier: Apache-2.0
"""The field numbers that the schema reserves because an older schema used them for other fields."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from onnx_lint import schema

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto

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
"""The names of the reserved fields in older schemas, by message and number, if known."""


@functools.cache
def _ranges(message_type: str) -> tuple[range, ...]:
    from google.protobuf import descriptor_pb2

    # The pure-Python implementation cannot copy the descriptor of a message in a private pool. The descriptor of the
    # .proto file contains that of the message.
    file = schema.message(message_type).DESCRIPTOR.file
    described = descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb)
    outermost, *inner = message_type.split(".")
    found = _message_named(outermost, described.message_type)
    for name in inner:
        found = _message_named(name, found.nested_type)
    return tuple(range(entry.start, entry.end) for entry in found.reserved_range)


def _message_named(name: str, messages: Iterable[DescriptorProto]) -> DescriptorProto:
    return next(message for message in messages if message.name == name)


def is_reserved(message_type: str, number: int | None) -> bool:
    """Return whether the schema reserves field `number` of the message. Raises KeyError for an unknown message."""
    return number is not None and any(number in numbers for numbers in _ranges(message_type))
