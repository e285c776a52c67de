# SPDX-License-Identifier: Apache-2.0
"""Violations of a signature by the types of a node's operands."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.types.type_string import ValueType


class Disallowed(Record):
    """The operator does not allow the type of an input."""

    index: int


class Differing(Record):
    """Two inputs whose types the signature binds together have different ones."""

    index: int
    other: int
    """The first input with the type."""


class DisallowedOutput(Record):
    """The operator does not allow the inferred type of an output."""

    index: int
    type: ValueType


class Contradicted(Record):
    """The type of an input is not the one that an attribute of the node states or implies."""

    index: int
    attribute: str
    allowed: frozenset[ValueType]
    fitting: int | None = None
    """Another number of the attribute, with which the types fit."""


TypeProblem = Disallowed | Differing | DisallowedOutput | Contradicted
