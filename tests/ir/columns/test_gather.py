# SPDX-License-Identifier: Apache-2.0
"""Fields gathered from many messages at once equal those read from each message."""

from __future__ import annotations

import pytest
from support.models import exhaustive_walk as walked
from support.models.column_samples import PLAIN, TENSOR, VALUE_INFO, VALUES
from support.wire.wire_bytes import length, number

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.fault import FaultKind
from onnx_lint.loader import load


def test_a_column_has_the_values_of_all_messages():
    pieces = [
        VALUE_INFO(name="a", type={"tensor_type": {"elem_type": 1}}),
        VALUE_INFO(name="b", metadata_props=[{"key": "k"}, {"value": "v"}]),
    ]
    merged = schema.columns("ValueInfoProto").FromString(b"".join(piece.SerializePartialToString() for piece in pieces))
    assert list(merged.name) == ["a", "b"]
    assert [schema.message("TypeProto").FromString(kind) for kind in merged.type] == [pieces[0].type]
    entries = map(schema.message("StringStringEntryProto").FromString, merged.metadata_props)
    assert list(entries) == list(pieces[1].metadata_props)


def test_every_message_has_columns_of_the_same_fields():
    for name in schema.pool().FindFileContainingSymbol("onnx.ModelProto").message_types_by_name:
        fields = schema.columns(name).DESCRIPTOR.fields
        expected = {(field.name, field.number) for field in schema.message(name).DESCRIPTOR.fields}
        assert {(field.name, field.number) for field in fields} == expected
        assert all(len(getattr(schema.columns(name)(), field.name)) == 0 for field in fields)


def test_a_message_that_does_not_exist_has_no_columns():
    with pytest.raises(KeyError):
        schema.columns("NoProto")


TENSOR_DATA = number(2, 1) + length(8, "w") + length(9, bytes(4))
VALUE_DATA = length(1, "w") + length(2, length(1, number(1, 1)))


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("kind", [FaultKind.UNKNOWN_FIELD, FaultKind.REPEATED, FaultKind.UTF8], ids=str)
@pytest.mark.parametrize(("field", "name", "well"), [(5, 8, TENSOR_DATA), (13, 1, VALUE_DATA)])
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
