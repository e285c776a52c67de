# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model for each version of `--target`: of the IR, and of operator sets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.states import TargetAnswer, TargetState, not_run, shortened, unknown_for
from onnx_lint.model import Model, OperatorStatus
from onnx_lint.report.file_report import TargetVerdict
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.releases import DOMAIN_ALIAS, normalized_domain
from onnx_lint.wording import counted

_IR_VERSION_CLAUSE: Final = "VER-3a"
"""The clause about what the IR version of the target lacks."""

_OPERATOR_SET_CLAUSE: Final = "VER-12a"
"""The clause about what the operator set version of the target lacks."""


def version_verdicts(
    model: Model, settings: Settings, found: Sequence[Diagnostic], *, rules: Collection[str], unjudged: Sequence[str]
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each version of the target.

    `rules`: those that ran. `unjudged`: the parts that no rule judged, in words.
    """
    for version in _versions(settings):
        causes = sum(item.clause == version.clause and _is_about(item, version.domain) for item in found)
        reasons = [*unjudged, *_not_compared(model, version.domain)]
        (judge,) = clauses()[version.clause].rules
        if model.loaded and judge not in rules:
            reasons.insert(0, not_run(judge))
        yield _state_of_version(version, causes, reasons).verdict(version.name, settings, verb="support")


class _TargetVersion(Record):
    """A version that the target names."""

    name: str
    clause: str
    """The clause about what the version lacks."""
    parts: str
    """What a model uses of it, in words."""
    domain: str | None = None
    """The domain of the operator set; None for the IR version."""


def _versions(settings: Settings) -> Iterator[_TargetVersion]:
    """Yield the versions of the target."""
    target = settings.target
    if target.ir_version is not None:
        yield _TargetVersion(f"IR version {target.ir_version}", _IR_VERSION_CLAUSE, "fields and types")
    for domain, version in target.opset_versions.items():
        name = f"{visible(domain or DOMAIN_ALIAS)} {version}"
        yield _TargetVersion(name, _OPERATOR_SET_CLAUSE, "operators", domain=domain)


def _is_about(item: Diagnostic, domain: str | None) -> bool:
    """Return whether a finding of the clause about versions is about this domain; None for the IR version."""
    if domain is None:
        return True
    # A finding about a node has its operator, and one about an import has the domain as subject.
    name = item.subject if item.operator is None else item.operator.rpartition("::")[0]
    return normalized_domain(name or "") == domain


def _not_compared(model: Model, domain: str | None) -> Iterator[str]:
    """Yield the parts without a version to compare: a model that was not read, and nodes without a known signature."""
    if not model.loaded:
        yield "the model could not be read"
    if domain is None or not model.loaded:
        return
    known = (OperatorStatus.KNOWN, OperatorStatus.FUNCTION)
    groups = [each for each in model.operators.alike_nodes if normalized_domain(each.operator.domain) == domain]
    if count := sum(each.count for each in groups if each.operator.status not in known):
        yield f"{counted(count, 'node')} with an unknown operator"


def _state_of_version(version: _TargetVersion, causes: int, unjudged: Sequence[str]) -> TargetState:
    """Return whether a version supports a model, by the number of findings against it, and by what was not judged."""
    if causes:
        return TargetState(TargetAnswer.REFUSES, f"does not support the model: {counted(causes, 'cause')}")
    if unjudged:
        return unknown_for(f"not judged: {'; '.join(shortened(unjudged))}")
    return TargetState(TargetAnswer.LOADS, f"supports all {version.parts} that the model uses")
