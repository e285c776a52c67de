# SPDX-License-Identifier: Apache-2.0
"""The columns of initializers have the same values as the messages."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.models.column_samples import PLAIN, TENSOR
from support.project.each_case import each_case

from onnx_lint.ir.columns import initializers
from onnx_lint.ir.columns.gather import dimensions
from onnx_lint.ir.columns.initializers import initializers_of

ODD: dict[str, dict[str, Any]] = {
    "a scalar": {"name": "w", "data_type": 1, "raw_data": bytes(4)},
    "a long name of several bytes a letter": {**PLAIN, "name": 70 * "\u00e4"},
    "a large raw_data": {**PLAIN, "dims": [50_000], "raw_data": bytes(200_000)},
    "a negative dimension": {**PLAIN, "dims": [-1, 3]},
    "dimensions that look like the beginning of what stands between": {**PLAIN, "dims": [8, 8, 71, 0]},
    "the dimension that stands between": {**PLAIN, "dims": [3, initializers._NO_DIMENSION]},
    "no name": {"dims": [2], "data_type": 1, "raw_data": bytes(8)},
    "an empty name": {**PLAIN, "name": ""},
    "no type": {"name": "w", "dims": [2], "raw_data": bytes(8)},
    "the type 0": {**PLAIN, "data_type": 0},
    "a type of two bytes": {**PLAIN, "data_type": 300},
    "a negative type": {**PLAIN, "data_type": -5},
    "a field as long as the type, which is missing": {"name": "w", "raw_data": bytes(4), "data_location": 0},
    "a field as long as the name, which is missing": {"data_type": 1, "raw_data": bytes(4), "doc_string": "w"},
    "a field as long as raw_data, which is missing": {"name": "w", "data_type": 1, "string_data": [bytes(4)]},
    "no values": {"name": "w", "dims": [2], "data_type": 1},
    "an empty raw_data": {**PLAIN, "raw_data": b""},
    "values in a typed field": {"name": "w", "dims": [2], "data_type": 1, "float_data": [0.5, 1.0]},
    "doubles": {"name": "w", "dims": [2], "data_type": 11, "double_data": [0.5, 1.0]},
    "small integers": {"name": "w", "dims": [3], "data_type": 3, "int32_data": [0, 127, 5]},
    "integers of several bytes": {"name": "w", "dims": [4], "data_type": 2, "int32_data": [0, 128, 70_000, 1]},
    "negative integers": {"name": "w", "dims": [2], "data_type": 3, "int32_data": [-1, 127]},
    "long integers": {"name": "w", "dims": [2], "data_type": 7, "int64_data": [1 << 62, -(1 << 63)]},
    "many small integers": {"name": "w", "dims": [300], "data_type": 7, "int64_data": list(range(100)) * 3},
    "unsigned integers": {"name": "w", "dims": [1], "data_type": 12, "uint64_data": [(1 << 64) - 1]},
    "strings": {"name": "w", "dims": [2], "data_type": 8, "string_data": [b"a", b""]},
    "a string": {"name": "w", "data_type": 8, "string_data": [b"a"]},
    "values in two fields": {**PLAIN, "int64_data": [1, -1]},
    "a segment": {**PLAIN, "segment": {"begin": 0, "end": 1}},
    "documentation": {**PLAIN, "doc_string": "weights"},
    "values in another file": {"name": "w", "data_type": 1, "data_location": 1, "external_data": [{"key": "location"}]},
    "metadata": {**PLAIN, "metadata_props": [{"key": "a", "value": "b"}]},
    "nothing at all": {},
}


def _values(tensor: Any) -> tuple[str, int, int]:
    fields = {
        field.name: value for field, value in tensor.ListFields() if field.name not in ("name", "dims", "data_type")
    }
    if len(fields) != 1 or "string_data" in fields or not _TYPED.issuperset(fields):
        return "", 0, -1
    ((field, values),) = fields.items()
    are_small = field in ("int32_data", "int64_data", "uint64_data") and min(values) >= 0 and max(values) < 128
    return field, len(values), max(values) if are_small else -1


_TYPED = {"raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"}


def _assert_right(tensors: list[Any]) -> None:
    found = initializers_of([tensor.SerializePartialToString() for tensor in tensors])
    assert found.names == [tensor.name for tensor in tensors]
    assert found.element_types == [tensor.data_type for tensor in tensors]
    assert [dimensions(shape) for shape in found.shapes] == [tuple(tensor.dims) for tensor in tensors]
    assert len(set(found.shapes)) == len({tuple(tensor.dims) for tensor in tensors})
    for values, tensor in zip(zip(found.fields, found.entries, found.greatest, strict=True), tensors, strict=True):
        known = _values(tensor)
        assert values == known or (values == ("", 0, -1) and not 0 < tensor.data_type < 0x80), tensor


@each_case("odd", ODD.values(), ids=ODD)
@each_case("others", [0, 1, 5])
def test_initializers_among_others(odd: dict[str, Any], others: int):
    plain = [TENSOR(**{**PLAIN, "name": f"w{index}"}) for index in range(others)]
    tensor = TENSOR(**odd)
    _assert_right([*plain, tensor])
    _assert_right([tensor, *plain])
    _assert_right([*plain, tensor, *plain, tensor])


def test_initializers_of_any_kinds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(initializers, "CHUNK", 5)
    chance = random.Random("initializers")
    for _ in range(300):
        kinds = chance.sample(list(ODD.values()), chance.randint(0, 2))
        kinds += [PLAIN, ODD["a scalar"]]
        _assert_right([TENSOR(**chance.choice(kinds)) for _ in range(chance.randint(0, 13))])


def test_no_initializers():
    assert initializers_of([]) == initializers.Initializers([], [], [], [], [], [])
