# SPDX-License-Identifier: Apache-2.0
"""The columns of initializers have the same values as the messages, and find those that are not evidently right."""

from __future__ import annotations

from typing import Any

import pytest
from support.models import exhaustive_walk as walked
from support.models.column_samples import PLAIN, TENSOR, VALUE_INFO, VALUES
from support.project.each_case import each_case
from support.wire.wire_bytes import length, number

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.columns.initializers import initializers_of
from onnx_lint.ir.fault import FaultKind
from onnx_lint.loader import load

EVIDENT: dict[str, dict[str, Any]] = {
    "a scalar": {"name": "w", "data_type": 1, "raw_data": bytes(4)},
    "a large raw_data": {**PLAIN, "dims": [50_000], "raw_data": bytes(200_000)},
    "an empty name": {**PLAIN, "name": ""},
    "values in a typed field": {"name": "w", "dims": [2], "data_type": 1, "float_data": [0.5, 1.0]},
    "small integers": {"name": "w", "dims": [3], "data_type": 3, "int32_data": [0, 127, -5]},
    "a shape with the tag of the name": {**PLAIN, "name": "w" * 13, "dims": [66], "raw_data": bytes(264)},
    "a name of more than 127 bytes": {**PLAIN, "name": "w" * 201},
    "a NaN": {**PLAIN, "raw_data": b"\0\0\xc0\x7f" + bytes(len(PLAIN["raw_data"]) - 4)},
    "long integers": {"name": "w", "dims": [2], "data_type": 7, "int64_data": [1 << 62, -(1 << 63)]},
}

DOUBTFUL: dict[str, dict[str, Any]] = {
    "a negative dimension": {**PLAIN, "dims": [-1, 3]},
    "no type": {"name": "w", "dims": [2], "raw_data": bytes(8)},
    "an unknown type": {**PLAIN, "data_type": 300},
    "no values": {"name": "w", "dims": [2], "data_type": 1},
    "an empty raw_data": {**PLAIN, "raw_data": b""},
    "integers of several bytes": {"name": "w", "dims": [4], "data_type": 2, "int32_data": [0, 128, 70_000, 1]},
    "many integers": {"name": "w", "dims": [300], "data_type": 3, "int32_data": list(range(100)) * 3},
    "strings": {"name": "w", "dims": [2], "data_type": 8, "string_data": [b"a", b""]},
    "values in two fields": {**PLAIN, "int64_data": [1, -1]},
    "a segment": {**PLAIN, "segment": {"begin": 0, "end": 1}},
    "documentation": {**PLAIN, "doc_string": "weights"},
    "values in another file": {"name": "w", "data_type": 1, "data_location": 1, "external_data": [{"key": "location"}]},
    "metadata": {**PLAIN, "metadata_props": [{"key": "a", "value": "b"}]},
    "nothing at all": {},
}


@each_case("case", [*EVIDENT, *DOUBTFUL])
def test_initializers_among_others(case: str):
    odd = TENSOR(**(EVIDENT | DOUBTFUL)[case])
    tensors = [odd, TENSOR(**PLAIN), odd]
    found = initializers_of([tensor.SerializePartialToString() for tensor in tensors])
    assert found.names == [tensor.name for tensor in tensors]
    assert found.element_types == [tensor.data_type for tensor in tensors]
    assert found.shapes == [tuple(tensor.dims) for tensor in tensors]
    assert found.unproved == ([0, 2] if case in DOUBTFUL else [])
    if case in EVIDENT:
        assert found.may_be_nan == ({0, 2} if case == "a NaN" else set())


def test_tensors_of_one_type_and_shape_are_parsed_once(monkeypatch):
    parsed: list[bytes] = []
    tensor_class = schema.message("TensorProto")

    class Counting:
        @staticmethod
        def FromString(data: bytes) -> Any:  # noqa: N802 - the name of the parser
            parsed.append(data)
            return tensor_class.FromString(data)

    monkeypatch.setattr(schema, "message", lambda name: Counting)
    tensors = [TENSOR(**{**PLAIN, "name": f"w{number}"}).SerializeToString() for number in range(50)]
    assert initializers_of(tensors).names == [f"w{number}" for number in range(50)]
    assert parsed == tensors[:1]


def test_no_initializers():
    assert initializers_of([]).names == []


TENSOR_DATA = number(2, 1) + length(8, "w") + length(9, bytes(4))
VALUE_DATA = length(1, "w") + length(2, length(1, number(1, 1)))


@each_case("is_nested", [False, True])
@each_case("kind", [FaultKind.UNKNOWN_FIELD, FaultKind.REPEATED, FaultKind.UTF8], ids=str)
@each_case(("field", "name", "well"), [(5, 8, TENSOR_DATA), (13, 1, VALUE_DATA)])
def test_odd_tensors_and_value_infos_are_found(field: int, name: int, well: bytes, kind: FaultKind, is_nested: bool):
    odd = {
        FaultKind.UNKNOWN_FIELD: well + number(99, 1),
        FaultKind.REPEATED: well + length(name, "v"),
        FaultKind.UTF8: length(name, b"\xff"),
    }
    graph = length(field, well) + length(field, odd[kind])
    if is_nested:
        graph = length(1, length(4, "If") + length(5, length(1, "then_branch") + length(6, graph)))
    model = load(BytesSource(number(1, 8) + length(7, graph)), "model.onnx")
    assert {fault.kind for fault in model.faults} == {kind}


@pytest.mark.parametrize("is_nested", [False, True])
def test_what_a_model_keeps_as_bytes_is_parsed_when_it_is_asked_for(is_nested: bool):
    tensor, value = TENSOR(**PLAIN), VALUE_INFO(**VALUES[0])
    graph = schema.message("GraphProto")(initializer=[TENSOR(), tensor], value_info=[value], input=[value])
    if is_nested:
        inner = graph
        graph = schema.message("GraphProto")()
        graph.node.add(op_type="If").attribute.add(name="then_branch", g=inner)
    model = load(BytesSource(schema.message("ModelProto")(ir_version=8, graph=graph).SerializeToString()), "model.onnx")
    held = model.graphs[-1]
    assert (held.message_at("initializer", 1), held.message_at("value_info", 0)) == (tensor, value)
    assert held.message_at("input", 0) == value
    assert [each.proto for each in walked.value_infos(model)] == [value, value]
    assert [each.proto for each in walked.tensors(model)] == [TENSOR(), tensor]
