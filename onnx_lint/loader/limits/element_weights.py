# SPDX-License-Identifier: Apache-2.0
"""What memory the elements of a message will take up, by and large."""

from __future__ import annotations

from typing import Final

from onnx_lint.loader.limits.limit_faults import TooManyElementsError
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType
from onnx_lint.spec.element_types import TYPED_FIELDS

PAID_FOR: Final = 11
"""So many bytes of memory are expected for each byte: the bytes themselves, copies of them, and what they hold."""

TEXT_PAID_FOR: Final = 11
"""The same for a text, whose copies are counted by themselves, as a character may take up four bytes of each."""

_OF_MESSAGE: Final = 760
"""How many bytes of memory a message takes up by and large, with what rules keep of it."""

_OF_MESSAGES: Final = {
    "NodeProto": 460,
    "TensorProto": 1_300,
    "SparseTensorProto": 1_000,
    "AttributeProto": 1_020,
    "NodeDeviceConfigurationProto": 1_150,
    "GraphProto": 5_600,
    "FunctionProto": 4_150,
    "ShardingSpecProto": 1_000,
    "TypeProto": 640,
    "TypeProto.Tensor": 200,
    "TensorShapeProto": 200,
    "TensorShapeProto.Dimension": 220,
    "StringStringEntryProto": 430,
    "ValueInfoProto": 220,
}
"""Where it is known better: measured with files that hold nothing else, empty."""

OF_FORM: Final = 1_550
"""What nodes that differ in names alone have in common, with what follows from it; attributes come on top."""

_OF_ATTRIBUTE: Final = 820
"""An attribute of a node that has one."""

_OF_INTERFACE: Final = 150
"""An input or output of a graph is parsed with it, and so takes up more than another value."""

_OF_DOCUMENTED_VALUE: Final = 100
"""A value info with documentation is looked at by itself."""

_INTERFACE: Final = frozenset({"input", "output"})

OF_SHARED_TENSORS: Final = 250
"""What each node of a form whose attributes hold tensors takes up beside its names, where these are faulty."""

_OF_ANNOTATED_NODE: Final = 300
_ANNOTATIONS: Final = frozenset({"doc_string", "metadata_props", "device_configurations"})
"""A node that has one of these is looked at by itself."""

_OF_INITIALIZER: Final = 350
"""Which stands in columns; other tensors are parts of messages that stay. Each node may have one that is counted so."""
_OF_FURTHER_INITIALIZER: Final = 700
"""With what rules keep of it where it is faulty: of models that people make few are."""

_OF_EXTERNAL_ENTRY: Final = 240
_FEW_ENTRIES: Final = 3
"""So many entries of external data for each tensor are looked at and not kept: its location, offset and length."""

_OF_STRING: Final = 300
_OF_NODE_STRING: Final = 80
"""A name in a node that has few of them, as in models that people make: most are there twice, and 100,000 nodes that
are named, as in a chain, take up 690 bytes each."""
_FEW_STRINGS: Final = 4
"""So many names of a node, by and large, take up no more than that."""
_OF_BYTES: Final = 110
_OF_NUMBER: Final = 33
_OF_VARINT: Final = 52
"""A number that may have one byte in the file, and has eight in each of the messages that hold it for a time."""
_OF_DIMENSION: Final = 90
_OF_VALUE: Final = 80
"""A value of a tensor, which may be left in the file instead."""


MOST_OF_FIELD: Final = max(_OF_MESSAGES.values())
"""What a field takes up at most that has a tag and a length: a graph does."""

MOST_OF_NUMBER: Final = max(_OF_NUMBER, _OF_VARINT, _OF_DIMENSION, _OF_VALUE)
"""What a number takes up at most, which has one byte or more."""

_WITH_LENGTH: Final = bytes(range(WireType.LEN, 0x100, 8))
"""The bytes with which the tag of a field that has a length may begin: the wire type is in the lowest bits of it."""


def is_out_of_reach(data: bytes, most_bytes: int) -> bool:
    """Whether a message cannot have so much that it takes up `most_bytes` bytes beyond those that its own pay for.

    However the tags are written, each byte is the first one of one of them at most, and what has no length is numbers.
    """
    most_bytes -= len(data) * (MOST_OF_NUMBER - PAID_FOR)
    if len(data) // 2 * MOST_OF_FIELD < most_bytes:
        return True
    most_fields = len(data) - len(data.translate(None, _WITH_LENGTH))
    return most_fields * MOST_OF_FIELD < most_bytes


