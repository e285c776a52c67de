# SPDX-License-Identifier: Apache-2.0
"""Finds the parts of nodes that a model in memory has only once, before the model is parsed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.columns.nodes import MAX_SHARED_BYTES, MAX_SHARED_NAMES
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType


class NotSharedError(Exception):
    """Raised if the second estimate cannot be made.

    A message is encoded so that the loader may not parse equal forms once.
    """


class SplitNode(Record):
    """A node of which an earlier one may have the form."""

    own: bytes
    """The fields that it does not share; all of them if it shares none."""
    is_shared: bool = False
    saved_bytes: int = 0
    """How much less memory it needs for the fields and operands that it shares."""


class SharedForms:
    """Splits a node into its own fields and its form: operator and attributes, which other nodes may share.

    The conditions are those of onnx_lint.ir.columns.nodes, so that what counts as shared is shared.
    """

    def __init__(self) -> None:
        self._forms: dict[tuple[bytes, bytes], bool] = {}
        """The forms so far, and whether later nodes share the form: not if it holds a graph."""
        self._types: set[bytes] = set()

    def new_types(self, types: Iterable[bytes]) -> list[bytes]:
        """Return the types that no earlier value has: equal ones are one object, and are parsed once."""
        found = list(set(types) - self._types - {b""})
        self._types.update(found)
        return found

    def split(self, data: bytes) -> SplitNode:
        """Return what a node shares with an earlier one, and what it does not.

        Raises NotSharedError if the fields are not as the columns of nodes read them.
        """
        parts = _parts(data)
        if len(parts.form) > MAX_SHARED_BYTES or len(parts.operands) > MAX_SHARED_NAMES:
            return SplitNode(data)
        key = parts.form, parts.operands
        is_shared = self._forms.get(key)
        if is_shared is None:
            checked = _checked_fields(parts.form)
            if not checked.can_be_shared:
                raise NotSharedError
            if len(self._forms) == _MAX_FORMS:
                self._forms.clear()
            self._forms[key] = not checked.holds_graphs
        if not is_shared:  # the first node with a form is counted in full
            return SplitNode(data)
        saved = _SAVED_PER_OPERAND * len(parts.operands) + _SAVED_PER_FORM_BYTE * len(parts.form)
        return SplitNode(parts.own, is_shared=True, saved_bytes=saved)


class _NodeParts(Record):
    """The fields of a node."""

    own: bytes
    """Those that no other node shares."""
    form: bytes
    """Those of its form."""
    operands: bytes
    """A byte for each input and output: its tag, or one more if it is omitted, which makes another form."""


def _parts(data: bytes) -> _NodeParts:
    """Return the parts of a serialized node.

    Raises NotSharedError if the fields are not in the order and the encoding of Protocol Buffers.
    """
    own: list[bytes] = []
    form: list[bytes] = []
    operands = bytearray()
    position = tag = 0
    try:
        while position < len(data):
            start, before, tag = position, tag, data[position]  # each tag of a node is one byte
            length, position = wire.decode_varint(data, start + 1)
            if tag < before or tag not in _TAGS_OF_NODE or not _is_shortest(length, position - start - 1):
                raise NotSharedError
            position += length
            if tag <= _OUTPUT:
                operands.append(tag if length else tag + _OMITTED)
            field = data[start:position]
            if tag in _TAGS_OF_FORM:
                form.append(field)
            else:
                own.append(field)
            if tag in _TAGS_OF_NESTED and not _checked_fields(field).can_be_shared:
                raise NotSharedError
    except (IndexError, OverflowError):
        raise NotSharedError from None
    if position != len(data):
        raise NotSharedError
    return _NodeParts(b"".join(own), b"".join(form), bytes(operands))


def _is_shortest(number: int, size: int) -> bool:
    """Return whether a number that is encoded in `size` bytes needs them all: each has seven bits."""
    return size == max(1, (number.bit_length() + 6) // 7)


class _CheckedFields(Record):
    """The facts about some fields of a node that decide whether its form is shared."""

    can_be_shared: bool
    """True if the loader parses equal fields once: they have no types, and are encoded as Protocol Buffers does it."""
    holds_graphs: bool


def _checked_fields(data: bytes) -> _CheckedFields:
    try:
        node = schema.nodeless("NodeProto").FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        schema.raise_lack_of_memory(error)
        return _CheckedFields(can_be_shared=False, holds_graphs=False)
    node.DiscardUnknownFields()
    # The parser reads types again, because they may be too deep.
    has_types = any(each.HasField("tp") or each.type_protos for each in node.attribute)
    holds_graphs = any(each.HasField("g") or each.graphs for each in node.attribute)
    return _CheckedFields(not has_types and node.SerializePartialToString() == data, holds_graphs)


_TAGS: Final = {field.name: field.number << 3 | WireType.LEN for field in wire.fields("NodeProto").values()}
_OUTPUT: Final = _TAGS["output"]
_OMITTED: Final = 1
"""Added to the tag of an omitted input or output; the tags of present ones differ by more."""
_TAGS_OF_NODE: Final = frozenset(_TAGS.values())
_TAGS_OF_FORM: Final = frozenset({_TAGS["op_type"], _TAGS["attribute"], _TAGS["domain"], _TAGS["overload"]})
_TAGS_OF_NESTED: Final = frozenset({_TAGS["metadata_props"], _TAGS["device_configurations"]})
_MAX_FORMS: Final = 2_048
"""The limit on remembered forms; the columns of nodes keep twice as many."""

_SAVED_PER_OPERAND: Final = 150
"""Bytes that such a node saves for each of its inputs and outputs."""
_SAVED_PER_FORM_BYTE: Final = 2
"""Bytes that such a node saves for each byte of its form."""
