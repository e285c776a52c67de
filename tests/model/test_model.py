# SPDX-License-Identifier: Apache-2.0
"""The model of a loaded file, its parts, and the facts inferred from them."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from onnx import FunctionProto, GraphProto, NodeProto
from support.models import exhaustive_walk as walked
from support.models.fixture_models import some_models
from support.models.messages import message_of
from support.models.model_samples import from_text, loaded
from support.project.each_case import each_case
from support.wire.wire_bytes import (
    GRAPH,
    length,
    number,
    rich_model,
)

from onnx_lint.engine.registry import registry
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader import load
from onnx_lint.model import Model


def test_a_model_that_was_not_read_is_empty():
    model = loaded(b"")
    assert not model.loaded
    assert (model.graphs, model.functions, list(model.nodes()), list(walked.tensors(model))) == ([], [], [], [])
    assert (list(model.main_graph.nodes), model.ir_version) == ([], 0)


def test_the_message_is_read_as_text_writes_it():
    model = loaded(rich_model())
    again = load(BytesSource(text_format.MessageToString(message_of(model)).encode()), "model.textproto")
    assert message_of(again) == message_of(model)


def test_an_occurrence_of_another_wire_type_does_not_count():
    """The parser leaves it aside, so the node behind it is the first one."""
    data = number(1, 10) + length(7, number(1, 5) + GRAPH)
    model = loaded(data)
    assert len(model.proto.graph.node) == 1
    assert model.places.byte_range(ROOT.at("graph").at("node", 0)) == (6, 20)


FIELDS = ("doc_string", "metadata_props", "value_info", "initializer", "quantization_annotation")


def test_graphs_by_what_they_have():
    for name, model in some_models().items():
        for field in FIELDS:
            expected = [graph for graph in model.graphs if getattr(graph.proto, field, None)]
            assert model.graphs_with(field) == expected, (name, field)


def test_what_has_documentation_or_metadata():
    for name, model in some_models().items():
        value_infos = [each for each in walked.value_infos(model) if each.proto.doc_string or each.proto.metadata_props]
        assert [str(each.place) for each in model.annotated_value_infos] == [str(each.place) for each in value_infos]
        for field in ("doc_string", "metadata_props", "device_configurations"):
            nodes = [node for node in model.nodes() if getattr(node.proto, field)]
            found = [node for node in model.nodes_with(field) if getattr(node.proto, field)]
            assert found == nodes, (name, field)
        assert list(model.overloaded_nodes) == [node for node in model.nodes() if node.overload], name
        repeating = {
            str(node.place)
            for node in model.nodes_with("metadata_props")
            if len({entry.key for entry in node.proto.metadata_props}) < len(node.proto.metadata_props)
        }
        suspects = {str(each.place) for each in model.metadata_with_suspect_keys() if each.message == "NodeProto"}
        assert suspects >= repeating, name


def test_the_forms_of_all_nodes():
    for name, model in some_models().items():
        assert model.forms == {node.form for node in model.nodes()}, name


def test_nodes_that_define_a_name_again():
    for name, model in some_models().items():
        for graph in model.graphs:
            outputs = [output for node in graph.nodes for output in node.outputs if output]
            before = {*graph.input_names, *graph.initializer_names, *graph.sparse_initializer_names}
            is_again = len(set(outputs)) < len(outputs) or not before.isdisjoint(outputs)
            assert graph.has_redefinitions == is_again, name


RELU = 'node { op_type: "Relu" input: "x" output: "y" }'
INPUT = (
    'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_param: "N" } } } } }'
)


def test_shapes_are_followed_when_somebody_asks():
    model = from_text(f"opset_import {{ version: 21 }} graph {{ {RELU} {INPUT} }}")
    assert model.shape_knowledge is None
    assert (model.shape_of("y"), model.shape_of("nothing")) == ((2, "N"), None)
    assert model.shape_knowledge is not None
    assert model.shape_knowledge.unknown == 0


@pytest.mark.parametrize(
    ("document", "stated", "versions"),
    [
        (GraphProto(name="g"), {}, {}),
        (GraphProto(name="g"), {"": 21}, {"": 21}),
        (NodeProto(op_type="Relu"), {"com.example": 3}, {"com.example": 3}),
        # A function says itself what it imports, and its domain is one in which it may stand.
        (FunctionProto(name="F", domain="com.example"), {"": 21}, {"com.example": 1}),
    ],
)
def test_what_is_imported_outside_of_functions(document, stated: dict[str, int], versions: dict[str, int]):
    data = document.SerializeToString()
    model = load(BytesSource(data), proto=document.DESCRIPTOR.name, opset_imports=stated)
    assert model.imports.versions(None) == versions


def test_an_operator_set_imports_itself():
    text = 'domain: "com.example" opset_version: 3 ir_version: 10 functions { name: "F" domain: "com.other" }'
    model = load(BytesSource(text.encode()), "set.textproto", proto="OperatorSetProto")
    assert model.imports.versions(None) == {"com.example": 3, "com.other": 3}


USUAL = """
producer_name: "p" producer_version: "1" opset_import { version: 21 }
graph { name: "g" node { op_type: "Relu" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { } } } } %s }
%s
"""

HELD: dict[str, tuple[str, str]] = {
    "has_faults": ("", "no_such_field: 1"),
    "may_exceed_limits": ("", 'functions { name: "F" domain: "com.example" }'),
    "has_unusual_header": ("", 'domain: "com.example"'),
    "has_unusual_versions": ("", "model_version: -1"),
    "has_unusual_imports": ("", 'opset_import { domain: "custom" version: 1 }'),
    "may_lack_imports": ('node { op_type: "F" domain: "com.example" output: "z" }', ""),
    "may_use_newer_features": ("", 'configuration { name: "c" }'),
    "has_metadata": ('metadata_props { key: "k" }', ""),
    "is_documented": ('doc_string: "d"', ""),
    "training_graphs": ("", "training_info { algorithm { } }"),
    "has_training_information": ("", "training_info { }"),
    "has_device_configurations": ("", 'configuration { name: "c" }'),
    "has_quantization_annotations": ("quantization_annotation { }", ""),
    "has_outdated_ir_version": ("", "opset_import { version: 25 }"),
    "has_training_outputs": ('node { op_type: "BatchNormalization" input: "x" output: "z" output: "mean" }', ""),
    "has_repeated_attributes": (
        'node { op_type: "Cast" input: "x" output: "z" attribute { name: "to" type: INT } attribute { name: "to" } }',
        "",
    ),
    "has_attributes_named_as_values": (
        'node { op_type: "Cast" input: "x" output: "z" attribute { name: "x" type: INT } }',
        "",
    ),
    "has_incomplete_nodes": ("node { }", ""),
    "has_aliased_domains": ('node { op_type: "Abs" domain: "ai.onnx" input: "x" output: "z" }', ""),
    "overloaded_nodes": ('node { op_type: "F" overload: "o" output: "z" }', ""),
    "has_several_graphs": ("", 'training_info { initialization { name: "i" } }'),
    "has_unnamed_graphs": (
        'node { op_type: "If" input: "x" output: "z" attribute { name: "then_branch" type: GRAPH g { } } }',
        "",
    ),
    "has_unusual_names": ('value_info { name: "z" type { tensor_type { elem_type: 1 } } }', ""),
    "has_repeated_outputs": ('output { name: "y" }', ""),
    "has_undefined_names": ('output { name: "z" }', ""),
    "has_late_uses": (
        'node { op_type: "Abs" input: "b" output: "a" } node { op_type: "Abs" input: "y" output: "b" }',
        "",
    ),
    "has_misused_operators": ('node { op_type: "Relu" output: "z" }', ""),
    "has_faulty_attributes": (
        'node { op_type: "DepthToSpace" input: "x" output: "z" attribute { name: "blocksize" type: INT i: 0 } }',
        "",
    ),
    "has_bare_graph_values": ('output { name: "z" type { tensor_type { elem_type: 1 } } }', ""),
    "has_unusual_attributes": ('node { op_type: "Relu" input: "x" output: "z" attribute { name: "a" } }', ""),
    "has_type_conflicts": (
        'node { op_type: "Cast" input: "x" output: "z" attribute { name: "to" type: INT i: 7 } } '
        'value_info { name: "z" type { tensor_type { elem_type: 1 } } }',
        "",
    ),
    "has_shape_conflicts": (
        'node { op_type: "Abs" input: "x" output: "z" } '
        'value_info { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }',
        "",
    ),
    "dimension_contradictions": (
        'node { op_type: "Concat" input: "p" input: "q" output: "z" attribute { name: "axis" type: INT i: 0 } } '
        'input { name: "p" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } } '
        'input { name: "q" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } '
        'value_info { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }',
        "",
    ),
    "fixed_sizes": (
        'node { op_type: "Abs" input: "p" output: "z" } '
        'input { name: "p" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } } '
        'value_info { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_value: 7 } } } } }',
        "",
    ),
    "has_unusual_types": ('input { name: "z" type { sequence_type { } } }', ""),
    "has_denoted_types": ('input { name: "z" type { denotation: "IMAGE" tensor_type { elem_type: 1 } } }', ""),
    "repeated_declarations": ('value_info { name: "x" type { tensor_type { elem_type: 11 } } }', ""),
    "has_value_infos": ('value_info { name: "y" type { tensor_type { elem_type: 1 } } }', ""),
    "has_initializers": ('initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }', ""),
    "has_suspect_tensors": ('initializer { name: "w" data_type: 1 dims: 1 }', ""),
    "judged_tensors": ('initializer { name: "w" data_type: 1 dims: 1 }', ""),
    "has_sparse_tensors": ('sparse_initializer { values { name: "w" } }', ""),
    "sparse_tensors": ('sparse_initializer { values { name: "w" } }', ""),
    "external_data": ('initializer { name: "w" data_type: 1 dims: 1 data_location: EXTERNAL }', ""),
    "functions": ("", 'functions { name: "F" domain: "com.example" }'),
    "imports_of_onnxruntime": ("", 'opset_import { domain: "com.microsoft" version: 1 }'),
    "parametric_functions": ("", 'functions { name: "F" domain: "com.example" attribute: "a" }'),
    "nested_graphs": (
        'node { op_type: "If" input: "x" output: "z" attribute { name: "then_branch" type: GRAPH g { } } }',
        "",
    ),
}
"""For each property that a rule may be about, the fields of the graph or model that it needs."""


def _has(model: Model, facet: str) -> bool:
    return bool(getattr(model, facet))


@each_case("facet", sorted(HELD))
def test_a_facet_is_there_where_there_is_something_of_the_kind(facet: str):
    assert not _has(from_text(USUAL % ("", "")), facet)
    assert _has(from_text(USUAL % HELD[facet]), facet)


def test_rules_are_about_nothing_that_is_not_tried_here():
    of_settings_and_versions = {"has_target", "initializers_must_be_inputs"}
    said = {entry.rule.about for entry in registry().values() if entry.rule.about is not None}
    assert sorted(said - HELD.keys()) == sorted(of_settings_and_versions)