def is_plain(field: wire.Field) -> bool:
    """Whether a field takes up nothing by itself, whatever message has it, and counts as an element only."""
    return not field.repeated and field.message is None and field.name != "doc_string"


class ElementBudget:
    """How many bytes of memory elements may take up, and how many those take up that were counted."""

    def __init__(self, most_bytes: int, of_number: int | None = None) -> None:
        self.left = most_bytes
        self.of_number = of_number
        """What each number of a list takes up, where that does not depend on the list."""
        self.elements = 0
        self.bytes = 0
        self.node_strings = 0
        """How many names of nodes may still come before there are more than a few for each node."""
        self.bare_nodes = 0
        """How many nodes have no annotation, if each of those that were counted stands in a node of its own."""
        self.plain_nodes = 0
        """How many nodes have no attribute, likewise."""
        self.external_entries = 0
        """How many entries of external data may still come before there are more than a few for each tensor."""
        self.free_nodes = 0
        """How many nodes have no initializer of their own, likewise; one of a form of its own is not to have any."""

    def take(self, name: str, field: wire.Field, count: int) -> None:
        """Count so many occurrences of a field of the message `name`; raises TooManyElementsError."""
        self.elements += count
        if field.message == "TensorProto":
            self.external_entries += _FEW_ENTRIES * count
        elif name == "TensorProto" and field.name == "external_data":
            few = min(count, self.external_entries)
            self.external_entries -= few
            self.spend(few * _OF_EXTERNAL_ENTRY)
            count -= few
        if field.message == "NodeProto":
            self.node_strings += _FEW_STRINGS * count
            self.bare_nodes += count
            self.plain_nodes += count
            self.free_nodes += count
        elif name == "NodeProto" and field.name in _ANNOTATIONS:
            annotated = min(count, self.bare_nodes)
            self.bare_nodes -= annotated
            self.spend(annotated * _OF_ANNOTATED_NODE)
        elif name == "NodeProto" and field.message == "AttributeProto":
            first = min(count, self.plain_nodes)
            self.plain_nodes -= first
            self.spend(first * _OF_ATTRIBUTE)
            count -= first
        elif name == "GraphProto" and field.name in _INTERFACE:
            self.spend(count * _OF_INTERFACE)
        elif name == "ValueInfoProto" and field.name == "doc_string":
            self.spend(count * _OF_DOCUMENTED_VALUE)
        elif name == "GraphProto" and field.name == "initializer":
            used = min(count, self.free_nodes)
            self.free_nodes -= used
            self.spend(used * _OF_INITIALIZER)
            count -= used
        elif name == "NodeProto" and field.is_string and field.repeated:
            few = min(count, self.node_strings)
            self.node_strings -= few
            self.spend(few * _OF_NODE_STRING)
            count -= few
        if field.packable and self.of_number is not None:
            self.spend(count * self.of_number)
        else:
            self.spend(count * _bytes_of(name, field))

    def take_forms(self, count: int) -> None:
        """Count so many nodes as those of which there is none like it; raises TooManyElementsError."""
        self.free_nodes = max(self.free_nodes - count, 0)
        self.spend(count * OF_FORM)

    def spend(self, size: int) -> None:
        """Count so many bytes; raises TooManyElementsError."""
        self.bytes += size
        self.left -= size
        if self.left < 0:
            raise TooManyElementsError(self.elements, self.bytes)


def _bytes_of(name: str, field: wire.Field) -> int:
    """How many bytes of memory one occurrence of the field takes up."""
    if name == "GraphProto" and field.name == "initializer":
        return _OF_FURTHER_INITIALIZER
    if field.message is not None:
        return _OF_MESSAGES.get(field.message, _OF_MESSAGE)
    if not field.repeated:
        return 0
    if field.is_string:
        return _OF_STRING
    if name == "TensorProto" and field.name in TYPED_FIELDS:
        return _OF_VALUE
    if field.wire_type == WireType.LEN:
        return _OF_BYTES
    if field.name == "dims":
        return _OF_DIMENSION
    return _OF_VARINT if field.wire_type == WireType.VARINT else _OF_NUMBER
