# SPDX-License-Identifier: Apache-2.0
"""Counts over the files of a run: the answers of target programs, and what was not verified."""

from __future__ import annotations

from collections import Counter
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.report.file_report import MAX_NAMED, FileReport, TargetVerdict
from onnx_lint.report.not_verified import Unverified, unverified_parts

_MAX_SENTENCES: Final = 100
"""The most different sentences that are kept: a file chooses the names in them, so there may be any number."""


class TargetTotals:
    """The answers of one program that must load the models of a run."""

    def __init__(self, verdict: TargetVerdict) -> None:
        self.verb = verdict.verb
        self.suffix = verdict.suffix
        self.basis = ""
        """The limits of positive answers, see `TargetVerdict`."""
        self.answers: Counter[bool | None] = Counter()
        """The number of files by whether the program loads them; None if that is unknown."""
        self.refusing: list[str] = []
        """The paths of the first files that the program refuses."""
        self.unproven: Counter[str] = Counter()
        """The number of files without an answer, by reason."""
        self.unproven_paths: list[str] = []
        """The paths of the first files without an answer."""

    def add(self, path: str, verdict: TargetVerdict) -> None:
        """Count the answer for a file."""
        self.basis = self.basis or verdict.basis
        self.answers[verdict.loads] += 1
        is_kept = verdict.reason in self.unproven or len(self.unproven) < _MAX_SENTENCES
        if verdict.loads is None and is_kept:
            self.unproven[verdict.reason] += 1
        if verdict.loads or self.answers[verdict.loads] > MAX_NAMED:
            return
        if verdict.loads is None:
            self.unproven_paths.append(path)
        else:
            self.refusing.append(path)


class UnverifiedTotal(Record):
    """Something that was not verified in some files."""

    unverified: Unverified
    """The sentence, with the sums of the numbers of all these files."""
    files: int
    path: str
    """The path of the first of these files."""


class RemarkTotals:
    """Counts of the remarks on files, apart from their verdicts."""

    def __init__(self) -> None:
        self.targets: dict[str, TargetTotals] = {}
        """The answers of each program that must load the models."""
        self.unverified: dict[tuple[str, bool, bool], UnverifiedTotal] = {}
        """What was not verified, by `Unverified.key`."""
        self.has_more_unverified = False
        """True if there were too many different sentences to keep."""

    def add(self, file: FileReport) -> None:
        """Count the answers for a file, and what was not verified in it."""
        for verdict in file.targets:
            if verdict.program not in self.targets:
                self.targets[verdict.program] = TargetTotals(verdict)
            self.targets[verdict.program].add(file.path, verdict)
        for each in unverified_parts(file):
            self._add_unverified(each, file.path)

    def _add_unverified(self, each: Unverified, path: str) -> None:
        before = self.unverified.get(each.key)
        if before is not None:
            total = UnverifiedTotal(before.unverified.plus(each), before.files + 1, before.path)
            self.unverified[each.key] = total
        elif len(self.unverified) < _MAX_SENTENCES:
            self.unverified[each.key] = UnverifiedTotal(each, 1, path)
        else:
            self.has_more_unverified = True
