# SPDX-License-Identifier: Apache-2.0
"""The verdict for each program of `--target`: whether it takes the model, as far as its data say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from onnx_lint.engine.settings import Settings
from onnx_lint.report import Diagnostic, TargetVerdict
from onnx_lint.spec.clauses import Severity, clauses
from onnx_lint.spec.target import CHECKER, CHECKERS, FULL_CHECK, accepts, refuses, title
from onnx_lint.wording import counted

_OF_FULL_CHECK: Final = f"; the target {FULL_CHECK} is about full_check=True"
"""The end of the line about `onnx.checker`, for the first release that knows both."""


def target_verdicts(
    found: Sequence[Diagnostic],
    not_verified: Sequence[tuple[str, int]],
    settings: Settings,
    rules: Collection[str],
    gaps: Sequence[str],
) -> Iterator[TargetVerdict]:
    """Yield the verdict for each program.

    `found`: all findings in the file. `rules`: those that checked it. `gaps`: why an error may not have been found.
    """
    (judge,) = clauses()["PRD-1"].rules
    for program in settings.target.programs:
        verb = "accept" if program in CHECKERS else "load"
        refusing = [item for item in found if _is_refused(item, program)]
        doubtful = [item for item in found if item not in refusing and not _is_accepted(item, program)]
        if refusing:
            loads, said = False, f"refuses it: {counted(len(refusing), 'cause')}"
        elif doubtful:
            loads, said = None, f"not proven to {verb} it: {counted(len(doubtful), 'violation')} of ONNX"
        elif program not in CHECKERS and judge not in rules:
            loads, said = None, f"not judged: the rule {judge} did not run"
        elif gaps:
            loads, said = None, f"not judged: {'; '.join(gaps)}"
        else:
            loads, said = True, f"{verb}s{' it' if program in CHECKERS else ''}, as far as its data say"
        left = "".join(f"; {counted(nodes, 'node')} of {domain} not judged" for domain, nodes in not_verified)
        more = _OF_FULL_CHECK if program == CHECKER else ""
        yield TargetVerdict(title(program), loads, said + left + more)


def _is_refused(item: Diagnostic, program: str) -> bool:
    if item.declared_by == "target":
        return title(program) in item.message and item.severity is Severity.ERROR
    return refuses(program, dict(item.refused_by))


def _is_accepted(item: Diagnostic, program: str) -> bool:
    return not item.is_violation or accepts(program, dict(item.accepted_by))
