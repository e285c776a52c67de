# SPDX-License-Identifier: Apache-2.0
"""The counts of findings over the files of a run."""

from __future__ import annotations

from collections import Counter

from onnx_lint.report.file_report import FileReport
from onnx_lint.spec.clauses import Severity


class FindingTotals:
    """The counts of findings over the files of a run."""

    def __init__(self) -> None:
        self.by_severity: Counter[Severity] = Counter()
        """The number of listed findings. Those of one cause count once."""
        self.by_rule: Counter[tuple[str, Severity]] = Counter()
        """The number of findings by rule and severity. One of several rules counts once for each of them."""
        self.files_by_rule: Counter[tuple[str, Severity]] = Counter()
        """The number of files that have findings of a rule and severity."""
        self.files_by_worst: Counter[Severity | None] = Counter()
        """The number of files by their worst finding; None for files without findings."""
        self.suppressed: Counter[str] = Counter()
        """The number of suppressed findings by their suppressor."""
        self.fixable: Counter[bool] = Counter()
        """The number of findings with a fix, by whether it is safe."""
        self.fixed = 0
        """The number of findings that the run has fixed."""

    def add(self, file: FileReport) -> None:
        """Count the findings in a file."""
        if file.repair is not None:
            self.fixed += file.repair.count
        if file.suppressed:
            self.suppressed.update(item.suppressor for item in file.suppressed)
        if not file.diagnostics:  # as most files
            self.files_by_worst[None] += 1
            return
        kinds = Counter((item.rule, item.severity) for item in file.diagnostics)
        self.files_by_worst[max(severity for _, severity in kinds)] += 1
        self.by_severity.update(item.severity for item in file.diagnostics)
        kinds.update((rule, item.severity) for item in file.diagnostics for rule in item.other_rules)
        self.by_rule.update(kinds)
        self.files_by_rule.update(kinds.keys())
        self.fixable.update(fixes_of(file))


def fixes_of(file: FileReport) -> Counter[bool]:
    """Return how many findings `onnx-lint fix` can fix, by whether that is safe.

    Findings of one cause count once, as everywhere in a summary, and as safe if any of them has a safe fix.
    """
    found: Counter[bool] = Counter()
    for item in file.diagnostics:
        fixes = (each.fix for each in item.folding.members or (item,))
        are_safe = [fix.is_safe for fix in fixes if fix is not None and not fix.is_by_hand]
        if are_safe:
            found[any(are_safe)] += 1
    return found
