# SPDX-License-Identifier: Apache-2.0
"""Tensors that are evidently right are left out, and no others."""

from __future__ import annotations

import pytest
from support.models import exhaustive_walk as walked
from support.models.tensor_samples import TENSOR_FIXTURES, TENSOR_SETTINGS, serialized_fixture
from support.project.each_case import each_case
from support.project.fixture_files import Fixture, lint

from onnx_lint import schema
from onnx_lint.common.cached import Memory
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.columns import attribute_kinds, initializers, nodes
from onnx_lint.ir.tensors import suspects
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads


def test_tensors_that_are_evidently_right_are_left_out():
    model = schema.message("ModelProto")()
    model.ir_version = 14
    for index in range(100):
        tensor = model.graph.initializer.add()
        tensor.name, tensor.data_type, tensor.raw_data = f"w{index}", 1, bytes(8)
        tensor.dims.append(2 if index != 50 else 3)
    loaded = load(BytesSource(model.SerializeToString()))
    assert [each.proto.name for each in loaded.tensors.unproved] == ["w50"]
    assert loaded.tensors.sparse == ()


@each_case("fixture", TENSOR_FIXTURES, ids=lambda fixture: fixture.id, one_in=4)
def test_no_rule_has_anything_to_say_of_a_tensor_that_is_left_out(fixture: Fixture):
    expected = lint(load(BytesSource(serialized_fixture(fixture))), TENSOR_SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_kinds, "is_evident", lambda fields: False)
        patch.setattr(nodes, "_forms", Memory(1_000))
        patch.setattr(initializers, "is_evident", lambda fields: False)
        patch.setattr(initializers, "evident_size", lambda element_type, dims: -1)
        patch.setattr(suspects, "encoding_of", lambda fields, payloads: None)
        model = load(BytesSource(serialized_fixture(fixture)))
        assert len(model.tensors.unproved) == len(list(walked.tensors(model)))
        assert lint(model, TENSOR_SETTINGS) == expected


@each_case("fixture", TENSOR_FIXTURES, ids=lambda fixture: fixture.id, one_in=4)
def test_tensors_that_are_made_anew_for_each_rule_have_the_same_findings(
    fixture: Fixture, values_stay_in_the_source: None
):
    expected = lint(load(BytesSource(serialized_fixture(fixture))), TENSOR_SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suspects, "MAX_KEPT", 0)
        model = load(BytesSource(serialized_fixture(fixture)))
        assert lint(model, TENSOR_SETTINGS) == expected
        of_sparse = {id(part) for each in model.tensors.sparse for part in (each.values, each.indices)}
        assert all(each.tensor is not each.tensor for each in model.tensors.unproved if id(each) not in of_sparse)


@pytest.mark.parametrize("holder", ["initializer", "attribute"])
def test_what_looks_right_may_have_a_second_field_in_the_source(holder: str, monkeypatch: pytest.MonkeyPatch):
    model = schema.message("ModelProto")(ir_version=14)
    if holder == "initializer":
        tensors = [model.graph.initializer.add() for _ in range(3)]
    else:
        tensors = [model.graph.node.add().attribute.add(name="value", type="TENSOR").t for _ in range(3)]
    for index, tensor in enumerate(tensors):
        tensor.MergeFrom(schema.message("TensorProto")(name=f"w{index}", data_type=1, dims=[2], raw_data=bytes(8)))
    tensors[1].float_data.extend([0.5] * 20)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 40)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 40)
    loaded = load(BytesSource(model.SerializeToString()))
    assert list(loaded.tensors.unproved[0].proto.float_data) == []
    assert [tensor.proto.name for tensor in loaded.tensors.miscounted] == ["w1"]
    assert [tensor.fields for tensor in loaded.tensors.miscounted] == [("raw_data", "float_data")]
