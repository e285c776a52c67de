# SPDX-License-Identifier: Apache-2.0
"""The kind of a serialized attribute."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE, utf8_fault
from onnx_lint.ir.columns.nodes import MAX_SHARED_BYTES
from onnx_lint.loader import load
from onnx_lint.model import Model

SINGULAR = ("f", "i", "s", "t", "g", "sparse_tensor", "tp")


REPEATED = ("floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos")


def _model(text: str) -> Model:
    proto = text_format.Parse(text, schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def test_value_fields_are_those_of_the_schema():
    attribute = schema.message("AttributeProto")
    assert sorted(VALUE_FIELD_OF_TYPE.values()) == sorted(SINGULAR + REPEATED)
    assert {*VALUE_FIELD_OF_TYPE, 0} == set(attribute.AttributeType.values())
    lists = {field for field in VALUE_FIELD_OF_TYPE.values() if field in REPEATED}
    assert lists == {VALUE_FIELD_OF_TYPE[code] for name, code in attribute.AttributeType.items() if name.endswith("S")}


def test_long_attributes_are_told_apart():
    long = MAX_SHARED_BYTES * "a"
    model = _model(f"""
        graph {{
          node {{ attribute {{ name: "p" s: "{long}" }} attribute {{ name: "q" s: "{long}" type: STRING }} }}
          node {{ attribute {{ name: "p" s: "{long}" }} attribute {{ name: "q" s: "b" type: STRING }} }}
        }}
    """)
    found = model.attributes(lambda kind: kind.type == 3)
    assert [str(attribute.place) for attribute in found] == ["graph.node[0].attribute[1]", "graph.node[1].attribute[1]"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (b"", None),
        ("gr\u00fcn \u65e5\u672c \U0001f600\0".encode(), None),
        (b"a\xff", 1),
        (b"\xed\xa0\x80", 0),
        (b"ab\xc3", 2),
        (b"\xc0\x80", 0),
    ],
)
def test_utf8_fault(value: bytes, fault: int | None):
    assert utf8_fault(value) == fault
