# SPDX-License-Identifier: Apache-2.0
"""The messages of the specification that can be the root of a file."""

from __future__ import annotations

from typing import Final

FILE_MESSAGES: Final = (
    "ModelProto",
    "OperatorSetProto",
    "FunctionProto",
    "GraphProto",
    "NodeProto",
    "AttributeProto",
    "TensorProto",
    "SparseTensorProto",
    "ValueInfoProto",
    "TypeProto",
    "SequenceProto",
    "MapProto",
    "OptionalProto",
)
"""Models, operator sets, single parts of a model, and values."""
