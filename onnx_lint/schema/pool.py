# SPDX-License-Identifier: Apache-2.0
"""The private descriptor pool of the schema, and the creation of message classes from descriptors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from onnx_lint.common import package_data
from onnx_lint.common.record import Record


class Factory(Record):
    """What creates descriptor pools and message classes."""

    new_pool: Callable[[], Any]
    """Returns an empty descriptor pool."""
    class_of: Callable[[Any], Any]
    """Returns the message class of a descriptor."""


def compiled() -> bytes:
    """Return the compiled schema: a serialized FileDescriptorSet."""
    return package_data.read("onnx_lint.schema", "onnx.binpb")


@functools.cache
def factory() -> Factory:
    """Return the functions of the implementation of Protocol Buffers that create pools and classes.

    google.protobuf.descriptor_pool and message_factory export the same. But they also import the text format and the
    implementation in pure Python (docs/performance.md: descriptor-pool).
    """
    try:
        # C code imports this module when the first class is created, and Ctrl-C during that import is a segmentation
        # fault. Import it here, where Ctrl-C is safe.
        import google.protobuf.internal.well_known_types  # noqa: F401
        from google._upb._message import DescriptorPool
        from google.protobuf.message import Message
        from google.protobuf.pyext.cpp_message import (  # type: ignore[import-not-found]  # its stubs leave it out
            GeneratedProtocolMessageType,
        )
    except ImportError:  # another implementation of Protocol Buffers
        from google.protobuf import descriptor_pool, message_factory

        return Factory(descriptor_pool.DescriptorPool, message_factory.GetMessageClass)

    def class_of(descriptor: Any) -> Any:
        known = getattr(descriptor, "_concrete_class", None)
        members = {"DESCRIPTOR": descriptor, "__module__": None}
        return known or GeneratedProtocolMessageType(descriptor.name, (Message,), members)

    return Factory(DescriptorPool, class_of)


@functools.cache
def pool() -> Any:
    """Return the private pool, which holds only the schema."""
    data = compiled()
    private = factory().new_pool()
    for file in files_of(data):
        private.AddSerializedFile(file)
    return private


def files_of(descriptor_set: bytes) -> Iterator[bytes]:
    """Yield each FileDescriptorProto in a serialized FileDescriptorSet, which has no other field.

    Parsing the set would import descriptor_pb2 (docs/performance.md: descriptor-set).
    """
    position = 0
    while position < len(descriptor_set):
        length = shift = 0
        more = True
        while more:
            position += 1
            length |= (descriptor_set[position] & 0x7F) << shift
            more = descriptor_set[position] >= 0x80
            shift += 7
        start = position + 1
        position = start + length
        yield descriptor_set[start:position]
