# SPDX-License-Identifier: Apache-2.0
"""The `Model`: one object with everything that rules use. Plugins and rules of several chapters import from here.

It offers what docs/plugins.md promises and what rules of several chapters use. Any other name is imported from the
module that defines it. The names of `__all__` are imported at once. Each of those that are imported for types is
imported from its module at its first use, since most rules find nothing to check in most models and are not imported
either.
"""

from __future__ import annotations

import functools
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
    from onnx_lint.common.salted import salted_text
    from onnx_lint.inference.shapes.dims import are_sizes
    from onnx_lint.inference.shapes.fact import fact
    from onnx_lint.ir.columns.attribute_kinds import AttributeKind
    from onnx_lint.ir.in_words import describe_element_type
    from onnx_lint.ir.names.declaration_index import EarlierStatements
    from onnx_lint.ir.names.declarations import TENSOR_KINDS, Declaration, contradict
    from onnx_lint.ir.names.renaming import FreshNames, value_names
    from onnx_lint.ir.operators.function_calls import attribute_parameters
    from onnx_lint.ir.operators.operators import AlikeNodes, Operator, OperatorStatus
    from onnx_lint.ir.operators.proposals import Proposals, only, ready
    from onnx_lint.ir.operators.training_attributes import ModeAttribute, mode_attribute
    from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix, Insert, Move
    from onnx_lint.ir.tensors import contents
    from onnx_lint.ir.tensors.data_folder import FileState
    from onnx_lint.ir.tensors.external import ExternalData, spelled_plainly
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.model.declared_values import algorithms
    from onnx_lint.model.newer_features import Feature, features_beyond, may_use_newer_features
    from onnx_lint.model.questions import *
    from onnx_lint.schema import message, serialized
    from onnx_lint.spec.domains import is_reverse_domain_name, shown_domain
    from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION, MAP_KEYS, MAX_INT64, DataType
    from onnx_lint.spec.operators import ATTRIBUTE_TYPE_NAMES, OperatorSchema, OperatorSchemas
    from onnx_lint.spec.releases import (
        MAX_OPSET_VERSION,
        ML_DOMAIN,
        NEWEST_IR_VERSION,
        TRAINING_DOMAIN,
        Release,
        is_onnx_domain,
        normalized_domain,
        release_of_edition,
        release_of_opset,
    )

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
    homes: dict[str, str] = package_data.read_json(__name__, "names.json")
    return homes


def __getattr__(name: str) -> Any:
    """Import one of the names that are imported for types above; one of them is a module."""
    home = _homes().get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name, None)
    globals()[name] = import_module(f"{home}.{name}") if found is None else found
    return globals()[name]
