# SPDX-License-Identifier: Apache-2.0
"""What is known of a release without data: what both of its neighbours do."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.common.record import replace
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.answers import answer_to
from onnx_lint.engine.targets.releases import TargetRelease, basis_of, target_releases
from onnx_lint.engine.targets.row_exceptions import RowExceptions
from onnx_lint.engine.targets.states import TargetAnswer, TargetState, unknown_for
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import listed


def joined_state(states: Sequence[TargetState], releases: Sequence[TargetRelease]) -> TargetState:
    """Return the state of the requested release.

    If only the releases before and after it have data, return their state if they agree, else that it is unknown.
    """
    if len(states) == 1:
        return states[0]
    versions = [release.data.version for release in releases if release.data is not None]
    answers = {state.answer for state in states}
    if answers == {TargetAnswer.LOADS}:
        return TargetState(TargetAnswer.LOADS, f"{listed(versions)} load it{basis_of(releases)}")
    if answers == {TargetAnswer.REFUSES}:
        return TargetState(TargetAnswer.REFUSES, f"{listed(versions)} refuse it")
    if len({state.words for state in states}) == 1:
        return states[0]
    return unknown_for("; ".join(f"{version} {state.words}" for version, state in zip(versions, states, strict=True)))


def with_errors_if_neighbours_refuse(
    found: Sequence[Diagnostic], exceptions: RowExceptions, settings: Settings
) -> list[Diagnostic]:
    """Return the findings, as errors those for which both neighbours of an unknown release refuse the model.

    A finding about one neighbour is a warning. If one neighbour refuses an operator and the other one a type, each of
    the two is a warning, and the release between them surely refuses the model: then both become errors.
    """
    raised: set[int] = set()
    for releases in map(target_releases, settings.target.programs):
        if len(releases) > 1:
            causes = _causes_of_all(releases, found, exceptions)
            if all(found[at].severity < Severity.ERROR for at in causes):
                raised |= causes
    return [
        replace(item, severity=Severity.ERROR) if at in raised and item.rule not in settings.severities else item
        for at, item in enumerate(found)
    ]


def _causes_of_all(
    releases: Sequence[TargetRelease], found: Sequence[Diagnostic], exceptions: RowExceptions
) -> set[int]:
    """Return the indices of the findings for which releases refuse the model; none unless each of them refuses it."""
    causes = set[int]()
    for release in releases:
        refused = {at for at, item in enumerate(found) if answer_to(release, item, exceptions) is TargetAnswer.REFUSES}
        if not refused:
            return set()
        causes |= refused
    return causes
