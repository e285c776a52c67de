# SPDX-License-Identifier: Apache-2.0
"""The types of values: what they are, how they flow through a model, and where they are at odds."""

from __future__ import annotations

from onnx_lint.model.typing.conflict import (
    CallSite,
    DeclarationConflict,
    OperandConflict,
    SubgraphConflict,
    SubgraphRole,
    TypeFlow,
)
from onnx_lint.model.typing.flow import follow_types
from onnx_lint.model.typing.output_types import OUTPUT_TYPES
from onnx_lint.model.typing.typed_operator import Differing, Disallowed, DisallowedOutput, allowed_types
from onnx_lint.model.typing.value_type import ABSENT, ValueType, describe_types, from_proto, is_optional

__all__ = [
    "ABSENT",
    "OUTPUT_TYPES",
    "CallSite",
    "DeclarationConflict",
    "Differing",
    "Disallowed",
    "DisallowedOutput",
    "OperandConflict",
    "SubgraphConflict",
    "SubgraphRole",
    "TypeFlow",
    "ValueType",
    "allowed_types",
    "describe_types",
    "follow_types",
    "from_proto",
    "is_optional",
]
