# SPDX-License-Identifier: Apache-2.0
"""The message classes of the schema, and of its variants, with which the parser does other parts of the work."""

from __future__ import annotations

import functools
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.schema.pool import compiled, factory, files_of, pool

PACKAGE: Final = "onnx"
"""The package of the schema."""


class Variant(Record):
    """The difference of a variant of the schema from the schema."""

    why: str
    package: str = PACKAGE
    as_bytes: frozenset[str] = frozenset()
    """The fields of graphs and functions that are bytes instead of messages."""


VARIANTS: Final = {
    "message": Variant("the schema itself"),
    "outline": Variant(
        "the loaded model: nodes, initializers and value infos stay bytes until columns or a finding need them",
        f"{PACKAGE}.outline",
        frozenset({"node", "initializer", "value_info"}),
    ),
    "nodeless": Variant(
        "to parse everything except nodes, which take most of the time and are parsed once for each form",
        f"{PACKAGE}.nodeless",
        frozenset({"node"}),
    ),
    "packed": Variant(
        "to recognize a file as canonical for a writer with a proto3 schema: all lists of numbers are packed",
    ),
    "columns": Variant(
        "to gather each field of many messages: concatenated, they are one message whose fields are lists, of bytes for"
        " messages",
        f"{PACKAGE}.columns",
    ),
}
"""Each variant by the function that returns its classes."""


def _class(variant: str, name: str) -> Any:
    return factory()[1](pool().FindMessageTypeByName(f"{VARIANTS[variant].package}.{name}"))


@functools.cache
def message(name: str) -> Any:
    """Return the class of the message called `name`, as in `message("TypeProto.Tensor")`.

    Raises KeyError if the schema has no such message.
    """
    return _class("message", name)


@functools.cache
def outline(name: str) -> Any:
    """Return the class of the message called `name` in which nodes, initializers and value_info are bytes.

    It exists for ModelProto and the messages between it and a graph. Raises KeyError for others.
    """
    return _class("outline", name)


@functools.cache
def nodeless(name: str) -> Any:
    """Return the class of the message called `name` in which only the nodes of graphs and functions are bytes.

    It exists for the same messages as `outline`.
    """
    return _class("nodeless", name)


@functools.cache
def packed(name: str) -> Any:
    """Return the class of the message called `name` in which all lists of numbers are packed.

    Parsers accept both forms. Raises KeyError if the schema has no such message.
    """
    return factory()[1](_packed_pool().FindMessageTypeByName(f"{VARIANTS['packed'].package}.{name}"))


_EXPANDED = b"\x18\x02"
"""The feature of the file that repeated fields are not packed. Features are its last message."""
_PACKED = b"\x18\x01"


@functools.cache
def _packed_pool() -> Any:
    before, _, after = next(files_of(compiled())).rpartition(_EXPANDED)
    private = factory()[0]()
    private.AddSerializedFile(before + _PACKED + after)
    return private


@functools.cache
def columns(name: str) -> Any:
    """Return the class of a message with the fields of `name` as lists. A field with messages is a list of bytes.

    An entry of a list does not show which message it came from. A singular field has one entry for each message exactly
    if there are as many entries as messages, provided that Protocol Buffers serialized them.
    Raises KeyError if the schema has no such message.
    """
    return _class("columns", name)
