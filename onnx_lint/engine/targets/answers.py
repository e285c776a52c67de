# SPDX-License-Identifier: Apache-2.0
"""Whether a release loads a model with one finding."""

from __future__ import annotations

from typing import Final

from onnx_lint.engine.targets.releases import TargetRelease
from onnx_lint.engine.targets.row_exceptions import RowExceptions
from onnx_lint.engine.targets.states import TargetAnswer
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import clauses

_TARGET_CHAPTER: Final = "target"
"""The chapter that declares the clauses about programs."""

_REMOVABLE_NODE_CLAUSE: Final = "PRD-6"
"""The clause about nodes that a program refuses unless it removes them."""

_FAILING_RUN_CLAUSE: Final = "PRD-7"
"""The clause about nodes that a program loads, and refuses at each run."""

_OPERAND_SHAPE_CLAUSE: Final = "NOD-8a"
"""The clause about the shapes of operands."""


def answer_to(release: TargetRelease, item: Diagnostic, exceptions: RowExceptions) -> TargetAnswer:
    """Return whether a release loads a model with a finding."""
    if item.cited.declared_by == _TARGET_CHAPTER:
        return _answer_to_own_finding(release, item)
    if release.refuses_since(item, exceptions):
        return TargetAnswer.REFUSES
    if release.proofs_of_acceptance(item, exceptions) or _is_compared_later(release, item):
        return TargetAnswer.LOADS
    # The keyword practice means that consumers refuse it, or differ. They differ about data files as well.
    is_about_files = clauses()[item.clause].chapter == "external-data"
    is_open = item.is_violation or item.keyword == "practice" or is_about_files
    return TargetAnswer.UNKNOWN if is_open else TargetAnswer.LOADS


def _answer_to_own_finding(release: TargetRelease, item: Diagnostic) -> TargetAnswer:
    """Return whether a release loads a model with a finding about a program, which may be another one."""
    data = release.data
    names = (release.program, None if data is None else f"{data.product}={data.version}")
    is_about_another = item.by_target.program is None or item.by_target.program not in names
    if is_about_another or item.clause == _FAILING_RUN_CLAUSE:
        return TargetAnswer.LOADS
    return TargetAnswer.UNKNOWN if item.clause == _REMOVABLE_NODE_CLAUSE else TargetAnswer.REFUSES


def _is_compared_later(release: TargetRelease, item: Diagnostic) -> bool:
    """Return whether the release does not check the shape of this operand yet.

    It is an input of one of the release's own operators, and only later releases check its shape.
    """
    domain, _, name = (item.operator or "").rpartition("::")
    index = item.at.index if item.at.field == "input" else None
    if index is None or item.clause != _OPERAND_SHAPE_CLAUSE:
        return False
    if release.data is None or domain not in release.data.own_domains:
        return False
    from onnx_lint.spec.operators import BUILT_IN
    from onnx_lint.spec.operators.runtime_releases import comes_later

    schema = BUILT_IN.find(domain, name, 1)  # the domains of programs have one version
    names = [each.name for each in schema.inputs] if schema is not None else []
    return comes_later(release.data.version, name, names[index] if index < len(names) else "")
