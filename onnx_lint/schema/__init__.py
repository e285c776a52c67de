# SPDX-License-Identifier: Apache-2.0
"""The message classes of ONNX, from this project's own `.proto` in a private descriptor pool, and the wire format.

The pool is private so that an installed `onnx`, of whatever version, can be imported into the same process.
"""

from __future__ import annotations

from typing import Any

from onnx_lint.schema.pool import pool
from onnx_lint.schema.variants import PACKAGE, columns, message, nodeless, outline, packed

__all__ = [
    "PACKAGE",
    "Proto",
    "columns",
    "message",
    "nodeless",
    "opened",
    "outline",
    "outlined",
    "packed",
    "pool",
    "raise_lack_of_memory",
    "serialized",
]

Proto = Any
"""A message of the private schema; its classes are made at run time, so a type checker cannot know them."""


def raise_lack_of_memory(error: Exception) -> None:
    """Raise MemoryError when that is why the parser raised `error`, which is of the class for what cannot be parsed."""
    if str(error).lower().endswith(("out of memory", "alloc failed")):
        raise MemoryError from error


def opened(name: str, data: bytes) -> Proto:
    """The message called `name` that `outline` has as these bytes; a node is an outline itself."""
    return (outline if name == "NodeProto" else message)(name).FromString(data)


def outlined(message: Proto) -> Proto:
    """The outline of a model, or of what stands between one and a node, without unknown fields; it may be one already.

    Raises KeyError for a message that has none.
    """
    name = message.DESCRIPTOR.name
    made = outline(name)
    if isinstance(message, made):
        return message
    known = nodeless(name).FromString(message.SerializePartialToString())
    known.DiscardUnknownFields()  # they would stand between the fields that are gathered in columns
    return made.FromString(known.SerializePartialToString())


def serialized(document: Proto) -> bytes:
    """The bytes of a document as Protocol Buffers writes them."""
    data: bytes = document.SerializePartialToString()
    return data


def __getattr__(name: str) -> Any:
    """`schema.ModelProto` is `message("ModelProto")`."""
    if name.endswith("Proto") or name == "TensorAnnotation":
        return message(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
