# SPDX-License-Identifier: Apache-2.0
"""The operators that an operator-set document declares: their names, without signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnx_lint.common.record import Record
from onnx_lint.spec.releases import normalized_domain


class DeclaredSet(Record):
    """The declarations of an operator-set document: a snapshot of all operators of one version of its domain."""

    domain: str
    version: int
    operators: Mapping[str, int]
    """The version that introduced each operator; 1 for a function, because a document does not date functions."""

    def has(self, op_type: str, version: int) -> bool | None:
        """Return whether a version of the domain has the operator; None for a version newer than the document.

        An older version has it if the document says that it was introduced by then.
        """
        if version == self.version:
            return op_type in self.operators
        return self.operators.get(op_type, version + 1) <= version if version < self.version else None


def declared_set(document: Any) -> DeclaredSet:
    """Return the declarations of an OperatorSetProto."""
    operators = {operator.op_type: int(operator.since_version) for operator in document.operator}
    operators |= {function.name: 1 for function in document.functions}
    return DeclaredSet(normalized_domain(document.domain), int(document.opset_version), operators)
