# SPDX-License-Identifier: Apache-2.0
"""What a signature forbids about the types of a node's operands."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.types.type_string import ValueType


class Disallowed(Record):
    """The type of an input is not among those that the operator allows there."""

    index: int


class Differing(Record):
    """Two inputs whose types the signature binds together have different ones."""

    index: int
    other: int
    """The first input that gives the type."""


class DisallowedOutput(Record):
    """The type that follows for an output is not among those that the operator allows there."""

    index: int
    type: ValueType


class Contradicted(Record):
    """The type of an input is not the one that an attribute of the node states or supposes."""

    index: int
    attribute: str
    allowed: frozenset[ValueType]


Problem = Disallowed | Differing | DisallowedOutput | Contradicted
