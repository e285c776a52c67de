# SPDX-License-Identifier: Apache-2.0
"""The `Model`: one object with everything that rules use. Rules and plugins import it and its parts from here.

The names of `__all__` are imported at once. Each other name is imported from its module at its first use, since most
rules find nothing to check in most models and are not imported either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx_lint.ir.fault import Fault, FaultKind
from onnx_lint.ir.graph import (
    BEFORE_NODES,
    Definition,
    Function,
    Graph,
    GraphKind,
    Node,
)
from onnx_lint.ir.nesting import TooDeepError
from onnx_lint.ir.parts import Attribute, Metadata, SparseTensor, Tensor, Type, ValueInfo
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.model.model import Model
from onnx_lint.schema import Proto

if TYPE_CHECKING:
    from onnx_lint.inference.flow.scalar_fix import ScalarFix
    from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict
    from onnx_lint.inference.shapes.dims import Shape, agree, are_sizes
    from onnx_lint.inference.shapes.fact import Fact
    from onnx_lint.inference.shapes.problem import is_remark
    from onnx_lint.inference.shapes.stated import fact_of_type
    from onnx_lint.inference.types.distinct_types import describe_case
    from onnx_lint.input.limits import OF_CONSUMERS, describe_limit, exceeded
    from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE, AttributeKind, utf8_fault, value_fields
    from onnx_lint.ir.columns.nodes import NodeForm
    from onnx_lint.ir.columns.tensor_encodings import element_count
    from onnx_lint.ir.crashes import true_if_it_crashes
    from onnx_lint.ir.documents.kinds import MAGIC, MODEL_KIND
    from onnx_lint.ir.documents.value_types import Mixture, kind_name, mixtures
    from onnx_lint.ir.in_words import describe_element_type, describe_shape
    from onnx_lint.ir.names.c90_names import as_c90, c90_edits, has_c90_edits
    from onnx_lint.ir.names.declaration_index import AxesOfOneRank, EarlierStatements
    from onnx_lint.ir.names.declarations import TENSOR_KINDS, Declaration, Statements, contradict
    from onnx_lint.ir.names.fresh_names import FreshNames
    from onnx_lint.ir.names.ordering import moves_into_order
    from onnx_lint.ir.names.plain_names import is_c90
    from onnx_lint.ir.names.renaming import can_be_renamed, renaming, value_names
    from onnx_lint.ir.names.resolution import LateUse
    from onnx_lint.ir.operators.attribute_faults import AttributeFault, attribute_faults, listed_values, unlisted_values
    from onnx_lint.ir.operators.bound_nodes import BoundNodes
    from onnx_lint.ir.operators.control_flow import handed_on_outputs
    from onnx_lint.ir.operators.function_calls import MAX_COUNT, Recursion, attribute_parameters
    from onnx_lint.ir.operators.given import broken_by, is_empty_list
    from onnx_lint.ir.operators.import_fixes import ImportFixes
    from onnx_lint.ir.operators.imports import MAX_VERSION, Importer, count_domains, first_of_domains, highest_versions
    from onnx_lint.ir.operators.mismatch import (
        GivenOperands,
        alternatives_without,
        attributes_for_runtime,
        attributes_with,
        counted,
        describe_attribute_type,
        describe_importer,
        describe_imports,
        describe_schema,
        given_operands,
        is_mistyped,
        missing_alternatives,
        missing_attributes,
        misspelt_attributes,
        mistyped_attributes,
        moved_to_inputs,
        other_version,
        unknown_attributes,
        version_hint,
    )
    from onnx_lint.ir.operators.operators import AlikeNodes, Operator, OperatorStatus
    from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix, Move, Shorten
    from onnx_lint.ir.places.long_numbers import LongNumber
    from onnx_lint.ir.sharding import ShardingSpec
    from onnx_lint.ir.tensors import Occurrences, StoredSparseTensor, StoredTensor, and_others, contents
    from onnx_lint.ir.tensors.data_folder import FileState
    from onnx_lint.ir.tensors.external import (
        IN_MEMORY_MARKS,
        KNOWN_KEYS,
        ExternalData,
        goes_up,
        location_problem,
        spelled_plainly,
    )
    from onnx_lint.model.newer_features import Feature
    from onnx_lint.schema import message, serialized
    from onnx_lint.schema.reserved import FORMER_NAMES, is_reserved
    from onnx_lint.spec.domains import is_reverse_domain_name, shown_domain
    from onnx_lint.spec.element_types import (
        DEFAULT_LOCATION,
        ELEMENT_TYPES,
        EXTERNAL_LOCATION,
        INTEGER_KEYS,
        MAP_KEYS,
        MAX_INT64,
        STRING_TYPE,
        UNDEFINED_TYPE,
        ElementType,
    )
    from onnx_lint.spec.ir_versions import FREE_INITIALIZERS_SINCE, LATER_FIELDS, ML_FROM_THE_START
    from onnx_lint.spec.operators import (
        ATTRIBUTE_TYPE_CODES,
        ATTRIBUTE_TYPE_NAMES,
        OperatorSchema,
        OperatorSchemas,
        ParameterOption,
        onnxruntime_default_domain,
    )
    from onnx_lint.spec.operators.attribute_values import (
        AllowedValues,
        allowed_values,
        element_type_name,
        is_element_type,
        is_flag,
    )
    from onnx_lint.spec.operators.combinations import Choice, Combination, Member, combinations
    from onnx_lint.spec.operators.foreign_names import RUNTIME_HAD_FIRST, RUNTIME_TRAINING, TENSORFLOW
    from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL, REPLACEMENTS, Replacement
    from onnx_lint.spec.operators.store import ONNXRUNTIME
    from onnx_lint.spec.products import ProductRelease, product_release
    from onnx_lint.spec.releases import (
        DEFAULT_DOMAIN,
        DOMAIN_ALIAS,
        ML_DOMAIN,
        NEWEST_IR_VERSION,
        OLDEST_LOADED_IR_VERSION,
        PREVIEW_DOMAIN,
        TRAINING_DOMAIN,
        Release,
        is_onnx_domain,
        newest_opset_version,
        normalized_domain,
        release_named,
        release_of_edition,
        release_of_ir_version,
        release_of_opset,
    )
    from onnx_lint.spec.version_range import in_range

__all__ = [
    "BEFORE_NODES",
    "ROOT",
    "Attribute",
    "Definition",
    "Fault",
    "FaultKind",
    "Function",
    "Graph",
    "GraphKind",
    "Metadata",
    "Model",
    "Node",
    "Payload",
    "Place",
    "Proto",
    "SparseTensor",
    "Tensor",
    "TooDeepError",
    "Type",
    "ValueInfo",
]

_LATE: Final = {
    "inference.flow.scalar_fix": "ScalarFix",
    "inference.flow.shape_conflict": "DeclaredShapeConflict",
    "inference.shapes.dims": "Shape agree are_sizes",
    "inference.shapes.fact": "Fact",
    "inference.shapes.problem": "is_remark",
    "inference.shapes.stated": "fact_of_type",
    "inference.types.distinct_types": "describe_case",
    "input.limits": "OF_CONSUMERS describe_limit exceeded",
    "ir.columns.attribute_kinds": "AttributeKind VALUE_FIELD_OF_TYPE utf8_fault value_fields",
    "ir.columns.nodes": "NodeForm",
    "ir.columns.tensor_encodings": "element_count",
    "ir.crashes": "true_if_it_crashes",
    "ir.documents.kinds": "MAGIC MODEL_KIND",
    "ir.documents.value_types": "Mixture kind_name mixtures",
    "ir.in_words": "describe_element_type describe_shape",
    "ir.names.c90_names": "as_c90 c90_edits has_c90_edits",
    "ir.names.declaration_index": "AxesOfOneRank EarlierStatements",
    "ir.names.declarations": "Declaration Statements TENSOR_KINDS contradict",
    "ir.names.fresh_names": "FreshNames",
    "ir.names.ordering": "moves_into_order",
    "ir.names.plain_names": "is_c90",
    "ir.names.renaming": "can_be_renamed renaming value_names",
    "ir.names.resolution": "LateUse",
    "ir.operators.attribute_faults": "AttributeFault attribute_faults listed_values unlisted_values",
    "ir.operators.bound_nodes": "BoundNodes",
    "ir.operators.control_flow": "handed_on_outputs",
    "ir.operators.function_calls": "MAX_COUNT Recursion attribute_parameters",
    "ir.operators.given": "broken_by is_empty_list",
    "ir.operators.import_fixes": "ImportFixes",
    "ir.operators.imports": "Importer MAX_VERSION count_domains first_of_domains highest_versions",
    "ir.operators.mismatch": (
        "GivenOperands alternatives_without attributes_for_runtime attributes_with counted "
        "describe_attribute_type describe_importer describe_imports describe_schema given_operands is_mistyped "
        "missing_alternatives missing_attributes misspelt_attributes mistyped_attributes moved_to_inputs "
        "other_version unknown_attributes version_hint"
    ),
    "ir.operators.operators": "AlikeNodes Operator OperatorStatus",
    "ir.places.edits": "Assign Delete Edit Fix Move Shorten",
    "ir.places.long_numbers": "LongNumber",
    "ir.sharding": "ShardingSpec",
    "ir.tensors": "Occurrences StoredSparseTensor StoredTensor and_others contents",
    "ir.tensors.data_folder": "FileState",
    "ir.tensors.external": "ExternalData IN_MEMORY_MARKS KNOWN_KEYS goes_up location_problem spelled_plainly",
    "model.newer_features": "Feature",
    "schema": "message serialized",
    "schema.reserved": "FORMER_NAMES is_reserved",
    "spec.domains": "is_reverse_domain_name shown_domain",
    "spec.element_types": (
        "DEFAULT_LOCATION ELEMENT_TYPES EXTERNAL_LOCATION ElementType INTEGER_KEYS MAP_KEYS MAX_INT64 "
        "STRING_TYPE UNDEFINED_TYPE"
    ),
    "spec.ir_versions": "FREE_INITIALIZERS_SINCE LATER_FIELDS ML_FROM_THE_START",
    "spec.operators": (
        "ATTRIBUTE_TYPE_CODES ATTRIBUTE_TYPE_NAMES OperatorSchema OperatorSchemas ParameterOption "
        "onnxruntime_default_domain"
    ),
    "spec.operators.attribute_values": "AllowedValues allowed_values element_type_name is_element_type is_flag",
    "spec.operators.combinations": "Choice Combination Member combinations",
    "spec.operators.foreign_names": "RUNTIME_HAD_FIRST RUNTIME_TRAINING TENSORFLOW",
    "spec.operators.history": "REMOVED_EXPERIMENTAL REPLACEMENTS Replacement",
    "spec.operators.store": "ONNXRUNTIME",
    "spec.products": "ProductRelease product_release",
    "spec.releases": (
        "DEFAULT_DOMAIN DOMAIN_ALIAS ML_DOMAIN NEWEST_IR_VERSION OLDEST_LOADED_IR_VERSION PREVIEW_DOMAIN "
        "Release TRAINING_DOMAIN is_onnx_domain newest_opset_version normalized_domain release_named "
        "release_of_edition release_of_ir_version release_of_opset"
    ),
    "spec.version_range": "in_range",
}
"""The names that are imported at their first use, by the module below `onnx_lint` that defines them."""

_HOME: Final = {name: module for module, names in _LATE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import one of the names of `_LATE`; one of them is a module."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = f"onnx_lint.{_HOME[name]}"
    found = getattr(import_module(home), name, None)
    globals()[name] = import_module(f"{home}.{name}") if found is None else found
    return globals()[name]
