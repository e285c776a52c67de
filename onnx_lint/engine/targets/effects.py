# SPDX-License-Identifier: Apache-2.0
"""What each program of `--target` does with one finding, and the severity that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.releases import TargetRelease, target_releases
from onnx_lint.engine.targets.row_exceptions import RowExceptions
from onnx_lint.report.findings import ByTarget, Diagnostic
from onnx_lint.spec.clauses import Severity, clauses
from onnx_lint.spec.target import OWN_OPERATOR, title
from onnx_lint.wording import listed

_FILE_CHAPTERS: Final = ("file", "external-data")
"""The chapters of faults that may make a program read something else, or nothing."""


class _ReleaseAnswer(Record):
    """What one release or several releases do, in words."""

    of_one: str
    of_several: str


_REFUSES: Final = _ReleaseAnswer("refuses it", "refuse it")
_LOADS: Final = _ReleaseAnswer("loads with this fault", "load with this fault")
_UNKNOWN: Final = _ReleaseAnswer("", "")


class TargetEffect(Record):
    """What a program does with a violation of a clause."""

    program: str
    refused_since: str | None = None
    """The first release that is known to refuse it, if the program does."""
    proofs: tuple[str, ...] = ()
    """The releases that prove that it accepts it, if the program does."""
    words: str = ""
    """The same in words; empty if nothing is known."""

    @property
    def name(self) -> str:
        """The name of the program without its release."""
        return self.program.partition("=")[0]


def with_effects(item: Diagnostic, exceptions: RowExceptions, settings: Settings) -> Diagnostic:
    """Return a finding with what the programs of the target do with it, and the severity that follows."""
    effects = [_effect_of(program, item, exceptions) for program in settings.target.programs]
    severity = item.severity if item.rule in settings.severities else _severity(item, effects, settings)
    if severity is item.severity and not any(each.words for each in effects):
        return item
    accepted_by: dict[str, tuple[str, ...]] = {}
    for each in effects:
        if each.proofs and item.cited.case != OWN_OPERATOR:  # then the operands and attributes are not judged
            accepted_by[each.name] = tuple(dict.fromkeys((*accepted_by.get(each.name, ()), *each.proofs)))
    return replace(
        item,
        severity=severity,
        by_target=ByTarget(
            item.by_target.program,
            refused_by=tuple({each.name: each.refused_since for each in effects if each.refused_since}.items()),
            accepted_by=tuple(accepted_by.items()),
            answers=tuple((title(each.program), each.words) for each in effects if each.words),
        ),
    )


def _severity(item: Diagnostic, effects: Sequence[TargetEffect], settings: Settings) -> Severity:
    """Return the severity that follows from what the programs do: an error if one of them refuses the violation.

    At most a warning if all of them accept it, or if the gate is about refusals only and the clause about the model
    itself.
    """
    if any(each.refused_since is not None for each in effects):
        return Severity.ERROR
    if settings.target.is_onnx:
        return item.severity
    is_about_model = item.cited.declared_by is None and clauses()[item.clause].chapter not in _FILE_CHAPTERS
    is_harmless = settings.target_gate == "refused" and is_about_model
    if is_harmless or all(each.proofs for each in effects):
        return min(item.severity, Severity.WARNING)
    return item.severity


def _effect_of(program: str, item: Diagnostic, exceptions: RowExceptions) -> TargetEffect:
    """Return what a program does with a violation; without data on its release, what both neighbours do with it."""
    clause = clauses()[item.clause]
    if not clause.refused_by and not clause.accepted_by and item.cited.case != OWN_OPERATOR:
        return TargetEffect(program)
    releases = target_releases(program)
    refusals = [release.refuses_since(item, exceptions) for release in releases]
    proofs = [release.proofs_of_acceptance(item, exceptions) for release in releases]
    since = refusals[0] if all(refusals) else None
    accepted = tuple(dict.fromkeys(each for proof in proofs for each in proof)) if all(proofs) else ()
    if releases[0].is_checker:
        words = _checker_answer(since, accepted)
    elif item.cited.case == OWN_OPERATOR:
        words = _own_operator_answer(accepted)
    else:
        words = _release_answers(releases, refusals, proofs)
    return TargetEffect(program, since, accepted, words)


def _checker_answer(since: str | None, accepted: Sequence[str]) -> str:
    """Return what a checker of onnx does, such as `refuses it (onnx 1.23 tried)`; empty if nothing is known.

    It accepts the fault, not the model: that may have another one.
    """
    if since is not None:
        return f"refuses it (onnx {since} tried)"
    return f"accepts this fault (onnx {' and '.join(accepted)} tried)" if accepted else ""


def _own_operator_answer(releases: Sequence[str]) -> str:
    """Return which releases have an operator of ONNX Runtime; empty if not all of them have it."""
    if not releases:
        return ""
    return "has this operator" if len(releases) == 1 else f"{listed(releases)} have this operator"


def _release_answers(
    releases: Sequence[TargetRelease], refusals: Sequence[str | None], proofs: Sequence[Sequence[str]]
) -> str:
    """Return what the releases do; empty if nothing is known.

    `loads with this fault` for one release, `1.17.3 and 1.20.1 load with this fault` for two that agree, otherwise one
    answer for each. A release may refuse the model for another fault.
    """
    pairs = zip(refusals, proofs, strict=True)
    answers = [_REFUSES if refusal else _LOADS if proof else _UNKNOWN for refusal, proof in pairs]
    versions = [release.data.version for release in releases if release.data is not None]
    if len(answers) == 1:
        return answers[0].of_one
    if len(set(answers)) == 1:
        return "" if answers[0] is _UNKNOWN else f"{listed(versions)} {answers[0].of_several}"
    known = [(version, answer) for version, answer in zip(versions, answers, strict=True) if answer is not _UNKNOWN]
    return "; ".join(f"{version} {answer.of_one}" for version, answer in known)
