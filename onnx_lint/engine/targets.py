# SPDX-License-Identifier: Apache-2.0
"""The verdict for each program of `--target`: whether it loads the model, as far as its data say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from onnx_lint.engine.settings import Settings
from onnx_lint.report.file_report import TargetVerdict
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity, clauses
from onnx_lint.spec.target import CHECKER, accepts, refuses, title
from onnx_lint.wording import counted


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
        refusing = [item for item in found if _is_refused(item, program)]
        doubtful = [item for item in found if item not in refusing and not _is_accepted(item, program)]
        if refusing:
            loads, said = False, f"refuses it: {counted(len(refusing), 'cause')}"
        elif doubtful:
            loads, said = None, f"not proven to load it: {counted(len(doubtful), 'violation')} of ONNX"
        elif program != CHECKER and judge not in rules:
            loads, said = None, f"not judged: the rule {judge} did not run"
        elif gaps:
            loads, said = None, f"not judged: {'; '.join(gaps)}"
        else:
            loads, said = True, "loads, as far as its data say"
        left = "".join(f"; {counted(nodes, 'node')} of {domain} not judged" for domain, nodes in not_verified)
        yield TargetVerdict(title(program), loads, said + left)


def _is_refused(item: Diagnostic, program: str) -> bool:
    if item.declared_by == "target":
        return item.program == program and item.severity is Severity.ERROR
    return refuses(program, dict(item.refused_by))


def _is_accepted(item: Diagnostic, program: str) -> bool:
    return not item.is_violation or accepts(program, dict(item.accepted_by))
