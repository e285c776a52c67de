# SPDX-License-Identifier: Apache-2.0
"""The message classes of ONNX, from this project's own `.proto` in a private descriptor pool, and the wire format.

The pool is private so that any version of `onnx` can be imported into the same process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
"""A message of the private schema. Its classes are created at run time, so type checkers cannot know them."""


if TYPE_CHECKING:

    class GraphOutline:
        """The type of the main graph of `Model.proto`, whose longest lists are bytes. All else is as in onnx.proto."""

        node: Sequence[bytes]
        initializer: Sequence[bytes]
        value_info: Sequence[bytes]

        def __getattr__(self, name: str) -> Any: ...

    class ModelOutline:
        """The type of `Model.proto`."""

        graph: GraphOutline

        def __getattr__(self, name: str) -> Any: ...


def raise_lack_of_memory(error: Exception) -> None:
    """Raise MemoryError if a lack of memory made the parser raise `error`, whose class is that of all parse errors."""
    if str(error).lower().endswith(("out of memory", "alloc failed")):
        raise MemoryError from error


def opened(name: str, data: bytes) -> Proto:
    """Return the message called `name` from its bytes in an outline. A node is an outline itself."""
    return (outline if name == "NodeProto" else message)(name).FromString(data)


def outlined(message: Proto) -> Proto:
    """Return the outline of a model, or of a message between a model and a node, without unknown fields.

    A message that is an outline already is returned unchanged. Raises KeyError for a message without an outline.
    """
    name = message.DESCRIPTOR.name
    made = outline(name)
    if isinstance(message, made):
        return message
    known = nodeless(name).FromString(message.SerializePartialToString())
    known.DiscardUnknownFields()  # otherwise they would end up between the fields that columns gather
    return made.FromString(known.SerializePartialToString())


def serialized(document: Proto) -> bytes:
    """Return the bytes of a document as Protocol Buffers writes them."""
    data: bytes = document.SerializePartialToString()
    return data


def __getattr__(name: str) -> Any:
    """Return `message("ModelProto")` for `schema.ModelProto`."""
    if name.endswith("Proto") or name == "TensorAnnotation":
        return message(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
