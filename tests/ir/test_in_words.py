# SPDX-License-Identifier: Apache-2.0
"""Types as messages write them."""

from __future__ import annotations

from support.models.type_texts import SHAPELESS, mapping, optional, sequence, tensor, type_of
from support.project.each_case import each_case

from onnx_lint.ir.in_words import describe_type


@each_case(
    ("text", "expected"),
    [
        ("", "no type"),
        (SHAPELESS, "float (of unknown rank)"),
        (tensor(1), "float (a scalar)"),
        (tensor(7, 2, "N", None, -1), "int64[2, N, ?, -1]"),
        (tensor(99, 2), "element type 99[2]"),
        ("tensor_type { }", "undefined (of unknown rank)"),
        (tensor(1, *range(17)), "float[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 17 dimensions]"),
        (tensor(1, "a\\nb"), "float[a\\nb]"),
        (tensor(28, 2, kind="sparse_tensor_type"), "sparse float6e3m2[2]"),
        (sequence(mapping(8, SHAPELESS)), "seq(map(string, float (of unknown rank)))"),
        (optional(sequence(SHAPELESS)), "optional(seq(float (of unknown rank)))"),
        ('opaque_type { domain: "d" name: "a" }', "opaque(d,a)"),
    ],
)
def test_describe_type(text: str, expected: str):
    assert describe_type(type_of(text)) == expected
