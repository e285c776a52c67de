# SPDX-License-Identifier: Apache-2.0
"""Types as strings, read from messages."""

from __future__ import annotations

import pytest
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.inference.types.type_string import canonical, describe_types, from_proto, map_value
from onnx_lint.model import Proto


def _type(text: str) -> Proto:
    from google.protobuf import text_format

    return text_format.Parse(text, schema.message("TypeProto")())


@each_case(
    ("text", "kind"),
    [
        ("tensor_type { elem_type: 1 }", "tensor(float)"),
        ("tensor_type { }", None),
        ("tensor_type { elem_type: 1000 }", None),
        ("sparse_tensor_type { elem_type: 11 }", "sparse_tensor(double)"),
        ("sequence_type { elem_type { tensor_type { elem_type: 8 } } }", "seq(tensor(string))"),
        ("sequence_type { }", None),
        ("optional_type { elem_type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }",
         "optional(seq(tensor(float)))"),
        ("map_type { key_type: 7 value_type { tensor_type { elem_type: 1 } } }", "map(int64, float)"),
        ("map_type { key_type: 8 value_type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }",
         "map(string, seq(tensor(float)))"),
        ("map_type { value_type { tensor_type { elem_type: 1 } } }", None),
        ('opaque_type { domain: "d" name: "N" }', "opaque(d,N)"),
        ("", None),
    ],
)  # fmt: skip
def test_a_type_is_read_or_not_known(text: str, kind: str | None):
    assert from_proto(_type(text)) == kind


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("map(int64,tensor(float))", "map(int64, float)"),
        ("map(int64, float)", "map(int64, float)"),
        ("seq(map(string, tensor(float)))", "seq(map(string, float))"),
        ("optional(seq(map(string,tensor(int64))))", "optional(seq(map(string, int64)))"),
        ("map(string, seq(tensor(float)))", "map(string, seq(tensor(float)))"),
        ("seq(tensor(float))", "seq(tensor(float))"),
        ("sparse_tensor(double)", "sparse_tensor(double)"),
    ],
)
def test_a_type_of_a_signature_is_written_as_that_of_a_message(stated: str, kind: str):
    assert canonical(frozenset({stated, "tensor(bool)"})) == {kind, "tensor(bool)"}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("map(int64, float)", "tensor(float)"),
        ("map(string, seq(tensor(float)))", "seq(tensor(float))"),
        ("tensor(float)", None),
        (None, None),
    ],
)
def test_the_values_of_a_map_have_a_type(kind: str | None, value: str | None):
    assert map_value(kind) == value


def test_long_lists_of_types_are_gathered():
    elements = "abcdefghij"
    assert describe_types(["seq(tensor(x))", "map(int64, float)", *(f"tensor({name})" for name in elements)]) == (
        "map(int64, float), seq(tensor(x)), tensor(a, b, c, d, e, f, g, h, i, j)"
    )
