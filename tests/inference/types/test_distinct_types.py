# SPDX-License-Identifier: Apache-2.0
"""Types asked for once for each distinct one are those that walking all of them gives."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from support.models import exhaustive_walk as walked
from support.models.fixture_models import fixture_models

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

CASES = ("tensor_type", "sequence_type", "map_type", "optional_type", "sparse_tensor_type", "opaque_type", None)


def _model(text: str) -> Model:
    proto = text_format.Parse(text, schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


@pytest.mark.parametrize("case", CASES)
def test_types_by_case(case: str | None):
    found_any = False
    for name, model in fixture_models().items():
        expected = [str(each.place) for each in walked.types(model) if each.kind == case]
        found = [str(each.place) for each in model.types(lambda proto: proto.WhichOneof("value") == case)]
        assert found == expected, name
        found_any = found_any or bool(found)
    assert found_any


def test_equal_types_are_asked_for_once():
    kind = "type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } }"
    model = _model(
        f'graph {{ input {{ name: "a" {kind} }} output {{ name: "b" {kind} }} value_info {{ name: "c" {kind} }} }}'
    )
    asked: list[str | None] = []
    assert list(model.types(lambda proto: asked.append(proto.WhichOneof("value")) is not None)) == []
    assert asked == ["sequence_type", "tensor_type"]
    found = model.types(lambda proto: proto.HasField("tensor_type"))
    inner = "type.sequence_type.elem_type"
    assert [str(each.place) for each in found] == [
        f"graph.input[0].{inner}",
        f"graph.output[0].{inner}",
        f"graph.value_info[0].{inner}",
    ]


def test_an_absent_type_is_none():
    model = _model('graph { output { name: "a" } output { name: "b" type { } } }')
    assert [str(each.place) for each in model.types(lambda proto: True)] == ["graph.output[1].type"]
