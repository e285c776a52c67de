# SPDX-License-Identifier: Apache-2.0
"""The counts of verdicts over the files of a run."""

from __future__ import annotations

from collections import Counter
from typing import Final

from onnx_lint.report.file_report import MAX_NAMED, NOT_CHECKED, NOT_JUDGED, FileReport
from onnx_lint.spec.clauses import Severity


class FileGroup:
    """The groups of files in the verdict on several files. Each file is in one.

    Texts, since creating an Enum takes 0.4 % of the instructions of a run with a small model.
    """

    CONFORMING: Final = "conforming"
    VIOLATING: Final = "violating"
    """Files that break a requirement, and have findings that are not suppressed."""
    NOTHING_NEW: Final = "nothing new"
    """Files with suppressed findings only. None of them breaks a requirement."""
    NOTHING_NEW_VIOLATING: Final = "nothing new, violating"
    """Files with suppressed findings only. At least one of them breaks a requirement."""
    UNDECIDED: Final = "undecided"
    """Files that were not checked in full, because of the settings or because something went wrong."""
    NOT_JUDGED: Final = NOT_JUDGED
    NOT_CHECKED: Final = NOT_CHECKED


class GroupTotals:
    """The counts over the files of one group."""

    def __init__(self) -> None:
        self.files = 0
        self.files_with_findings = 0
        self.findings: Counter[tuple[str | None, Severity]] = Counter()
        """The number of findings by plugin, None for ONNX, and severity."""

    def add(self, file: FileReport) -> None:
        """Count a file and its findings."""
        self.files += 1
        if file.diagnostics:
            self.files_with_findings += 1
            self.findings.update((item.counted_under, item.severity) for item in file.diagnostics)


class VerdictTotals:
    """The counts of verdicts over the files of a run."""

    def __init__(self) -> None:
        self.groups: dict[str, GroupTotals] = {}
        """The counts by `FileGroup`. Groups without files have no entry."""
        self.conformity: Counter[bool | None] = Counter()
        """The number of files by whether they conform; None if that is unknown."""
        self.first_reasons: dict[bool | None, str] = {}
        """The reason of the first file that does not conform (False), and of the first without a verdict (None)."""
        self.unreadable = 0
        self.not_judged = 0
        """Files without a verdict that were read, see `FileReport.why_not_judged`."""
        self.without_model = 0
        """The number of files that do not conform because no model could be read from them."""
        self.incomplete = 0
        """The number of files whose verdict lacks something that was not verified."""
        self.files_by_gap: Counter[str] = Counter()
        """The number of files for each of `FileReport.gaps`."""
        self.standards: set[tuple[str | None, str | None]] = set()
        """The edition and variant of each file, None for those of the report."""
        self.conforming_by_rules_of_run = 0
        """The number of conforming files without findings that were checked by the rules of the run."""
        self.violating_paths: list[str] = []
        """The first files of the group `FileGroup.NOTHING_NEW_VIOLATING`, of which a report lists no finding."""

    def add(self, file: FileReport) -> None:
        """Count the verdict on a file."""
        conformity = file.conformity
        self.conformity[conformity.conforms] += 1
        self.first_reasons.setdefault(conformity.conforms, conformity.reason)
        if conformity.conforms is False and file.not_judged is not None:
            self.without_model += 1
        if file.unreadable is not None:
            self.unreadable += 1
        if file.why_not_judged is not None:
            self.not_judged += 1
        if file.incomplete or file.has_shape_limit:
            self.incomplete += 1
        if file.gaps and file.failure is None:  # settings do not matter for a file that no rule judged
            self.files_by_gap.update(file.gaps)
        self._add_to_group(file, group_of(file, conforms=conformity.conforms))

    def _add_to_group(self, file: FileReport, group: str) -> None:
        if group not in self.groups:
            self.groups[group] = GroupTotals()
        self.groups[group].add(file)
        if group != FileGroup.NOT_CHECKED:
            self.standards.add((file.edition, file.variant))
        if group == FileGroup.CONFORMING and not file.diagnostics and file.rules is None:
            self.conforming_by_rules_of_run += 1
        if group == FileGroup.NOTHING_NEW_VIOLATING and len(self.violating_paths) < MAX_NAMED:
            self.violating_paths.append(file.path)


def group_of(file: FileReport, *, conforms: bool | None) -> str:
    """Return the group of a file. `conforms`: its verdict."""
    if file.failure is not None:
        return file.failure.state
    if not file.diagnostics and file.suppressed:
        return FileGroup.NOTHING_NEW if conforms is None else FileGroup.NOTHING_NEW_VIOLATING
    if not file.diagnostics and file.rules == ():
        return FileGroup.NOT_JUDGED
    if conforms is None:
        return FileGroup.UNDECIDED
    return FileGroup.CONFORMING if conforms else FileGroup.VIOLATING
