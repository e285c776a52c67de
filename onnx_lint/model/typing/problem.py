# SPDX-License-Identifier: Apache-2.0
"""What a signature forbids about the types of a node's operands."""

from __future__ import annotations

from dataclasses import dataclass

from onnx_lint.model.typing.value_type import ValueType


@dataclass(frozen=True, slots=True)
class Disallowed:
    """The type of an input is not among those that the operator allows there."""

    index: int


@dataclass(frozen=True, slots=True)
class Differing:
    """Two inputs whose types the signature binds together have different ones."""

    index: int
    other: int
    """The first input that gives the type."""


@dataclass(frozen=True, slots=True)
class DisallowedOutput:
    """The type that follows for an output is not among those that the operator allows there."""

    index: int
    type: ValueType


Problem = Disallowed | Differing | DisallowedOutput
