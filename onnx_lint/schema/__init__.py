# SPDX-License-Identifier: Apache-2.0
"""The message classes of ONNX, from this project's own schema in a private descriptor pool.

The pool is private so that an installed `onnx`, of whatever version, can be imported into the same process.
"""

from __future__ import annotations

import functools
import pkgutil
from typing import Any

from google.protobuf import descriptor_pool, message_factory

PACKAGE = "onnx"


@functools.cache
def pool() -> descriptor_pool.DescriptorPool:
    """The private pool that holds the schema and nothing else."""
    data = pkgutil.get_data(__name__, "onnx.binpb")
    if data is None:
        raise RuntimeError("the compiled schema onnx.binpb is missing from the installation")
    private = descriptor_pool.DescriptorPool()
    # The set holds one file: its tag and its length stand before it. To parse the set would import descriptor_pb2,
    # which takes longer than to lint a small model.
    private.AddSerializedFile(_only_file(data))
    return private


def _only_file(descriptor_set: bytes) -> bytes:
    """The one FileDescriptorProto in a serialized FileDescriptorSet."""
    position = 1
    while descriptor_set[position] >= 0x80:
        position += 1
    return descriptor_set[position + 1 :]


@functools.cache
def message(name: str) -> Any:
    """Return the class of the message called `name`, as in `message("TypeProto.Tensor")`.

    Raises KeyError when the schema has no such message.
    """
    return message_factory.GetMessageClass(pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


def __getattr__(name: str) -> Any:
    """`schema.ModelProto` is `message("ModelProto")`."""
    if name.endswith("Proto") or name == "TensorAnnotation":
        return message(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
