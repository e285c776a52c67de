# SPDX-License-Identifier: Apache-2.0
"""The message classes of ONNX, from this project's own schema in a private descriptor pool.

The pool is private so that an installed `onnx`, of whatever version, can be imported into the same process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from onnx_lint import package_data

PACKAGE = "onnx"

Proto = Any
"""A message of the private schema; its classes are made at run time, so a type checker cannot know them."""

OUTLINE = "onnx.outline"
"""The package of the messages that `outline` gives."""

NODELESS = "onnx.nodeless"
"""The package of the messages that `nodeless` gives."""


@functools.cache
def factory() -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """What makes a descriptor pool, and what makes a message class from a descriptor.

    Both are what google.protobuf.descriptor_pool and message_factory hand on. These two modules also import the reader
    of the text format and the implementation in pure Python, which takes a fifth of a run on a small model.
    """
    try:
        # The first class that is made imports this module from C, and ends the process with a segmentation fault when
        # Ctrl-C comes in between. Imported here it is there already.
        import google.protobuf.internal.well_known_types  # noqa: F401
        from google._upb._message import DescriptorPool
        from google.protobuf.message import Message
        from google.protobuf.pyext.cpp_message import (  # type: ignore[import-not-found]  # its stubs leave it out
            GeneratedProtocolMessageType,
        )
    except ImportError:  # another implementation of Protocol Buffers
        from google.protobuf import descriptor_pool, message_factory

        return descriptor_pool.DescriptorPool, message_factory.GetMessageClass

    def class_of(descriptor: Any) -> Any:
        known = getattr(descriptor, "_concrete_class", None)
        members = {"DESCRIPTOR": descriptor, "__module__": None}
        return known or GeneratedProtocolMessageType(descriptor.name, (Message,), members)

    return DescriptorPool, class_of


@functools.cache
def pool() -> Any:
    """The private pool that holds the schema and nothing else."""
    data = package_data.read(__name__, "onnx.binpb")
    private = factory()[0]()
    for file in _files(data):
        private.AddSerializedFile(file)
    return private


def _files(descriptor_set: bytes) -> Iterator[bytes]:
    """Each FileDescriptorProto in a serialized FileDescriptorSet, which has no other field.

    To parse the set would import descriptor_pb2, which takes longer than to lint a small model.
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


@functools.cache
def message(name: str) -> Any:
    """Return the class of the message called `name`, as in `message("TypeProto.Tensor")`.

    Raises KeyError when the schema has no such message.
    """
    return factory()[1](pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


@functools.cache
def outline(name: str) -> Any:
    """Return the class of the message called `name` in which nodes, initializers and value_info are bytes.

    There are those of ModelProto and of what stands between it and a graph; raises KeyError for others.
    """
    return factory()[1](pool().FindMessageTypeByName(f"{OUTLINE}.{name}"))


def opened(name: str, data: bytes) -> Any:
    """The message called `name` that `outline` has as these bytes; a node is an outline itself."""
    return (outline if name == "NodeProto" else message)(name).FromString(data)


@functools.cache
def nodeless(name: str) -> Any:
    """Return the class of the message called `name` in which only the nodes of graphs and functions are bytes.

    With it the parser looks into all else. There are the same as of `outline`.
    """
    return factory()[1](pool().FindMessageTypeByName(f"{NODELESS}.{name}"))


@functools.cache
def packed(name: str) -> Any:
    """Return the class of the message called `name` in which all lists of numbers are packed.

    Writers that go by the schema in proto3 write them so, and parsers take either form. Raises KeyError when the schema
    has no such message.
    """
    return factory()[1](_packed_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


_EXPANDED = b"\x18\x02"
"""That repeated fields are written one by one, as it stands in the features of the file, which are its last message."""
_PACKED = b"\x18\x01"


@functools.cache
def _packed_pool() -> Any:
    before, _, after = next(_files(package_data.read(__name__, "onnx.binpb"))).rpartition(_EXPANDED)
    private = factory()[0]()
    private.AddSerializedFile(before + _PACKED + after)
    return private


def __getattr__(name: str) -> Any:
    """`schema.ModelProto` is `message("ModelProto")`."""
    if name.endswith("Proto") or name == "TensorAnnotation":
        return message(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
