# SPDX-License-Identifier: Apache-2.0
"""Former members of `Model`, for rules of plugins that still use them: an AttributeError names the new way."""

from __future__ import annotations

from typing import Any, Final, NoReturn

_FUNCTIONS: Final = """
dimension_contradictions fixed_sizes
functions_are_bound has_aliased_domains has_attributes_named_as_values has_bare_graph_values has_denoted_types
has_device_configurations has_faults has_faulty_attributes has_incomplete_nodes has_initializers has_late_uses
has_metadata has_misused_operators has_outdated_ir_version has_quantization_annotations has_repeated_attributes
has_repeated_outputs has_several_graphs has_shape_conflicts has_sparse_tensors has_suspect_tensors has_target
has_training_information has_training_outputs has_type_conflicts has_undefined_names has_unnamed_graphs
has_unusual_attributes has_unusual_header has_unusual_imports has_unusual_names has_unusual_types has_unusual_versions
has_value_infos imports_of_onnxruntime initializers_must_be_inputs is_documented may_exceed_limits may_lack_imports
may_use_newer_features metadata_with_suspect_keys nameless_definition overloaded_nodes
"""
"""The members that are functions of a model now, under the same names."""

MOVED: Final = {
    **{name: f"the function {name} of onnx_lint.model" for name in _FUNCTIONS.split()},
    "attribute_kinds": "model.attribute_index.kinds",
    "count_attributes": "model.attribute_index.count",
    "equal_initializers": "the function find_equal_initializers of onnx_lint.model",
    "features_beyond": "the function features_beyond of onnx_lint.model",
    "foldable_nodes": "the function foldable_nodes of onnx_lint.model",
    "has_odd_variables": "model.declared_types.has_odd_variables",
    "is_reached": "model.calls.is_run",
    "long_numbers": "the function long_numbers of onnx_lint.model",
    "maps": 'model.values.of("MapProto")',
    "metadata_beside_nodes": "model.metadata(())",
    "named_element_types": "the function named_element_types of onnx_lint.model",
    "node_device_configurations": "the function node_device_configurations of onnx_lint.model",
    "sequences": 'model.values.of("SequenceProto")',
    "sharding_specs": "the function sharding_specs of onnx_lint.model",
}
"""The new way to each former member."""


class Moved:
    """A former member: reading it from the class or a model raises an AttributeError."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"Model.{self._name} is now {MOVED[self._name]}")


def mark_moved(owner: Any) -> None:
    """Give the class its former members."""
    for name in MOVED:
        setattr(owner, name, Moved(name))
