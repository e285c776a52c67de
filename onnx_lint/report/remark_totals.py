# SPDX-License-Identifier: Apache-2.0
"""The totals of remarks on files: the answers of target programs, and what was not verified. Most files have none."""

from __future__ import annotations

from collections import Counter
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.report.file_report import FileReport, TargetVerdict
from onnx_lint.report.not_verified import Unverified, unverified_of

_MOST_NAMED: Final = 3
"""The most files to name for one answer of a program."""
_MOST_SENTENCES: Final = 100
"""The most different sentences about what was not verified to keep: files choose the names in them."""


class TargetTotals:
    """The answers of one program that must load the models of a run."""

    def __init__(self, verdict: TargetVerdict) -> None:
        self.verb = verdict.verb
        self.remark = verdict.remark
        self.basis = ""
        """What reports append to the answer that it loads a model, see `TargetVerdict`."""
        self.answers: Counter[bool | None] = Counter()
        """The number of files by whether it loads them; None if that is unknown."""
        self.refusing: list[str] = []
        """The first files that it refuses."""
        self.unproven: Counter[str] = Counter()
        """The number of files without an answer, by reason."""
        self.unproven_paths: list[str] = []
        """The first of these files."""

    def add(self, path: str, verdict: TargetVerdict) -> None:
        """Count the answer for a file."""
        self.basis = self.basis or verdict.basis
        self.answers[verdict.loads] += 1
        if verdict.loads is None:
            said = verdict.said.removesuffix(verdict.remark)
            if said in self.unproven or len(self.unproven) < _MOST_SENTENCES:
                self.unproven[said] += 1
        if verdict.loads or self.answers[verdict.loads] > _MOST_NAMED:
            return
        if verdict.loads is None:
            self.unproven_paths.append(path)
        else:
            self.refusing.append(path)


class UnverifiedTotal(Record):
    """Something that was not verified in some files."""

    numbers: tuple[int, ...]
    """The sums of the numbers in the sentence, see `Unverified`."""
    files: int
    path: str
    """The first of the files."""


class RemarkTotals:
    """The totals of remarks on files."""

    def __init__(self) -> None:
        self.targets: dict[str, TargetTotals] = {}
        """The answers of each program that must load the models."""
        self.unverified: dict[tuple[int, str], UnverifiedTotal] = {}
        """What was not verified, by the count of its numbers and its words."""
        self.has_more_unverified = False
        """True if there were too many different sentences to keep."""

    def add(self, file: FileReport) -> None:
        """Count the remarks on a file."""
        for verdict in file.targets:
            if verdict.program not in self.targets:
                self.targets[verdict.program] = TargetTotals(verdict)
            self.targets[verdict.program].add(file.path, verdict)
        for each in unverified_of(file):
            self._add_unverified(each, file.path)

    def _add_unverified(self, each: Unverified, path: str) -> None:
        key = len(each.numbers), each.rest
        before = self.unverified.get(key)
        if before is not None:
            sums = tuple(map(sum, zip(before.numbers, each.numbers, strict=True)))
            self.unverified[key] = replace(before, numbers=sums, files=before.files + 1)
        elif len(self.unverified) < _MOST_SENTENCES:
            self.unverified[key] = UnverifiedTotal(each.numbers, 1, path)
        else:
            self.has_more_unverified = True
