# SPDX-License-Identifier: Apache-2.0
"""The number of findings of each rule, and of the files that have them."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.report import Report
from onnx_lint.reporters.escape import visible
from onnx_lint.spec.clauses import Severity


def statistics(report: Report) -> list[tuple[str, Severity, int]]:
    """Return rule, severity and count, the most frequent first."""
    rows = [(rule, severity, count) for (rule, severity), count in report.totals.findings.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], -row[1]))


def statistics_lines(report: Report) -> Iterator[str]:
    """Yield the statistics as a table with a heading; nothing if there are no findings."""
    files = report.totals.files_with
    rows = [("findings", "files", "severity", "rule")]
    for rule, severity, count in statistics(report):
        rows.append((f"{count:,}", f"{files[rule, severity]:,}", severity.label, visible(rule)))
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for findings, among, label, name in rows:
            yield f"{findings:>{widths[0]}}  {among:>{widths[1]}}  {label:<{widths[2]}}  {name}"
