# SPDX-License-Identifier: Apache-2.0
"""The questions that decide which rules run."""

from __future__ import annotations

from support.models.model_samples import from_text
from support.project.each_case import each_case

from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import has_subject

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
    "Model.training_graphs": ("", "training_info { algorithm { } }"),
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
    "Model.dimension_contradictions": (
        'node { op_type: "Concat" input: "p" input: "q" output: "z" attribute { name: "axis" type: INT i: 0 } } '
        'input { name: "p" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } } '
        'input { name: "q" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } '
        'value_info { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }',
        "",
    ),
    "Model.fixed_sizes": (
        'node { op_type: "Abs" input: "p" output: "z" } '
        'input { name: "p" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } } '
        'value_info { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_value: 7 } } } } }',
        "",
    ),
    "has_unusual_types": ('input { name: "z" type { sequence_type { } } }', ""),
    "has_denoted_types": ('input { name: "z" type { denotation: "IMAGE" tensor_type { elem_type: 1 } } }', ""),
    "Model.repeated_declarations": ('value_info { name: "x" type { tensor_type { elem_type: 11 } } }', ""),
    "has_value_infos": ('value_info { name: "y" type { tensor_type { elem_type: 1 } } }', ""),
    "has_initializers": ('initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }', ""),
    "has_suspect_tensors": ('initializer { name: "w" data_type: 1 dims: 1 }', ""),
    "Model.judged_tensors": ('initializer { name: "w" data_type: 1 dims: 1 }', ""),
    "has_sparse_tensors": ('sparse_initializer { values { name: "w" } }', ""),
    "Model.sparse_tensors": ('sparse_initializer { values { name: "w" } }', ""),
    "Model.external_data": ('initializer { name: "w" data_type: 1 dims: 1 data_location: EXTERNAL }', ""),
    "Model.functions": ("", 'functions { name: "F" domain: "com.example" }'),
    "imports_of_onnxruntime": ("", 'opset_import { domain: "com.microsoft" version: 1 }'),
    "Model.parametric_functions": ("", 'functions { name: "F" domain: "com.example" attribute: "a" }'),
    "Model.nested_graphs": (
        'node { op_type: "If" input: "x" output: "z" attribute { name: "then_branch" type: GRAPH g { } } }',
        "",
    ),
}
"""For each question that a rule may be about, the fields of the graph or model that it needs."""


@each_case("about", sorted(HELD))
def test_the_answer_is_true_if_there_is_something_of_the_kind(about: str):
    assert not has_subject(from_text(USUAL % ("", "")), about)
    assert has_subject(from_text(USUAL % HELD[about]), about)


def test_rules_are_about_nothing_that_is_not_tried_here():
    of_settings_and_versions = {"has_target", "initializers_must_be_inputs"}
    said = {entry.rule.about for entry in registry().values() if entry.rule.about is not None}
    assert sorted(said - HELD.keys()) == sorted(of_settings_and_versions)
