# SPDX-License-Identifier: Apache-2.0
"""The sentence with the verdict on one file, in reports for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from onnx_lint.common.record import Record
from onnx_lint.report.finding_counts import findings_in_words, suppressed_in_words
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport
    from onnx_lint.report.totals import Report


class FileOutcome(Record):
    """What the last line about a file says, without its facts."""

    kind: Literal["conforms", "not judged", "findings"]
    verdict: str
    """The words that a terminal colours."""
    details: str = ""
    """The words after them."""

    @property
    def words(self) -> str:
        """All words: `conforms to ONNX 1.23; 98 rules checked`."""
        return self.verdict + self.details


def outcome_of(file: FileReport, report: Report) -> FileOutcome:
    """Return the outcome of a file that was read. Only rules that had something to check are counted."""
    if has_no_rules(file, report) and not file.suppressed:
        return FileOutcome("not judged", "not judged: every rule is ignored")
    if file.conformity.conforms and not file.diagnostics:
        standard = report.standard(file.edition, file.variant)
        return FileOutcome("conforms", "conforms", f" to {standard}; {counted(file.judged_by, 'rule')} checked")
    return FileOutcome("findings", findings_line(file, report))


def has_no_rules(file: FileReport, report: Report) -> bool:
    """Return whether every rule is ignored for this file, so that there is no verdict.

    False if the file has findings nevertheless, such as that it holds no model, or if it could not be read.
    """
    rules = report.rules if file.rules is None else file.rules
    return not (rules or file.diagnostics or file.unreadable)


def findings_line(file: FileReport, report: Report) -> str:
    """Return the numbers of findings in a file: under the clauses of ONNX, under those of each plugin, and suppressed.

    `2 errors; house_rules.py: 1 warning; 3 suppressed by the baseline`. The verdict comes first if the numbers do not
    show it: the file conforms, or each violation is suppressed or has a lower severity.
    """
    counts = Counter((item.counted_under, item.severity) for item in file.diagnostics)
    parts = [_verdict_before_numbers(file, report, counts), findings_in_words(counts)]
    parts += suppressed_in_words(Counter(item.suppressor for item in file.suppressed))
    parts += file.gaps
    if file.internal_errors:
        parts.append(f"not judged in full: {counted(len(file.internal_errors), 'internal error')}")
    return "; ".join(filter(None, parts))


def _verdict_before_numbers(file: FileReport, report: Report, counts: Mapping[tuple[str | None, Severity], int]) -> str:
    """Return the verdict on a file; empty if the numbers of its findings (`counts`) show it."""
    conforms = file.conformity.conforms
    standard = report.standard(file.edition, file.variant)
    if conforms and counts:
        return f"conforms to {standard}"
    if not any(plugin is None for plugin, _ in counts):
        but = f" but does not conform to {standard}" if conforms is False else ""
        return f"no {'new ' if file.suppressed else ''}findings{but}"
    if conforms is False and (None, Severity.ERROR) not in counts:
        return f"does not conform to {standard}"
    return ""
