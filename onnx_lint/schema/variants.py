# SPDX-License-Identifier: Apache-2.0
"""The message classes of the schema, and of its variants, with which the parser does other parts of the work.

Every function raises KeyError if the schema, or the variant, has no message with this name.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.schema.pool import compiled, factory, files_of, pool

PACKAGE: Final = "onnx"
"""The package of the schema."""


class Variant(Record):
    """How a variant differs from the schema. The function of its name says what it is for."""

    package: str = PACKAGE
    as_bytes: frozenset[str] = frozenset()
    """The fields of graphs and functions that are bytes instead of messages."""


_OUTLINE: Final = Variant(f"{PACKAGE}.outline", frozenset({"node", "initializer", "value_info"}))
_NODELESS: Final = Variant(f"{PACKAGE}.nodeless", frozenset({"node"}))
_COLUMNS: Final = Variant(f"{PACKAGE}.columns")

VARIANTS: Final = {"outline": _OUTLINE, "nodeless": _NODELESS, "columns": _COLUMNS}
"""The variants with a package of their own in the compiled schema, by the function that returns their classes."""


def _class(descriptors: Any, package: str, name: str) -> Any:
    return factory().class_of(descriptors.FindMessageTypeByName(f"{package}.{name}"))


@functools.cache
def message(name: str) -> Any:
    """Return the class of the message called `name`, as in `message("TypeProto.Tensor")`."""
    return _class(pool(), PACKAGE, name)


@functools.cache
def outline(name: str) -> Any:
    """Return the class of the message called `name` in which nodes, initializers and value_info are bytes.

    Loaded models have it: the bytes are parsed if columns or a finding need them. It exists for ModelProto and the
    messages between it and a graph.
    """
    return _class(pool(), _OUTLINE.package, name)


@functools.cache
def nodeless(name: str) -> Any:
    """Return the class of the message called `name` in which only the nodes of graphs and functions are bytes.

    Parsing nodes takes most of the time; columns parse one of each form. It exists for the same messages as `outline`.
    """
    return _class(pool(), _NODELESS.package, name)


@functools.cache
def packed(name: str) -> Any:
    """Return the class of the message called `name` in which all lists of numbers are packed.

    A file is canonical for a writer with a proto3 schema if it is what this class serializes. Parsers accept lists that
    are packed and lists that are not.
    """
    return _class(_packed_pool(), PACKAGE, name)


_FEATURES: Final = (
    b"\x92\x03\x06"  # features (50), 6 bytes
    b"\x10\x01"  # enum_type: OPEN
    b"\x18%c"  # repeated_field_encoding, to be filled in
    b"\x20\x02"  # utf8_validation: VERIFY
)
"""A field of the options of a file, serialized."""
_PACKED: Final = _FEATURES % 1
_EXPANDED: Final = _FEATURES % 2


@functools.cache
def _packed_pool() -> Any:
    private = factory().new_pool()
    private.AddSerializedFile(packed_file(next(files_of(compiled()))))
    return private


def packed_file(file: bytes) -> bytes:
    """Return a serialized FileDescriptorProto with the feature that all lists of numbers are packed.

    The bytes are changed, because parsing them would import descriptor_pb2. Raises ValueError for other features than
    those of the schema.
    """
    if file.count(_EXPANDED) != 1:
        raise ValueError("the compiled schema has other features than `packed` changes")
    return file.replace(_EXPANDED, _PACKED)


@functools.cache
def columns(name: str) -> Any:
    """Return the class of a message with the fields of `name` as lists. A field with messages is a list of bytes.

    An entry of a list does not show which message it came from. A singular field has one entry for each message exactly
    if there are as many entries as messages, provided that Protocol Buffers serialized them.
    """
    return _class(pool(), _COLUMNS.package, name)
