# SPDX-License-Identifier: Apache-2.0
"""The verdict on a model for each program of `--target`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.answers import answer_to
from onnx_lint.engine.targets.neighbours import joined_state
from onnx_lint.engine.targets.releases import TargetRelease, basis_of, target_releases
from onnx_lint.engine.targets.row_exceptions import RowExceptions
from onnx_lint.engine.targets.states import TargetAnswer, TargetState, not_run, shortened
from onnx_lint.engine.targets.unjudged_by_checkers import unjudged_by_full_check, unjudged_by_onnx
from onnx_lint.engine.targets.unjudged_nodes import unjudged_nodes
from onnx_lint.model import Model
from onnx_lint.report.file_report import TargetVerdict
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.target import CHECKER, FULL_CHECK, title
from onnx_lint.wording import counted, listed

_PRODUCT_CLAUSE: Final = "PRD-1"
"""The clause whose rule judges the operators of a model by the data of programs."""

_FULL_CHECK_SUFFIX: Final = f"; the target {FULL_CHECK} is about full_check=True"
"""The end of the line about `onnx.checker`: its verdict is not about the checks that `full_check` adds."""


def program_verdicts(
    exceptions: RowExceptions,
    settings: Settings,
    found: Sequence[Diagnostic],
    *,
    rules: Collection[str],
    not_checked: Sequence[str],
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each program.

    `found`: all findings. `rules`: those that ran. `not_checked`: what was not checked, in words.
    """
    (judge,) = clauses()[_PRODUCT_CLAUSE].rules
    for program in settings.target.programs:
        releases = target_releases(program)
        is_judged = releases[0].is_checker or judge in rules
        reasons = [*not_checked] if is_judged else [not_run(judge), *not_checked]
        states = [_state_of_release(each, found, reasons, exceptions) for each in releases]
        yield joined_state(states, releases).verdict(
            title(program),
            settings,
            verb=releases[0].verb,
            basis=basis_of(releases),
            suffix=_FULL_CHECK_SUFFIX if program == CHECKER else "",
        )


def _state_of_release(
    release: TargetRelease, found: Sequence[Diagnostic], not_checked: Sequence[str], exceptions: RowExceptions
) -> TargetState:
    """Return whether a release loads the model. `not_checked`: what was not checked, in words."""
    answers = [answer_to(release, item, exceptions) for item in found]
    if refusing := answers.count(TargetAnswer.REFUSES):
        return TargetState(TargetAnswer.REFUSES, f"refuses it: {counted(refusing, 'cause')}")
    unproven = [item for item, answer in zip(found, answers, strict=True) if answer is TargetAnswer.UNKNOWN]
    others = [item for item in unproven if not item.is_violation]
    violations = len(unproven) - len(others)
    unjudged = [*not_checked, *_unjudged(release, exceptions.model)]
    if others:
        unjudged.append(_treated_differently(others))
    reasons = [f"{counted(violations, 'violation')} of ONNX"] if violations else []
    if unjudged:
        reasons.append(f"not judged: {'; '.join(shortened(unjudged))}")
    if reasons:
        reason = "; ".join(reasons)
        words = f"not proven to {release.verb} it: {reason}" if violations else reason
        return TargetState(TargetAnswer.UNKNOWN, words=words, reason=reason)
    verb = "accepts it" if release.is_checker else "loads"
    return TargetState(TargetAnswer.LOADS, f"{verb}{basis_of([release])}")


def _treated_differently(found: Sequence[Diagnostic]) -> str:
    """Return the phrase for findings whose effect on the program is unknown, with their clauses."""
    names = shortened(sorted({item.clause for item in found}))
    return f"{counted(len(found), 'finding')} that programs treat differently ({listed(names)})"


def _unjudged(release: TargetRelease, model: Model) -> Iterator[str]:
    """Yield the parts of a model for which a release may refuse it, as phrases."""
    if not model.loaded:
        return
    if release.data is None:
        yield from unjudged_by_onnx(model)
        if release.program == FULL_CHECK:
            yield from unjudged_by_full_check(model)
        return
    yield from unjudged_nodes(model, release.data)
    if release.data.has_kernels:
        from onnx_lint.engine.targets.unjudged_by_onnxruntime import unjudged_by_onnxruntime

        yield from unjudged_by_onnxruntime(model, release.data)
    else:
        from onnx_lint.engine.targets.unjudged_conversions import unjudged_by_converters

        yield from unjudged_by_converters(model, release.data)
