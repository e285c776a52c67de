# SPDX-License-Identifier: Apache-2.0
"""The `Model`: everything that rules ask of a file, in one object."""

from __future__ import annotations

from onnx_lint.ir.fault import Fault, FaultKind
from onnx_lint.ir.graph import (
    BEFORE_NODES,
    Definition,
    Function,
    Graph,
    GraphKind,
    Node,
)
from onnx_lint.ir.nesting import TooDeepError, TooManyPartsError
from onnx_lint.ir.parts import Attribute, Metadata, SparseTensor, Tensor, Type, ValueInfo
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.model.model import Model
from onnx_lint.schema import Proto

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
    "TooManyPartsError",
    "Type",
    "ValueInfo",
]
