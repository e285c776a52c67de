# SPDX-License-Identifier: Apache-2.0
"""The assumptions behind the bytes that tests write by hand."""

from __future__ import annotations

from support.wire.wire_bytes import (
    LEN,
    is_repeated,
    wire_type_of,
)

from onnx_lint import schema


def test_wire_types_of_the_reference_are_those_of_the_schema():
    """The hand-written bytes assume that the schema packs no number that ONNX writes one by one."""
    packed = {
        f"{message}.{field.name}"
        for message in ("TensorProto", "AttributeProto", "SparseTensorProto", "NodeProto")
        for field in schema.message(message).DESCRIPTOR.fields
        if is_repeated(field) and wire_type_of(field) != LEN and field.is_packed
    }
    names = ("double_data", "float_data", "int32_data", "int64_data", "uint64_data")
    assert packed == {f"TensorProto.{name}" for name in names}
