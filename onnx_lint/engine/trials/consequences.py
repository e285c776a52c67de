# SPDX-License-Identifier: Apache-2.0
"""Findings that the change reported for another finding fixes as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onnx_lint.common.record import replace
from onnx_lint.engine.trials.compared_findings import FindingKey
from onnx_lint.report.findings import Diagnostic, Folding


class Consequences:
    """The findings that the change reported for another finding, their origin, fixes as well.

    For example, if the fix of A also fixes B and C, all three get the cause of A, and are folded into one diagnostic.
    """

    def __init__(self) -> None:
        self._origins: dict[FindingKey, FindingKey] = {}

    def __contains__(self, finding: FindingKey) -> bool:
        return finding in self._origins

    def add(self, fixed: Iterable[FindingKey], origin: FindingKey) -> None:
        """Record the findings that the change for `origin` fixes. A finding keeps its first origin."""
        for each in fixed:
            self._origins.setdefault(each, origin)

    def with_causes(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the diagnostics. The consequences, and the group of their origin, get the cause of the origin.

        Diagnostics of another severity than their origin keep their causes.
        """
        items = list(diagnostics)
        if not self._origins:
            return items
        by_key = {_key_of(item): item for item in items}
        cause_by_consequence: dict[FindingKey, str] = {}
        cause_by_group: dict[object, str] = {}
        for consequence, origin in self._origins.items():
            item, first = by_key.get(consequence), by_key.get(origin)
            if item is None or first is None or item.severity != first.severity:
                continue
            known = first.folding.cause
            new_cause = f"{first.rule} {first.clause} {known or first.place}"
            cause = known if known and first.folding.is_shared else new_cause
            if item.folding.cause != cause:
                cause_by_consequence[consequence] = cause
                cause_by_group.setdefault(_group_of(first), new_cause)
        if not cause_by_consequence:
            return items
        return [_with_cause(item, cause_by_consequence, cause_by_group) for item in items]


def _key_of(item: Diagnostic) -> FindingKey:
    return FindingKey(item.rule, item.clause, item.at.key)


def _group_of(item: Diagnostic) -> object:
    """Return the key of the group that a diagnostic is in: those of one rule, clause and severity with one cause."""
    return item.rule, item.clause, item.severity, item.folding.cause or _key_of(item)


def _with_cause(
    item: Diagnostic, cause_by_consequence: Mapping[FindingKey, str], cause_by_group: Mapping[object, str]
) -> Diagnostic:
    """Return a diagnostic with its new cause, if it has one. A shared cause is replaced only in a consequence."""
    cause = cause_by_consequence.get(_key_of(item))
    if cause is not None:
        return replace(item, folding=Folding(cause, is_shared=True, is_consequence=True))
    cause = None if item.folding.is_shared else cause_by_group.get(_group_of(item))
    return item if cause is None else replace(item, folding=Folding(cause, is_shared=True, is_consequence=False))
