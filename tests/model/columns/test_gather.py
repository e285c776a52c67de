# SPDX-License-Identifier: Apache-2.0
"""What is gathered from many messages at once is what each of them says when it is asked."""

from __future__ import annotations

import random
from typing import Any

import pytest
import walked
from wire_bytes import length, number

from onnx_lint import schema
from onnx_lint.loader import load
from onnx_lint.model.columns import initializers, value_infos
from onnx_lint.model.columns.gather import dimensions
from onnx_lint.model.columns.initializers import initializers_of
from onnx_lint.model.columns.value_infos import columns_of
from onnx_lint.model.fault import FaultKind
from onnx_lint.source import BytesSource

TENSOR = schema.message("TensorProto")
VALUE_INFO = schema.message("ValueInfoProto")

PLAIN = {"name": "w", "dims": [2, 3], "data_type": 1, "raw_data": bytes(24)}
"""A tensor that says what all tensors say, and no more."""

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


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("others", [0, 1, 5])
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


VALUES: tuple[dict[str, Any], ...] = (
    {"name": "x", "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_value": 3}, {"dim_param": "N"}]}}}},
    {"name": "y", "type": {"sequence_type": {"elem_type": {"tensor_type": {"elem_type": 7}}}}},
    {"name": "x", "type": {}},
    {"name": "z"},
    {"name": "", "type": {"map_type": {"key_type": 8}}},
    {"type": {"tensor_type": {"elem_type": 1}}},
    {"name": "d", "doc_string": "a value"},
    {"name": "m", "type": {}, "metadata_props": [{"key": "k"}]},
    {},
)


def test_value_infos_of_any_kinds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(value_infos, "CHUNK", 3)
    chance = random.Random("value infos")
    for _ in range(300):
        kinds = chance.sample(VALUES, chance.randint(1, 4))
        lists = {
            role: [VALUE_INFO(**chance.choice(kinds)) for _ in range(chance.randint(0, 3))]
            for role in chance.sample(("input", "output", "value_info"), chance.randint(0, 3))
        }
        found = columns_of(
            {role: [proto.SerializePartialToString() for proto in protos] for role, protos in lists.items()}
        )
        assert list(found) == list(lists)
        for role, protos in lists.items():
            assert found[role].names == [proto.name for proto in protos]
            assert found[role].types == [proto.type.SerializePartialToString() for proto in protos]
            assert found[role].annotated == [
                index for index, proto in enumerate(protos) if proto.doc_string or proto.metadata_props
            ]


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
