# SPDX-License-Identifier: Apache-2.0
"""The operators that operator-set documents declare: their names, and nothing of their signatures.

A document is a snapshot: it has all operators of one version of its domain. What the versions without a document have
follows in part from those before and behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from onnx_lint.common.record import Record
from onnx_lint.spec.releases import normalized_domain


class DeclaredSet(Record):
    """What one operator-set document declares."""

    domain: str
    version: int
    operators: Mapping[str, int]
    """For each operator the version that brought it; for a function 1, because a document does not date functions."""


def declared_set(document: Any) -> DeclaredSet:
    """What the OperatorSetProto declares."""
    operators = {operator.op_type: int(operator.since_version) for operator in document.operator}
    operators |= {function.name: 1 for function in document.functions}
    return DeclaredSet(normalized_domain(document.domain), int(document.opset_version), operators)


class Declarations:
    """The operator-set documents of a run, by domain."""

    def __init__(self, sets: Iterable[DeclaredSet] = ()) -> None:
        self._sets: dict[str, list[DeclaredSet]] = {}
        self._since: dict[str, dict[str, int]] = {}
        for found in sets:
            self._sets.setdefault(found.domain, []).append(found)
            first = self._since.setdefault(found.domain, {})
            for name, version in found.operators.items():
                first[name] = min(version, first.get(name, version))

    def __iter__(self) -> Iterator[DeclaredSet]:
        """Every document."""
        return (found for sets in self._sets.values() for found in sets)

    @property
    def domains(self) -> Collection[str]:
        """The domains that have a document."""
        return self._sets.keys()

    def newest(self, domain: str) -> int | None:
        """The newest version of the domain that has a document; None without any."""
        return max((found.version for found in self._sets.get(domain, ())), default=None)

    def has_version(self, domain: str, version: int) -> bool:
        """Whether a document declares that version of the domain."""
        return any(found.version == version for found in self._sets.get(domain, ()))

    def since(self, domain: str) -> Mapping[str, int]:
        """The operators of the domain in all its documents, and the version that brought each."""
        return self._since.get(domain, {})

    def has(self, domain: str, op_type: str, version: int) -> bool | None:
        """Whether a version of the domain has the operator; None where no document tells.

        Several documents of one version add up. Of a version without a document an operator is taken to be part where
        the next newer document says that it was there by then, or the next older one has it: it may have gone since.
        Of a version that is newer than all documents nothing is known.
        """
        sets = self._sets.get(domain, ())
        exact = [found for found in sets if found.version == version]
        if exact:
            return any(op_type in found.operators for found in exact)
        newer = [found for found in sets if found.version > version]
        if not newer:
            return None
        if any(found.operators.get(op_type, version + 1) <= version for found in newer):
            return True
        older = max((found.version for found in sets if found.version < version), default=None)
        return any(op_type in found.operators for found in sets if found.version == older)
