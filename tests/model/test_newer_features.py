# SPDX-License-Identifier: Apache-2.0
"""Features of a model that an older consumer does not know."""

from __future__ import annotations

from support.models.model_samples import from_text
from support.project.each_case import each_case

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, features_beyond, may_use_newer_features
from onnx_lint.spec.ir_versions import LATER_FIELDS
from onnx_lint.spec.standard import Standard

TEXT = """
graph {
  name: "g" metadata_props { key: "k" value: "v" }
  node { op_type: "F" domain: "d" overload: "o" output: "y" metadata_props { key: "k" value: "v" } }
  node { op_type: "F" domain: "d" overload: "o" output: "z" }
  initializer { name: "w" data_type: 17 dims: 1 raw_data: "0" }
  sparse_initializer { values { name: "s" } }
}
functions { name: "F" domain: "d" overload: "o" }
"""


def _features(ir_version: int) -> list[tuple[str, str, int]]:
    return [(found.what, found.of, found.count) for found in features_beyond(from_text(TEXT), ir_version)]


def test_features_come_with_their_first_place_and_their_number():
    assert _features(14) == []
    node = " at unnamed node 0 (d::F) of the main graph"
    assert sorted(_features(9)) == [
        ("field 'metadata_props' of GraphProto", " at main graph 'g'", 1),
        ("field 'metadata_props' of NodeProto", node, 1),
        ("field 'overload' of FunctionProto", " at function 'd::F:o'", 1),
        ("field 'overload' of NodeProto", node, 2),
    ]
    assert ("element type 'float8e4m3fn'", " of tensor 'w' of main graph 'g'", 1) in _features(8)
    older = {what for what, _, _ in _features(5)}
    assert {"field 'functions' of ModelProto", "field 'sparse_initializer' of GraphProto"} <= older


TENSOR = "type { tensor_type { elem_type: 1 shape { } } }"
USED: dict[str, tuple[int, str, str]] = {
    "ModelProto.opset_import": (2, "", "opset_import { version: 1 }"),
    "ModelProto.training_info": (6, "", "training_info { }"),
    "ModelProto.functions": (7, "", 'functions { name: "F" domain: "d" }'),
    "ModelProto.configuration": (10, "", "configuration { }"),
    "GraphProto.quantization_annotation": (4, "quantization_annotation { }", ""),
    "GraphProto.sparse_initializer": (5, "sparse_initializer { }", ""),
    "GraphProto.metadata_props": (9, 'metadata_props { key: "k" }', ""),
    "FunctionProto.attribute_proto": (8, "", 'functions { name: "F" attribute_proto { name: "a" type: INT i: 1 } }'),
    "FunctionProto.overload": (9, "", 'functions { name: "F" overload: "o" }'),
    "FunctionProto.value_info": (9, "", 'functions { name: "F" value_info { name: "v" } }'),
    "FunctionProto.metadata_props": (9, "", 'functions { name: "F" metadata_props { key: "k" } }'),
    "NodeProto.domain": (2, 'node { op_type: "Scaler" domain: "d" output: "z" }', ""),
    "NodeProto.overload": (9, 'node { op_type: "F" overload: "o" output: "z" }', ""),
    "NodeProto.metadata_props": (9, 'node { op_type: "F" output: "z" metadata_props { key: "k" } }', ""),
    "NodeProto.device_configurations": (10, 'node { op_type: "F" output: "z" device_configurations { } }', ""),
    "AttributeProto.sparse_tensor": (5, 'node { attribute { name: "a" type: SPARSE_TENSOR sparse_tensor { } } }', ""),
    "AttributeProto.sparse_tensors": (
        5,
        'node { attribute { name: "a" type: SPARSE_TENSORS sparse_tensors { } } }',
        "",
    ),
    "AttributeProto.tp": (7, 'node { attribute { name: "a" type: TYPE_PROTO tp { } } }', ""),
    "AttributeProto.type_protos": (7, 'node { attribute { name: "a" type: TYPE_PROTOS type_protos { } } }', ""),
    "TensorProto.external_data": (3, 'initializer { data_type: 1 external_data { key: "location" } }', ""),
    "TensorProto.data_location": (3, "initializer { data_type: 1 data_location: EXTERNAL }", ""),
    "TensorProto.metadata_props": (9, 'initializer { data_type: 1 metadata_props { key: "k" } }', ""),
    "ValueInfoProto.metadata_props": (9, 'value_info { name: "y" metadata_props { key: "k" } }', ""),
    "type": (13, 'input { name: "z" type { opaque_type { } } }', ""),
    "element type of a value": (3, 'input { name: "z" type { tensor_type { elem_type: 16 } } }', ""),
    "element type of a tensor": (3, "initializer { data_type: 16 }", ""),
    "element type that an attribute names": (
        8,
        'node { op_type: "Cast" input: "x" output: "z" attribute { name: "to" type: INT i: 17 } }',
        "",
    ),
    "element type in an attribute": (3, 'node { attribute { name: "a" type: TENSOR t { data_type: 16 } } }', ""),
}
"""Each field that an IR version brought and a clause judges, and types: the version before, and what uses it."""


def _model(ir_version: int, graph: str, model: str) -> Model:
    imports = f"opset_import {{ version: {19 if ir_version > 7 else 1} }}" if ir_version > 2 else ""
    text = f'ir_version: {ir_version} {imports} graph {{ name: "g" input {{ name: "x" {TENSOR} }} {graph} }} {model}'
    return load(BytesSource(text.encode()), "model.textproto", Standard(variant="onnx"))


@each_case("feature", USED)
def test_a_model_that_uses_a_newer_feature_may_use_one(feature: str):
    model = _model(*USED[feature])
    assert model.loaded
    assert list(features_beyond(model, model.ir_version))
    assert may_use_newer_features(model)


def test_every_field_is_tried():
    assert {name for name, since in LATER_FIELDS.items() if since.clause is not None} <= USED.keys()


@each_case("ir_version", range(3, 15))
def test_a_model_that_uses_none_does_not(ir_version: int):
    model = _model(
        ir_version, 'initializer { name: "w" data_type: 1 } node { op_type: "Abs" input: "x" output: "y" }', ""
    )
    assert not may_use_newer_features(model)
