# SPDX-License-Identifier: Apache-2.0
"""The operators that operator-set documents declare: their names, without signatures.

A document is a snapshot of all operators of one version of its domain. The operators of versions without a document
partly follow from older and newer documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from onnx_lint.common.record import Record
from onnx_lint.spec.releases import normalized_domain


class DeclaredSet(Record):
    """The declarations of one operator-set document."""

    domain: str
    version: int
    operators: Mapping[str, int]
    """The version that introduced each operator; 1 for a function, because a document does not date functions."""


def declared_set(document: Any) -> DeclaredSet:
    """Return the declarations of an OperatorSetProto."""
    operators = {operator.op_type: int(operator.since_version) for operator in document.operator}
    operators |= {function.name: 1 for function in document.functions}
    return DeclaredSet(normalized_domain(document.domain), int(document.opset_version), operators)


class DeclaredSets:
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
        """Yield every document."""
        return (found for sets in self._sets.values() for found in sets)

    @property
    def domains(self) -> Collection[str]:
        """The domains that have a document."""
        return self._sets.keys()

    def newest(self, domain: str) -> int | None:
        """Return the newest version of the domain that has a document; None if there is none."""
        return max((found.version for found in self._sets.get(domain, ())), default=None)

    def has_version(self, domain: str, version: int) -> bool:
        """Return whether a document declares that version of the domain."""
        return any(found.version == version for found in self._sets.get(domain, ()))

    def since(self, domain: str) -> Mapping[str, int]:
        """Return the operators of the domain in all its documents, and the version that introduced each."""
        return self._since.get(domain, {})

    def has(self, domain: str, op_type: str, version: int) -> bool | None:
        """Return whether a version of the domain has the operator; None if the documents do not say.

        Several documents of one version are combined. A version without a document has the operator if a newer document
        says that it was introduced by then, or if the next older one has it: it may have been removed since. Versions
        newer than all documents are unknown.
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
