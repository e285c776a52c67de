# SPDX-License-Identifier: Apache-2.0
"""What a rule may be about is there exactly in models that have it."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text

from onnx_lint.engine.registry import registry
from onnx_lint.model import Model

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
    "has_broken_combinations": (
        'node { op_type: "Constant" output: "z" attribute { name: "value_int" type: INT i: 1 } '
        'attribute { name: "value_float" type: FLOAT f: 1 } }',
        "",
    ),
    "has_impossible_values": (
        'node { op_type: "DepthToSpace" input: "x" output: "z" attribute { name: "blocksize" type: INT i: 0 } }',
        "",
    ),
    "has_unlisted_values": (
        'node { op_type: "MaxPool" input: "x" output: "z" attribute { name: "auto_pad" type: STRING s: "SAME" } '
        'attribute { name: "kernel_shape" type: INTS ints: 1 } }',
        "",
    ),
    "may_have_impossible_extents": ('node { op_type: "MaxPool" input: "x" output: "z" }', ""),
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
    "parametric_functions": ("", 'functions { name: "F" domain: "com.example" attribute: "a" }'),
    "nested_graphs": (
        'node { op_type: "If" input: "x" output: "z" attribute { name: "then_branch" type: GRAPH g { } } }',
        "",
    ),
}
"""For each property a rule may be about, what has to stand in the graph or in the model for it to be there."""


def _has(model: Model, facet: str) -> bool:
    return bool(getattr(model, facet))


@pytest.mark.parametrize("facet", sorted(HELD))
def test_a_facet_is_there_where_there_is_something_of_the_kind(facet: str):
    assert not _has(from_text(USUAL % ("", "")), facet)
    assert _has(from_text(USUAL % HELD[facet]), facet)


def test_rules_are_about_nothing_that_is_not_tried_here():
    of_settings_and_versions = {"has_target", "initializers_must_be_inputs"}
    told = {entry.rule.about for entry in registry().values() if entry.rule.about is not None}
    assert sorted(told - HELD.keys()) == sorted(of_settings_and_versions)
