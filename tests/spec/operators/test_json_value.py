# SPDX-License-Identifier: Apache-2.0
"""A value of a JSON document is taken only if it has one of the expected types, and an error names its place."""

from __future__ import annotations

from typing import Any

import pytest
from support.project.each_case import each_case

from onnx_lint.spec.operators.json_value import JsonValue
from onnx_lint.spec.operators.schema import SchemaFileError


def _value(data: Any) -> JsonValue:
    return JsonValue(data, "here", "schemas.json")


@each_case(
    ("data", "types"),
    [
        (3, (bool, int)),
        (True, (bool, int)),
        (3, (int, float)),
        (3.5, (int, float)),
        ("a", (str,)),
        (None, (type(None),)),
    ],
)
def test_each_of_the_types_is_taken(data: Any, types: tuple[type, ...]):
    assert _value(data).expect(*types) is data


@each_case(
    ("data", "types", "said"),
    [
        (True, (int,), "here: true or false where an integer is expected"),
        (1, (bool,), "here: an integer where true or false is expected"),
        (3.0, (int,), "here: a number where an integer is expected"),
        (None, (bool, int), "here: null where true or false or an integer is expected"),
    ],
)
def test_another_type_is_refused(data: Any, types: tuple[type, ...], said: str):
    with pytest.raises(SchemaFileError, match=f"{said}$"):
        _value(data).expect(*types)


def test_a_missing_key_is_named():
    with pytest.raises(SchemaFileError, match="here: key 'name' is missing"):
        _value({}).name()
    with pytest.raises(SchemaFileError, match="here: key 'type' is missing"):
        _value({}).choice("type", ["INT"])
    assert _value({}).choice("option", ["single"], "single") == "single"
