# SPDX-License-Identifier: Apache-2.0
"""Writes the wire format by hand, apart from the code under test: fields, varints, and messages with known places."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf import text_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from onnx_lint import schema

VARINT, FIXED64, LEN, START_GROUP, END_GROUP, FIXED32 = range(6)

_FIXED32 = {FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_SFIXED32}
_FIXED64 = {FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_SFIXED64}
_LEN = {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE}


def varint(value: int) -> bytes:
    data = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def number(field: int, value: int) -> bytes:
    """A field of wire type VARINT."""
    return tag(field, VARINT) + varint(value)


def length(field: int, content: bytes | str) -> bytes:
    """A field of wire type LEN."""
    data = content.encode() if isinstance(content, str) else content
    return tag(field, LEN) + varint(len(data)) + data


def group(field: int, content: bytes = b"") -> bytes:
    return tag(field, START_GROUP) + content + tag(field, END_GROUP)


def is_repeated(field: FieldDescriptor) -> bool:
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def wire_type_of(field: FieldDescriptor) -> int:
    if field.type in _LEN:
        return LEN
    if field.type in _FIXED32:
        return FIXED32
    return FIXED64 if field.type in _FIXED64 else VARINT


def some_value(field: FieldDescriptor, wire_type: int | None = None) -> bytes:
    """One occurrence of the field with the smallest content, in its own or another wire type."""
    wire_type = wire_type_of(field) if wire_type is None else wire_type
    content = {VARINT: b"\1", FIXED64: bytes(8), FIXED32: bytes(4), LEN: b"\0"}[wire_type]
    return tag(field.number, wire_type) + content


GRAPH_FIELDS = {"node": length(1, length(1, "x") + length(2, "y") + length(4, "Relu")), "name": length(2, "graph")}
GRAPH = b"".join(GRAPH_FIELDS.values())
"""The content of a graph with one node."""

MODEL_FIELDS = {
    "ir_version": number(1, 10),
    "opset_import": length(8, length(1, "") + number(2, 21)),
    "graph": length(7, GRAPH),
}
BASE = MODEL_FIELDS["ir_version"] + MODEL_FIELDS["opset_import"]
"""IR version and operator set: what every model begins with."""


@dataclass(frozen=True)
class Carrier:
    """A message inside a model: how to put bytes into it, and its place."""

    message: str
    descriptor: Descriptor
    path: tuple[FieldDescriptor, ...]

    @property
    def place(self) -> str:
        steps = (f"{field.name}[0]" if is_repeated(field) else field.name for field in self.path)
        return ".".join(steps) or "model"

    def field_place(self, field: FieldDescriptor, index: int = 0) -> str:
        step = f"{field.name}[{index}]" if is_repeated(field) else field.name
        return f"{self.place}.{step}" if self.path else step

    def model(self, content: bytes, without: str | None = None) -> tuple[bytes, int]:
        """The bytes of a model with `content` in this message, and where `content` begins.

        What leads to the message is there once. `without`: a field of this message that the model otherwise has.
        """
        used = {field.name for field in self.path} | {without}
        graph = b"".join(data for name, data in GRAPH_FIELDS.items() if name not in used)
        data, offset = content, 0
        for field in reversed(self.path):
            if field.name == "graph":
                data, offset = graph + data, offset + len(graph)
            head = tag(field.number, LEN) + varint(len(data))
            data, offset = head + data, offset + len(head)
        base = b"".join(data for name, data in MODEL_FIELDS.items() if name not in used)
        return base + data, len(base) + offset


@functools.cache
def carriers() -> tuple[Carrier, ...]:
    """Each message of the schema that can stand in a model, with one shortest way to it."""
    root = schema.message("ModelProto").DESCRIPTOR
    found = {root.full_name: Carrier("ModelProto", root, ())}
    queue = [root.full_name]
    for name in queue:
        carrier = found[name]
        for field in carrier.descriptor.fields:
            inner = field.message_type
            if inner is not None and inner.full_name not in found:
                short = inner.full_name.removeprefix("onnx.")
                found[inner.full_name] = Carrier(short, inner, (*carrier.path, field))
                queue.append(inner.full_name)
    return tuple(found.values())


def fields() -> Iterator[tuple[Carrier, FieldDescriptor]]:
    """Each field of each message that can stand in a model."""
    for carrier in carriers():
        for field in carrier.descriptor.fields:
            yield carrier, field


def rich_model() -> bytes:
    """A small model with a bit of everything: nested graph, tensors, a function, training, metadata."""
    proto = text_format.Parse(
        """
        ir_version: 10 opset_import { version: 21 } opset_import { domain: "a.b" version: 1 }
        producer_name: "p" model_version: -1 metadata_props { key: "k" value: "v\303\244" }
        graph {
          name: "g"
          node { op_type: "If" input: "c" output: "y" attribute { name: "then_branch" type: GRAPH g {
            name: "t" node { op_type: "Relu" input: "x" output: "z" } output { name: "z" } } } }
          initializer { name: "w" dims: [2, 2] data_type: 1 raw_data: "0123456789abcdef" }
          initializer { name: "f" dims: 3 data_type: 1 float_data: [1, 2, 3] }
          sparse_initializer { values { name: "s" data_type: 1 dims: 1 float_data: 1 }
            indices { data_type: 7 dims: 1 int64_data: 300 } dims: 400 }
          input { name: "x" type { tensor_type {
            elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 2 } } } } }
          output { name: "y" type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }
        }
        functions { name: "F" domain: "a.b" input: "u" output: "v" node { op_type: "Neg" input: "u" output: "v" } }
        training_info { algorithm { name: "a" } update_binding { key: "w" value: "y" } }
        """,
        schema.message("ModelProto")(),
        descriptor_pool=schema.pool(),
    )
    return proto.SerializeToString(deterministic=True)
