# SPDX-License-Identifier: Apache-2.0
"""The `Model`: one object with everything that rules use. Rules and plugins import it and its parts from here.

The names of `__all__` are imported at once. Each of those that are imported for types is imported from its module at
its first use, since most rules find nothing to check in most models and are not imported either.
"""

from __future__ import annotations

import functools
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from onnx_lint.common import package_data
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
    from onnx_lint.common.salted import salted_key, salted_text
    from onnx_lint.inference.flow.cast_fix import CastFix
    from onnx_lint.inference.flow.constant_fixes import Int64Fix, ScalarFix
    from onnx_lint.inference.flow.folding import bytes_of, foldable_nodes, is_pure
    from onnx_lint.inference.flow.joining import joined
    from onnx_lint.inference.flow.repairs import accepts
    from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict
    from onnx_lint.inference.shapes.dims import Dim, Shape, agree, are_sizes
    from onnx_lint.inference.shapes.fact import ABSENT, Content, Fact, fact
    from onnx_lint.inference.shapes.problem import is_remark
    from onnx_lint.inference.shapes.stated import fact_of_type
    from onnx_lint.inference.types.distinct_types import describe_case
    from onnx_lint.input.limits import OF_CONSUMERS, describe_limit, exceeded
    from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE, AttributeKind, utf8_fault, value_fields
    from onnx_lint.ir.columns.nodes import NodeForm
    from onnx_lint.ir.columns.tensor_encodings import element_count, may_be_nan
    from onnx_lint.ir.crashes import true_if_it_crashes
    from onnx_lint.ir.documents.kinds import MAGIC, MODEL_KIND
    from onnx_lint.ir.documents.value_types import Mixture, kind_name, mixtures
    from onnx_lint.ir.in_words import describe_element_type
    from onnx_lint.ir.long_lists import pieces_of
    from onnx_lint.ir.names.c90_names import as_c90, c90_edits, has_c90_edits
    from onnx_lint.ir.names.declaration_index import AxesOfOneRank, EarlierStatements
    from onnx_lint.ir.names.declarations import TENSOR_KINDS, Declaration, contradict, defaults_across
    from onnx_lint.ir.names.ordering import moves_into_order
    from onnx_lint.ir.names.plain_names import not_c90
    from onnx_lint.ir.names.renaming import FreshNames, can_be_renamed, renaming, value_names
    from onnx_lint.ir.names.resolution import LateUse, UndefinedName
    from onnx_lint.ir.operators.attribute_faults import AttributeFault, attribute_faults, listed_values, unlisted_values
    from onnx_lint.ir.operators.attribute_fixes import inputs_instead, respelled
    from onnx_lint.ir.operators.bound_nodes import BoundNodes
    from onnx_lint.ir.operators.broken_combinations import broken_by, is_empty_list
    from onnx_lint.ir.operators.control_flow import attribute_name, handed_on_outputs
    from onnx_lint.ir.operators.function_calls import MAX_COUNT, Recursion, attribute_parameters
    from onnx_lint.ir.operators.import_fixes import ImportFixes
    from onnx_lint.ir.operators.imports import MAX_VERSION, Importer, count_domains, first_of_domains, highest_versions
    from onnx_lint.ir.operators.mismatch import (
        GivenOperands,
        alternatives_without,
        attributes_for_runtime,
        attributes_with,
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
        version_cause,
        version_hint,
    )
    from onnx_lint.ir.operators.named_element_types import named_element_types
    from onnx_lint.ir.operators.operators import AlikeNodes, Operator, OperatorStatus
    from onnx_lint.ir.places.edits import Assign, DataCopy, Delete, Edit, Fix, Insert, Move, Shorten
    from onnx_lint.ir.places.long_numbers import LongNumber, long_numbers
    from onnx_lint.ir.sharding import ShardingSpec, node_device_configurations, sharding_specs
    from onnx_lint.ir.tensors import contents
    from onnx_lint.ir.tensors.data_folder import FileState
    from onnx_lint.ir.tensors.equal import digest_of, find_equal_initializers
    from onnx_lint.ir.tensors.external import (
        IN_MEMORY_MARK,
        KNOWN_KEYS,
        RUNTIME_ADDRESS,
        ExternalData,
        goes_up,
        location_problem,
        spelled_plainly,
    )
    from onnx_lint.ir.tensors.numbers import (
        Constants,
        element_is,
        number_pieces,
        raw_numbers,
        small_constant,
    )
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.ir.tensors.strings import Occurrences, and_others
    from onnx_lint.model.newer_features import Feature, features_beyond, may_use_newer_features
    from onnx_lint.model.questions import *
    from onnx_lint.schema import message, serialized
    from onnx_lint.schema.reserved import FORMER_NAMES, is_reserved
    from onnx_lint.spec.domains import is_reverse_domain_name, shown_domain
    from onnx_lint.spec.element_types import (
        DEFAULT_LOCATION,
        ELEMENT_TYPES,
        EXTERNAL_LOCATION,
        FLOATING_TYPES,
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
    from onnx_lint.spec.products import ProductRelease, product_release, product_releases
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
    from onnx_lint.wording import counted

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


@functools.cache
def _homes() -> dict[str, str]:
    """Return the module of each name that is imported for types above; `python -m tools.catalogue` writes the file."""
    homes: dict[str, str] = json.loads(package_data.read(__name__, "names.json"))
    return homes


def __getattr__(name: str) -> Any:
    """Import one of the names that are imported for types above; one of them is a module."""
    home = _homes().get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name, None)
    globals()[name] = import_module(f"{home}.{name}") if found is None else found
    return globals()[name]
